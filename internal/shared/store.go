package shared

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Store is a history whose shared runs are read as any others: their documents are sums of their parts, and windows of
// the cluster, of a host or of a section are sums of those that hosts have sent. It changes nothing of what is written.
type Store struct{ history.Store }

// raw returns the history as it is stored.
func raw(store history.Store) history.Store {
	if view, ok := store.(Store); ok {
		return view.Store
	}
	return store
}

// Run implements [history.Store]. A text that is no id may also be the name of a shared run, which means its newest attempt.
func (s Store) Run(ctx context.Context, id string) (*mapping.Run, error) {
	run, err := s.Store.Run(ctx, id)
	if errors.Is(err, history.ErrNotFound) {
		stages, _, failed := newest(ctx, s.Store, id)
		if failed != nil || len(stages) == 0 {
			return run, cmp.Or(failed, err)
		}
		run, err = s.Store.Run(ctx, stages[len(stages)-1].Run.ID)
	}
	if err != nil || !shared(run) {
		return run, err
	}
	return s.merged(ctx, run)
}

func (s Store) merged(ctx context.Context, run *mapping.Run) (*mapping.Run, error) {
	parts, now, err := Parts(ctx, s.Store, run.Run.ID)
	if err != nil {
		return nil, err
	}
	return Merge(run, parts, now)
}

// Runs implements [history.Store].
func (s Store) Runs(ctx context.Context, f history.RunFilter) iter.Seq2[*mapping.Run, error] {
	return func(yield func(*mapping.Run, error) bool) {
		for run, err := range s.Store.Runs(ctx, f) {
			if err == nil && shared(run) {
				if f.Members != nil {
					run, err = s.Store.Run(ctx, run.Run.ID)
				}
				if err != nil {
					yield(nil, err)
					return
				}
				if run, err = s.merged(ctx, run); err == nil && f.Light {
					run = run.Light()
				}
			}
			if !yield(run, err) {
				return
			}
		}
	}
}

// Holding implements [history.Store]. A shared run is known by the reports of its parts; it does not count if another run has the files.
func (s Store) Holding(ctx context.Context, files, logs []string) ([]*mapping.Run, error) {
	found, err := s.Store.Holding(ctx, files, logs)
	if slices.ContainsFunc(found, func(run *mapping.Run) bool { return !shared(run) }) {
		return slices.DeleteFunc(found, shared), err
	}
	for i, run := range found {
		if run, err = s.merged(ctx, run); err != nil {
			return nil, err
		}
		found[i] = run.WithFiles()
	}
	return found, err
}

// Intervals implements [history.Store]. Windows of a shared run are read up to the time until which all of its parts have sent theirs, but for those
// that are silent or stuck: when these send again, what was read in that time is read again with theirs. Those of several runs come one run after another if one of these is shared.
func (s Store) Intervals(ctx context.Context, sel history.Selection) iter.Seq2[*mapping.Interval, error] {
	return func(yield func(*mapping.Interval, error) bool) {
		runs, err := s.Versions(ctx, sel.Runs)
		if err != nil {
			yield(nil, err)
			return
		}
		rest := sel
		rest.Runs = slices.DeleteFunc(slices.Clone(sel.Runs), func(id string) bool { return shared(runs[id]) })
		if len(sel.Runs) == 0 || len(rest.Runs) > 0 {
			for d, err := range s.Store.Intervals(ctx, rest) {
				if !yield(d, err) {
					return
				}
			}
		}
		for _, id := range sel.Runs {
			if shared(runs[id]) && !s.sums(ctx, id, sel, yield) {
				return
			}
		}
	}
}

// sums yields the windows of a level of a shared run so far. It returns false if the caller has enough.
func (s Store) sums(ctx context.Context, id string, sel history.Selection, yield func(*mapping.Interval, error) bool) bool {
	run, err := s.Store.Run(ctx, id)
	if errors.Is(err, history.ErrNotFound) {
		return true
	}
	var parts []*mapping.Part
	var now time.Time
	if err == nil {
		parts, now, err = Parts(ctx, s.Store, id)
	}
	var whole *mapping.Run
	if err == nil {
		whole, err = Merge(run, parts, now)
	}
	if err != nil {
		return yield(nil, err)
	}
	until := sentUntil(parts, now)
	if !until.IsZero() && (sel.To.IsZero() || until.Before(sel.To)) {
		sel.To = until
	}
	return s.sum(ctx, whole, sel, until, yield)
}

// sum yields sums of the windows that hosts have sent of a run. Unless until is zero, one that ends later is not whole yet.
func (s Store) sum(ctx context.Context, whole *mapping.Run, sel history.Selection, until time.Time, yield func(*mapping.Interval, error) bool) bool {
	key := func(w *window.Window) string { return "" }
	switch level := max(sel.Level, mapping.Cluster); level {
	case mapping.Host:
		key = func(w *window.Window) string { return w.Host }
	case mapping.Section:
		key = func(w *window.Window) string { return w.Section }
	case mapping.Cluster:
	default: // its hosts send no windows of jobs
		return true
	}
	of := sel
	of.Runs, of.Level, of.Light = []string{whole.Run.ID}, mapping.Host, false
	// those that become one, of each direction and key: a long one, where fio hung, with those that others have in its time
	var open []*window.Window
	var span window.Span // of these
	give := func() bool {
		if !until.IsZero() && span.End.After(until) {
			return true
		}
		slices.SortStableFunc(open, func(a, b *window.Window) int {
			return cmp.Or(strings.Compare(a.Direction, b.Direction), strings.Compare(key(a), key(b)))
		})
		for len(open) > 0 {
			n := 1
			for n < len(open) && open[n].Direction == open[0].Direction && key(open[n]) == key(open[0]) {
				n++
			}
			sum, err := window.Merge(open[:n], span)
			if err != nil {
				return yield(nil, err)
			}
			for _, d := range document(sum, whole, max(sel.Level, mapping.Cluster)).Split() {
				if sel.Light {
					d.Latency.Bins = mapping.Bins{}
				}
				if !yield(d, nil) {
					return false
				}
			}
			open = open[n:]
		}
		span = window.Span{}
		return true
	}
	for w, err := range window.Rejoin(s.Store.Intervals(ctx, of)) {
		switch {
		case err != nil:
			return yield(nil, err)
		case isEmpty(w):
			continue
		case len(open) > 0 && !w.Start.Before(span.End) && !give():
			return false
		}
		open = append(open, w)
		span.Add(w)
	}
	return give()
}

// document returns the document of a sum of windows of hosts, as one of a level of the run.
func document(w *window.Window, run *mapping.Run, level mapping.Level) *mapping.Interval {
	if w.Level, w.Job = level, ""; level != mapping.Host {
		w.Host = ""
	}
	if level != mapping.Section {
		w.Section = ""
	}
	w.ElapsedMS = w.Start.Sub(run.Run.Start).Milliseconds()
	like := mapping.Interval{
		Run: mapping.RunRef{ID: run.Run.ID, Name: run.Run.Name, Archive: run.Run.Archive, Start: run.Run.Start, Ingest: run.Run.Ingest, Labels: run.Run.Labels, Edit: run.Run.Edit()},
		Fio: mapping.FioRef{Version: run.Fio.Version}, Weighting: run.Weighting,
	}
	d := w.Document(&like)
	d.Describe(run)
	return d
}

// isEmpty reports whether a window has nothing, as [Sender.End] makes those that were sent by mistake.
func isEmpty(w *window.Window) bool {
	return w.Completed == 0 && w.Weight == 0 && !w.Latency.HasPercentiles()
}

// sentUntil returns the time until which all parts have sent their windows, but for those that are silent or late. It is zero if there are
// no others.
func sentUntil(parts []*mapping.Part, now time.Time) (until time.Time) {
	for _, p := range parts {
		if last := p.Last; p.Ended.IsZero() && !p.Over && !isSilent(p, now) && !isLate(p, now) {
			if last.IsZero() { // it has begun, and its first window is not over
				last = p.Document.Run.Start
			}
			if until.IsZero() || last.Before(until) {
				until = last
			}
		}
	}
	return until
}
