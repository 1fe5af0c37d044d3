package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// compareWorkloads compares the runs of each argument with those runs of the base that have the same settings.
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

// withPast compares each workload of a selection with its runs of --baseline, chosen among from.
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

// one compares a workload. If that is not possible, it says so, and the other workloads are compared nevertheless.
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

// end fails if no workload was compared. If some could not be compared, they are left out.
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
