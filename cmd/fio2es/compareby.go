package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// selection is the runs of an argument of --by settings: of a path, or those of the history that meet a condition.
type selection struct {
	name string
	docs []*mapping.Run
	read map[*mapping.Run]*compare.Run // those of a path
}

// compareWorkloads compares the runs of each of args with those of the baseline that have the same settings.
func (c *comparing) compareWorkloads(ctx context.Context, args []string) error {
	var list []*selection
	for _, arg := range args {
		s, err := c.selection(ctx, arg)
		if err != nil {
			return err
		}
		list = append(list, s)
	}
	if c.baseline == nil {
		for _, other := range list[1:] {
			if err := c.matched(ctx, list[0], other); err != nil {
				return err
			}
		}
	} else {
		from, err := c.stored(ctx, c.baseline.Filter())
		if err != nil {
			return err
		}
		for _, other := range list {
			if err := c.withPast(ctx, from, other); err != nil {
				return err
			}
		}
	}
	c.gate.dropAbsent()
	if byChance := float64(c.judged) * (1 - c.options.Confidence); byChance >= 1 {
		c.note("", fmt.Sprintf("of %s at a confidence of %s %%, some %.0f are worse or better by chance",
			unit.Plural(c.judged, "change"), unit.Number(c.options.Confidence*100), byChance))
	}
	return nil
}

// matched compares two selections, workload by workload.
func (c *comparing) matched(ctx context.Context, base, other *selection) error {
	t := tally{comparing: c}
	for _, m := range workload.Match(base.docs, other.docs) {
		if len(m.Base) == 0 || len(m.Other) == 0 {
			with := base
			if len(m.Base) == 0 {
				with = other
			}
			c.note(m.Title, fmt.Sprintf("only in %s (%s): not compared", with.name, unit.Plural(len(m.Base)+len(m.Other), "run")))
			continue
		}
		err := t.one(m.Title, func() (from, to *compare.Side, err error) {
			if from, err = c.sideOf(ctx, base, m.Base); err == nil {
				to, err = c.sideOf(ctx, other, m.Other)
			}
			return from, to, err
		})
		if err != nil {
			return err
		}
	}
	return t.end(base.name + " and " + other.name)
}

// withPast compares each workload of a selection with its runs of --baseline, which are among from.
func (c *comparing) withPast(ctx context.Context, from []*mapping.Run, other *selection) error {
	t, byKey := tally{comparing: c}, map[string][]*mapping.Run{}
	for _, run := range from {
		key := workload.Key(run)
		byKey[key] = append(byKey[key], run)
	}
	for _, w := range workload.Group(other.docs) {
		err := t.one(w.Title, func() (base, to *compare.Side, err error) {
			if to, err = c.sideOf(ctx, other, w.Runs); err == nil {
				base, err = c.baselineOf(ctx, w.Title, to, byKey[workload.Key(w.Runs[0])])
			}
			return base, to, err
		})
		if err != nil {
			return err
		}
	}
	return t.end(c.baseline.String() + " and " + other.name)
}

// tally counts the workloads that were compared.
type tally struct {
	*comparing
	compared int
	failed   []error
}

// one compares a workload. If that is not possible, it is named, and the others are compared all the same.
func (t *tally) one(title string, sides func() (base, other *compare.Side, err error)) error {
	base, other, err := sides()
	if err == nil {
		err = t.pair(title, base, other)
	}
	switch {
	case err == nil:
		t.compared++
	case errors.Is(err, context.Canceled):
		return err
	default:
		t.failed = append(t.failed, fmt.Errorf("%s: %w", title, err))
	}
	return nil
}

// end is an error if no workload was compared. Workloads that could not be compared are left out.
func (t *tally) end(names string) error {
	if t.compared == 0 {
		if len(t.failed) > 0 {
			return errors.Join(t.failed...)
		}
		return fmt.Errorf("%s have no workload in common: the settings of their runs differ", names)
	}
	for _, err := range t.failed {
		t.log.Warn("not compared: " + err.Error())
		t.leftOut = true
	}
	return nil
}

// selection finds the runs of an argument, and reads those of a path.
func (c *comparing) selection(ctx context.Context, arg string) (*selection, error) {
	s := &selection{name: arg, read: map[*mapping.Run]*compare.Run{}}
	if _, err := os.Lstat(arg); err != nil && arg != "-" {
		condition, err := where.Parse(arg, time.Now())
		if err != nil {
			return nil, usagef("%s: --by settings wants paths, or conditions on runs: %w", arg, err)
		}
		docs, err := c.stored(ctx, history.RunFilter{Light: true, Where: condition})
		if err != nil {
			return nil, err
		}
		var notes []string
		s.docs, notes = query.Usable(docs)
		for _, text := range notes {
			c.note(arg, text)
		}
		if len(s.docs) == 0 {
			return nil, errors.Join(fmt.Errorf("%s: no runs to compare", arg), c.printNoRuns(ctx, c.store))
		}
		return s, nil
	}
	err := c.runs(ctx, []string{arg}, func(run *query.Run, _ bool) error {
		one, err := c.readRun(ctx, run.Name, run)
		switch {
		case err != nil:
			return err
		case one.IsEmpty():
			c.note(one.Name, "left out: no windows to compare: "+report.WhyEmpty(one))
		default:
			one.Name = facts.Title(one.Document)
			s.docs, s.read[one.Document] = append(s.docs, one.Document), one
		}
		return nil
	})
	if err == nil && len(s.docs) == 0 {
		err = fmt.Errorf("%s: no runs with windows to compare", arg)
	}
	return s, err
}

// sideOf is some runs of a selection as one side, the oldest first.
func (c *comparing) sideOf(ctx context.Context, s *selection, docs []*mapping.Run) (*compare.Side, error) {
	if len(s.read) == 0 {
		newest := make([]*mapping.Run, len(docs))
		for i, doc := range docs {
			newest[len(docs)-1-i] = doc
		}
		return c.storedSide(ctx, s.name, newest)
	}
	side := &compare.Side{Name: s.name}
	for _, doc := range docs {
		side.Runs = append(side.Runs, s.read[doc])
	}
	return side, nil
}
