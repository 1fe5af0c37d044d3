package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/trend"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
)

// trendGate checks --fail-last: none of the last runs of a workload may begin a change for the worse. Without the
// flag it checks nothing.
type trendGate struct {
	checks
	last int // number of runs; 0: no gate
}

// check fails if the flags contradict one another.
func (g *trendGate) check(isGiven bool) error {
	switch {
	case isGiven && g.last < trend.LeastLevel:
		return usagef("--fail-last %d: want %d or more, because one or two odd runs are no change", g.last, trend.LeastLevel)
	case !isGiven && g.format == formatJUnit:
		return usagef("--format junit is about a gate: add one, such as --fail-last 5")
	}
	return nil
}

// noRuns fails if there is a gate, because the gate has checked nothing.
func (g *trendGate) noRuns() error {
	if g.last == 0 {
		return nil
	}
	return fmt.Errorf("--fail-last %d: there are no runs to check", g.last)
}

func (g *trendGate) add(s *workload.Series) {
	if g.last == 0 {
		return
	}
	c := junit.Case{Class: s.Title, Name: s.Direction + " " + s.Number.Text}
	if n := len(s.Runs); n < 2*trend.LeastLevel {
		c.Result, c.Text = junit.Skipped, fmt.Sprintf("%s: %s, but finding a change needs at least %d", s.Title, unit.Plural(n, "run"), 2*trend.LeastLevel)
	} else {
		c.Text = fmt.Sprintf("%s: no change for the worse in the last %d", unit.Plural(n, "run"), g.last)
	}
	for i := range s.Changes {
		if change := &s.Changes[i]; s.IsWorse(change) && change.Level.At >= len(s.Runs)-g.last {
			c.Result = junit.Failed
			c.Text = fmt.Sprintf("%s: %s of %ss is worse since run %s (%s): from %s to %s, %s", s.Title, s.Number.Text, s.Direction,
				facts.ShortID(change.After.Run.ID), workload.Day(change.After), s.Number.TextOf(change.Level.Before), s.Number.TextOf(change.Level.After), change.Text())
		}
	}
	g.Cases = append(g.Cases, c)
}

// end says what failed, and writes the checks.
func (g *trendGate) end(log *slog.Logger, stdout io.Writer) error {
	isMet, short := false, 0
	for _, c := range g.Cases {
		switch c.Result {
		case junit.Failed:
			isMet = true
			log.Error(fmt.Sprintf("--fail-last %d: %s", g.last, c.Text))
		case junit.Skipped:
			short++
		}
	}
	if short > 0 {
		log.Info(fmt.Sprintf("note: --fail-last %d: %d of %s not checked: they have fewer than %d runs", g.last, short, unit.Plural(len(g.Cases), "number"), 2*trend.LeastLevel))
	}
	if err := g.write(stdout); err != nil || !isMet {
		return err
	}
	return errMet
}
