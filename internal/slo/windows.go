package slo

import (
	"maps"
	"math"
	"slices"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Add adds a complete window, and returns the rules that it breaks. Rules about the number of requests are not
// checked.
func (e *Evaluator) Add(w *window.Window) ([]Breach, error) {
	one, ok, err := sampleOf(w)
	if err != nil || !ok {
		return nil, err
	}
	return e.add(one), nil
}

// sampleOf returns a window in the form that rules need. It returns false if the window has no requests or rates,
// such as averages of bandwidth only.
func sampleOf(w *window.Window) (sample, bool, error) {
	s := sample{direction: w.Direction, start: w.StartMS(), end: w.EndMS(), completed: w.Completed}
	var err error
	if s.latency, err = w.Histogram(); err != nil {
		return s, false, err
	}
	if s.latency != nil {
		s.stored = &w.Latency
		return s, true, nil
	}
	if s.completed == 0 && w.IOPS > 0 { // averages have a rate, but no number of requests
		s.completed = int64(math.Round(w.IOPS * float64(s.end-s.start) / 1000))
	}
	return s, s.completed > 0 || !w.Averaged, nil
}

// Merge adds a window of one host or job. Windows of one direction and nominal time become one window, so Merge must
// be called in order of time.
func (e *Evaluator) Merge(w *window.Window) error {
	if w.ElapsedMS != e.elapsed {
		e.addOpen()
		e.elapsed = w.ElapsedMS
	}
	one, ok, err := sampleOf(w)
	if err != nil || !ok {
		return err
	}
	all := e.open[w.Direction]
	if all == nil {
		e.open[w.Direction] = &one
		return nil
	}
	if one.end-one.start > all.end-all.start { // rows of hosts are some milliseconds apart
		all.start, all.end = one.start, one.end
	}
	all.completed += one.completed
	if all.latency == nil {
		all.latency = one.latency
	} else if one.latency != nil {
		all.latency.Merge(one.latency)
	}
	all.stored = nil
	return nil
}

// addOpen adds the windows that are complete, because a later one has begun.
func (e *Evaluator) addOpen() {
	for _, direction := range slices.Sorted(maps.Keys(e.open)) {
		e.add(*e.open[direction])
	}
	clear(e.open)
}

// SetRun sets the totals and the end of the run from its document. Empty directions means all.
func (e *Evaluator) SetRun(run *mapping.Run, directions []string) error {
	for _, d := range run.ByDirection() {
		if len(directions) > 0 && !slices.Contains(directions, d.Direction) || d.Requests == 0 { // 0 is unknown
			continue
		}
		t := &total{completed: d.Requests, iops: d.IOPS}
		if d.Latency.HasPercentiles() {
			var err error
			if t.latency, err = d.Latency.Hist(); err != nil {
				return err
			}
		}
		e.of(d.Direction).total = t
	}
	e.SetEnd(run)
	return nil
}

// SetEnd sets the end of the run from its document, because the last window may be longer.
func (e *Evaluator) SetEnd(run *mapping.Run) {
	e.even = run.IntervalMS > 0
	if ms := run.Run.End.Sub(run.Run.Start).Milliseconds(); ms > 0 {
		e.end = ms
	}
}
