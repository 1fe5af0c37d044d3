package main

import (
	"context"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// whereOf reads --where. With isIncomplete, something of the run must be missing, too.
func whereOf(condition string, isIncomplete bool) (*where.Condition, error) {
	c, err := parseWhere(condition)
	if err != nil || !isIncomplete {
		return c, err
	}
	if strings.TrimSpace(condition) == "" {
		return parseWhere("state=incomplete")
	}
	return parseWhere("(" + condition + ") and state=incomplete")
}

// listing is a list of runs.
type listing struct {
	*env
	filter    history.RunFilter
	selectors []*query.Selector // of runs among those of the filter; none: all of them
	order     *facts.Order      // nil: that of the selectors
	format    string

	isReversed bool
	names      []string // of columns; nil for the usual ones
	columns    []table.Column[*facts.Line]
}

// list prints the runs that the filter selects. A run that cannot be read is skipped, with a warning.
func (l *listing) list(ctx context.Context) error {
	store, closeStore, err := l.history().open(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	l.filter.Brief = l.format != documentFormat
	runs, skipped, err := l.read(ctx, store)
	if err != nil {
		return err
	}
	if len(runs) == 0 && !skipped {
		if err := l.printNoRuns(ctx, store); err != nil || l.format == table.Text {
			return err
		}
	}
	if l.order != nil {
		l.order.Sort(runs, l.isReversed)
	} else if l.isReversed {
		slices.Reverse(runs)
	}
	return leftOutIf(writeRuns(l.stdout, runs, l.columns, l.format), skipped)
}

// read reads the runs that are listed.
func (l *listing) read(ctx context.Context, store history.Store) (runs []*mapping.Run, skipped bool, err error) {
	if len(l.selectors) == 0 {
		return l.readRuns(ctx, store, l.filter)
	}
	among := l.filter
	among.Limit = 0
	runs, skipped, err = l.selectRuns(ctx, store, among, l.selectors)
	if l.filter.Limit > 0 {
		runs = runs[:min(len(runs), l.filter.Limit)]
	}
	return runs, skipped, err
}

// readRuns reads the runs that a filter selects. skipped reports whether one cannot be read: it is left out, with a
// warning.
func (e *env) readRuns(ctx context.Context, store history.Store, filter history.RunFilter) (runs []*mapping.Run, skipped bool, err error) {
	for r, err := range store.Runs(ctx, filter) {
		switch {
		case history.IsSkipped(err):
			e.log.Warn(err.Error())
			skipped = true
		case err != nil:
			return nil, skipped, err
		default:
			runs = append(runs, r)
		}
	}
	return runs, skipped, nil
}

// printNoRuns says on stderr that no run matches, and what the history has.
func (e *env) printNoRuns(ctx context.Context, store history.Store) error {
	runs, lines, err := query.Contents(ctx, store)
	if err != nil {
		return err
	}
	if runs == 0 {
		term.Line(e.stderr, "no runs in %s; store some with: fio2es ingest PATH", e.history().name())
		return nil
	}
	term.Line(e.stderr, "no runs match; %s has %s:", e.history().name(), unit.Plural(runs, "run"))
	for _, line := range lines {
		term.Line(e.stderr, "  %s", line)
	}
	return nil
}
