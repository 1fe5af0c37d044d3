package workload

import (
	"fmt"
	"log/slog"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/trend"
	"github.com/fio2es/fio2es/internal/unit"
)

// Gate checks --fail-last: none of the last runs of a workload may begin a change for the worse.
type Gate struct {
	Last  int // number of runs; 0: nothing is checked
	Cases []junit.Case
}

// Add checks a series.
func (g *Gate) Add(s *Series) {
	if g.Last == 0 {
		return
	}
	c := junit.Case{Class: s.Title, Name: s.Direction + " " + s.Number.Text}
	if n := len(s.Runs); n < 2*trend.LeastLevel {
		c.Result, c.Text = junit.Skipped, fmt.Sprintf("%s: %s, but finding a change needs at least %d", s.Title, unit.Plural(n, "run"), 2*trend.LeastLevel)
	} else {
		c.Text = fmt.Sprintf("%s: no change for the worse in the last %d", unit.Plural(n, "run"), g.Last)
	}
	for i := range s.Changes {
		if change := &s.Changes[i]; s.IsWorse(change) && change.Level.At >= len(s.Runs)-g.Last {
			c.Result = junit.Failed
			c.Text = fmt.Sprintf("%s: %s of %ss is worse since run %s (%s): from %s to %s, %s", s.Title, s.Number.Text, s.Direction,
				facts.ShortID(change.After.Run.ID), Day(change.After), s.Number.TextOf(change.Level.Before), s.Number.TextOf(change.Level.After), change.Text())
		}
	}
	g.Cases = append(g.Cases, c)
}

// Log logs what failed, and how many series are too short. isMet reports whether the gate fails.
func (g *Gate) Log(log *slog.Logger) (isMet bool) {
	short := 0
	for _, c := range g.Cases {
		switch c.Result {
		case junit.Failed:
			isMet = true
			log.Error(fmt.Sprintf("--fail-last %d: %s", g.Last, c.Text))
		case junit.Skipped:
			short++
		}
	}
	if short > 0 {
		log.Info(fmt.Sprintf("note: --fail-last %d: %d of %s not checked: they have fewer than %d runs", g.Last, short, unit.Plural(len(g.Cases), "number"), 2*trend.LeastLevel))
	}
	return isMet
}
