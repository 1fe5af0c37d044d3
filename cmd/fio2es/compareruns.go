package main

import (
	"context"
	"errors"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/mapping"
)

// compareRuns compares each argument with the base. Without --baseline, the base is the first argument.
func (c *comparing) compareRuns(ctx context.Context, args []string) error {
	var sides []*compare.Side
	for _, arg := range args {
		side, err := c.side(ctx, arg)
		if err != nil {
			return err
		}
		sides = append(sides, side)
	}
	if c.baseline == nil {
		c.logDoubts("", sides[0], sides[0])
		for _, other := range sides[1:] {
			if err := c.pair("", sides[0], other); err != nil {
				return err
			}
		}
		return nil
	}
	from, err := c.stored(ctx, c.baseline.Filter())
	if err != nil {
		return err
	}
	var failed []error
	for _, other := range sides {
		base, err := c.baselineOf(ctx, "", other, from)
		if err == nil {
			c.logDoubts("", base, base)
			err = c.pair("", base, other)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// pair compares a side with the base. title names the workload, if there are several.
func (c *comparing) pair(title string, base, other *compare.Side) error {
	c.logDoubts(title, base, other)
	lines, notes, err := compare.Compare(base, other, c.options)
	for _, text := range notes {
		c.note(title, text)
	}
	if err != nil {
		return err
	}
	heading := append(heading("base", base), heading("other", other)...)
	if title != "" {
		heading = append([]string{"workload  " + title, "verdict   " + compare.Summary(lines)}, heading...)
	}
	c.to.Begin(heading...)
	for _, l := range lines {
		if l.Verdict != compare.Unknown {
			c.judged++
		}
		if err := c.to.Write(&compareRow{title, base, other, l}); err != nil {
			return err
		}
	}
	c.gate.check(title, base, other, lines)
	return c.to.End()
}

// note writes a note about a workload, or, without a title, about the comparison.
func (c *comparing) note(title, text string) {
	if title != "" {
		text = title + ": " + text
	}
	c.log.Info("note: " + text)
}

// baselineOf reads the runs of --baseline for a side. from are the runs that it selects, of all workloads or of this
// one.
func (c *comparing) baselineOf(ctx context.Context, title string, other *compare.Side, from []*mapping.Run) (*compare.Side, error) {
	var runs []*mapping.Run
	for _, r := range other.Runs {
		runs = append(runs, r.Document)
	}
	list, notes, err := c.baseline.Of(runs, from)
	for _, text := range notes {
		c.note(title, text)
	}
	if err != nil {
		return nil, err
	}
	return c.storedSide(ctx, c.baseline.String(), list)
}
