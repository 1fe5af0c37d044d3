package compare

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/fio2es/fio2es/internal/junit"
)

// Gate has the conditions of a comparison that must not be met, and their outcomes.
type Gate struct {
	Conditions []Condition
	OnUnclear  bool // an unclear condition fails the gate
	outcomes   []Outcome
}

// Check checks the conditions on a comparison of two sides. title names the workload, if there are several.
func (g *Gate) Check(title string, base, other *Side, lines []Line) {
	for _, o := range Check(g.Conditions, base, other, lines) {
		if title != "" {
			o.Sides = title + ": " + o.Sides
		}
		g.outcomes = append(g.outcomes, o)
	}
}

// result returns a state as the result of a test case.
func (g *Gate) result(s State) junit.Result {
	switch s {
	case NotMet:
		return junit.Passed
	case Met:
		return junit.Failed
	case Undecided:
		if g.OnUnclear {
			return junit.Failed
		}
		return junit.Skipped
	}
	return junit.Errored
}

// Log logs what each condition of --fail-if comes to. isMet reports whether one is met, so that the gate fails, and
// unchecked whether one could not be checked. The error says that both sides lack the direction of a condition.
func (g *Gate) Log(log *slog.Logger) (isMet, unchecked bool, err error) {
	var absent []error
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
			if o.State == Absent {
				absent = append(absent, errors.New(text))
				continue
			}
			log.Warn(text)
			unchecked = true
		}
	}
	return isMet, unchecked, errors.Join(absent...)
}

// Cases returns the conditions as test cases.
func (g *Gate) Cases() (list []junit.Case) {
	for _, o := range g.outcomes {
		name := o.Condition.Text
		if o.Direction != "" {
			name += ": " + o.Direction
		}
		list = append(list, junit.Case{Class: o.Sides, Name: name, Result: g.result(o.State), Text: o.String()})
	}
	return list
}

// DropAbsent removes the outcomes of conditions that are absent in a workload, unless they are absent in all.
func (g *Gate) DropAbsent() {
	isThere := map[*Condition]bool{}
	for _, o := range g.outcomes {
		isThere[o.Condition] = isThere[o.Condition] || o.State != Absent
	}
	g.outcomes = slices.DeleteFunc(g.outcomes, func(o Outcome) bool { return o.State == Absent && isThere[o.Condition] })
}
