package main

import (
	"context"
	"slices"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

type listing struct {
	*env
	filter    history.RunFilter
	selectors []*query.Selector // choose among the runs of the filter; none: all of them
	order     *facts.Order      // nil: the order of the selectors
	limit     int               // 0: no limit
	format    string

	isReversed bool
	names      []string // names of columns; nil for the usual ones
	columns    []table.Column[*facts.Line]
}

// list prints the runs that the filter selects. It skips a run that cannot be read, with a warning.
func (l *listing) list(ctx context.Context) error {
	store, err := l.history().open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	l.filter.Brief = l.format != documentFormat
	watched := query.Watch(l.filter)
	runs, skipped, err := l.read(ctx, store, watched)
	if err != nil {
		return err
	}
	if len(runs) == 0 && !skipped {
		if err := l.printNoRuns(ctx, store, watched); err != nil || l.format == table.Text {
			return err
		}
	}
	if l.order != nil {
		l.order.Sort(runs, l.isReversed)
	} else if l.isReversed {
		slices.Reverse(runs)
	}
	if l.limit > 0 {
		runs = runs[:min(len(runs), l.limit)]
	}
	return leftOutIf(writeRuns(l.stdout, runs, l.columns, l.format), skipped)
}

// read reads the listed runs, or more of them, because the limit applies after sorting.
func (l *listing) read(ctx context.Context, store history.Store, watched *query.Watched) (runs []*mapping.Run, skipped bool, err error) {
	if len(l.selectors) > 0 {
		return l.selectRuns(ctx, store, l.filter, l.selectors)
	}
	if l.order != nil && l.order.Column == nil && !l.isReversed { // a store returns runs in this order
		watched.Filter.Limit = l.limit
	}
	return l.readRuns(ctx, store, watched)
}

// readRuns reads the runs that a watched filter selects. It skips runs that cannot be read, with a warning; skipped
// reports that.
func (e *env) readRuns(ctx context.Context, store history.Store, watched *query.Watched) (runs []*mapping.Run, skipped bool, err error) {
	runs, err = history.Collect(store.Runs(ctx, watched.Filter), func(err error) {
		e.log.Warn(err.Error())
		skipped = true
	})
	if err != nil {
		return nil, skipped, err
	}
	if note := watched.Undecided(); note != "" {
		e.log.Warn(note)
	}
	return runs, skipped, nil
}

// printNoRuns says on stderr that a filter selects no run, and what the history has.
func (e *env) printNoRuns(ctx context.Context, store history.Store, watched *query.Watched) error {
	runs, lines, err := watched.Contents(ctx, store)
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
