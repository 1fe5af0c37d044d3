package main

import (
	"errors"
	"io"
	"log/slog"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/junit"
)

// gate has the conditions of --fail-if, and their outcomes.
type gate struct {
	conditions []compare.Condition
	onUnclear  bool // an unclear condition fails the gate
	format     string
	outcomes   []compare.Outcome
}

func (g *gate) parse(texts []string) error {
	for _, text := range texts {
		condition, err := compare.ParseCondition(text)
		if err != nil {
			return usagef("--fail-if %w", err)
		}
		g.conditions = append(g.conditions, condition)
	}
	if len(g.conditions) == 0 && (g.onUnclear || g.format == formatJUnit) {
		return usagef("--fail-on-unclear and --format junit are about conditions: give some, such as --fail-if 'p99 > +10%%'")
	}
	return nil
}

// check checks the conditions on a comparison of two sides. title names the workload, if there are several.
func (g *gate) check(title string, base, other *compare.Side, lines []compare.Line) {
	for _, o := range compare.Check(g.conditions, base, other, lines) {
		if title != "" {
			o.Sides = title + ": " + o.Sides
		}
		g.outcomes = append(g.outcomes, o)
	}
}

// result returns a state as the result of a test case.
func (g *gate) result(s compare.State) junit.Result {
	switch s {
	case compare.NotMet:
		return junit.Passed
	case compare.Met:
		return junit.Failed
	case compare.Undecided:
		if g.onUnclear {
			return junit.Failed
		}
		return junit.Skipped
	}
	return junit.Errored
}

// end reports the outcomes. unchecked reports whether a condition could not be checked. The error is [errMet], or
// says that both sides lack the direction of a condition.
func (g *gate) end(log *slog.Logger, stdout io.Writer) (unchecked bool, err error) {
	var absent []error
	isMet := false
	for _, o := range g.outcomes {
		text := "--fail-if " + o.String()
		switch g.result(o.State) {
		case junit.Failed:
			log.Error(text)
			isMet = true
		case junit.Skipped:
			log.Warn(text)
		case junit.Passed:
			log.Info(text)
		default:
			if o.State == compare.Absent {
				absent = append(absent, errors.New(text))
				continue
			}
			log.Warn(text)
			unchecked = true
		}
	}
	absent = append(absent, g.checks().write(stdout))
	if err := errors.Join(absent...); err != nil || !isMet {
		return unchecked, err
	}
	return unchecked, errMet
}

// checks returns the conditions as test cases.
func (g *gate) checks() *checks {
	c := &checks{g.format, junit.Suite{Name: "fio2es compare"}}
	for _, o := range g.outcomes {
		name := o.Condition.Text
		if o.Direction != "" {
			name += ": " + o.Direction
		}
		c.Cases = append(c.Cases, junit.Case{Class: o.Sides, Name: name, Result: g.result(o.State), Text: o.String()})
	}
	return c
}

// dropAbsent removes the outcomes of conditions that are absent in a workload, unless they are absent in all.
func (g *gate) dropAbsent() {
	isThere := map[*compare.Condition]bool{}
	for _, o := range g.outcomes {
		isThere[o.Condition] = isThere[o.Condition] || o.State != compare.Absent
	}
	kept := g.outcomes[:0]
	for _, o := range g.outcomes {
		if o.State != compare.Absent || !isThere[o.Condition] {
			kept = append(kept, o)
		}
	}
	g.outcomes = kept
}
