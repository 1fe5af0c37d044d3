package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Run is a run in files or in the history.
type Run struct {
	Name string
	Path string // path of the run's folder, in its archive or below the given path; empty in the history
	// Stored is the run document in the history. It is nil for files, whose run document is made by Read.
	Stored *mapping.Run
	// JoinMS is the length in milliseconds to which stored windows are joined, from the function [JoinMS]. 0 leaves
	// them as they are.
	JoinMS int64

	// Messages about the run, set by Read. A warning means that numbers are missing.
	Warnings, Notes, Details []string

	from   reader
	choice choice
}

// reader reads a run from files or from the history.
type reader interface {
	// read calls take with at least the wanted windows, sorted by time within a level, and returns the run document.
	// It may change r. With a nil take it reads no windows.
	read(ctx context.Context, r *Run, q *Query, take func(*window.Window) error) (*mapping.Run, error)
}

// Read calls take with the wanted windows, sorted by time within a level, and returns the run document. With a nil
// take it reads no windows. The document is nil if files have nothing of a run. An error is from take, or says why
// the windows cannot be read.
func (r *Run) Read(ctx context.Context, q *Query, take func(*window.Window) error) (*mapping.Run, error) {
	r.choice = choice{query: q}
	r.Warnings, r.Notes, r.Details = nil, nil, nil
	if take == nil {
		return r.from.read(ctx, r, q, nil)
	}
	if q.Totals {
		return r.readTotals(ctx, q, take)
	}
	return r.from.read(ctx, r, q, func(w *window.Window) error {
		if takes, err := r.choice.takes(w); err != nil || !takes {
			return err
		}
		return take(w)
	})
}

func (r *Run) readTotals(ctx context.Context, q *Query, take func(*window.Window) error) (*mapping.Run, error) {
	doc, err := r.from.read(ctx, r, q, nil)
	if err != nil || doc == nil {
		return doc, err
	}
	for _, d := range doc.ByDirection() {
		if !isWanted(q.Directions, d.Direction) {
			continue
		}
		if err := take(window.Total(doc, d)); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// Has reports whether the run may have windows of a level. For a run in the history this is known.
func (r *Run) Has(level mapping.Level) bool {
	return r.Stored == nil || slices.Contains(r.Stored.Levels, level)
}

// OnlyTotals returns why a run that was read has no windows with percentiles. It is empty if the run has some, or if
// a warning or a note says so already.
func (r *Run) OnlyTotals(doc *mapping.Run) string {
	if r.choice.withPercentiles > 0 {
		return ""
	}
	why := cmp.Or(NoWindows(doc), NothingInTime)
	says := func(text string) bool { return strings.Contains(text, why) }
	if slices.ContainsFunc(r.Warnings, says) || slices.ContainsFunc(r.Notes, says) {
		return ""
	}
	return why
}

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
