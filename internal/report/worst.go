package report

import (
	"time"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// worst are the worst windows of a direction of a run. The slowest request has the same latency as in the table of numbers; its
// time may not be known.
type worst struct {
	run   *run
	total *total
	moments
}

// newWorst returns the worst windows of a direction. It is nil if no window has a histogram.
func newWorst(r *run, t *total, s *series) *worst {
	if s == nil || s.worst.p99 == nil || t.histogram == nil {
		return nil
	}
	w := &worst{r, t, s.worst}
	if t.Direction == mapping.Sync { // syncs have no IOPS, and jobs run without them
		w.idle, w.gap = nil, 0
	}
	w.slowest = &moment{value: t.Latency.Max, isTimeless: s.worst.slowest == nil}
	if s.worst.slowest != nil {
		w.slowest.at = s.worst.slowest.at
	}
	return w
}

// worstColumns are the columns of pages and screens. For programs, each number also has the start of its window.
func worstColumns() []table.Column[*worst] {
	list := []table.Column[*worst]{{Name: "direction", Heading: "Dir", Value: func(w *worst) any { return w.total.Direction }}}
	add := func(c table.Column[*worst], of func(*worst) *moment, text func(*worst) string) {
		c.Value = func(w *worst) any {
			if of(w) == nil {
				return nil
			}
			return of(w).value
		}
		isKnown := func(w *worst) bool { return of(w) != nil && !of(w).isTimeless }
		c.Text = func(w *worst) string {
			if !isKnown(w) {
				return text(w)
			}
			return text(w) + " at " + clockTime(w.run.Doc.Run.Start, of(w).at)
		}
		list = append(append(list, c), table.Where(isKnown, []table.Column[*worst]{
			{Name: c.Name + "_start", Unit: "ms", Value: func(w *worst) any {
				start := w.run.Doc.Run.Start
				if !unit.IsKnown(of(w).at) {
					start = time.Time{}
				}
				return of(w).at.Sub(start).Milliseconds()
			}},
			{Name: c.Name + "_start", Sparse: true, Value: func(w *worst) any { return of(w).at }},
		})...)
	}
	latency := func(name, heading string, of func(*worst) *moment) {
		add(table.Column[*worst]{Name: name, Unit: "us", Heading: heading}, of,
			func(w *worst) string { return shortText(&w.total.Latency, of(w).value) })
	}
	latency("p99", "Highest p99", func(w *worst) *moment { return w.p99 })
	latency("max", "Slowest request", func(w *worst) *moment { return w.slowest })
	add(table.Column[*worst]{Name: "iops", Heading: "Lowest IOPS"}, func(w *worst) *moment { return w.idle }, func(w *worst) string {
		if w.idle == nil {
			return "-"
		}
		return unit.Rate(w.idle.value)
	})
	hasGap := func(w *worst) bool { return w.gap > 0 }
	list = append(list, table.Where(hasGap, []table.Column[*worst]{{Name: "gap", Unit: "ms", Heading: "Gap",
		Value: func(w *worst) any { return w.gap.Milliseconds() }, Text: func(w *worst) string { return unit.Elapsed(w.gap) }}})...)
	return append(list, table.Column[*worst]{Name: "open", Sparse: true, Value: func(w *worst) any {
		var bounds []string // the columns that are lower bounds
		for _, c := range []struct {
			name string
			us   float64
		}{{"p99_us", w.p99.value}, {"max_us", w.slowest.value}} {
			if w.total.Latency.IsOpen(c.us) {
				bounds = append(bounds, c.name)
			}
		}
		return bounds
	}})
}
