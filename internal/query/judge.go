package query

import (
	"context"
	"slices"

	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Judgement is the result of checking a run against rules.
type Judgement struct {
	Run      mapping.RunInfo // only a name if the files have nothing of a run
	Checked  window.Span     // the time of the checked requests; zero if there are none
	Verdicts []slo.Verdict
}

// Judge checks the requests of a run that q wants against rules. Errors are those of [Run.Read].
func Judge(ctx context.Context, run *Run, q *Query, rules []slo.Rule) (*Judgement, error) {
	e, checked := slo.New(rules), window.Span{}
	take := func(w *window.Window) error {
		checked.Add(w)
		return e.Merge(w)
	}
	if !NeedsWindows(q, rules) {
		take = nil
	}
	doc, err := run.Read(ctx, q, take)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return &Judgement{Run: mapping.RunInfo{Name: run.Name}, Verdicts: e.Verdicts()}, nil
	}
	isEmpty := checked.IsZero()
	if q.WantsAll() {
		checked = window.Span{Start: doc.Run.Start, End: doc.Run.End}
		if err := e.SetRun(doc, q.Directions); err != nil {
			return nil, err
		}
	} else {
		e.SetEnd(doc)
	}
	j := &Judgement{doc.Run, checked, e.Verdicts()}
	if isEmpty && take != nil {
		run.Warnings = append(run.Warnings, run.NoMatch(doc).Error())
		j.explain(q, doc)
	}
	return j, nil
}

// NeedsWindows reports whether a check needs windows, because the totals of the run are not enough.
func NeedsWindows(q *Query, rules []slo.Rule) bool {
	return !q.WantsAll() || slices.ContainsFunc(rules, slo.Rule.InWindows)
}

// explain sets the reason of rules about windows that could not be checked: the run has no windows, or none that is
// wanted.
func (j *Judgement) explain(q *Query, doc *mapping.Run) {
	why := "no requests match"
	if NoWindows(doc) != "" {
		why = "the run has no windows"
	}
	for i := range j.Verdicts {
		if v := &j.Verdicts[i]; v.State == slo.Unknown && (v.Rule.InWindows() || !q.WantsAll()) {
			v.Why = why
		}
	}
}
