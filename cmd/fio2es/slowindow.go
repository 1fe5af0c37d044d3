package main

import (
	"maps"
	"math"
	"slices"

	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/mapping"
)

// sloWindow is an interval document as objectives are held against it; false: it has
// nothing to say, as averages of bandwidth alone.
func sloWindow(d *mapping.Interval) (slo.Window, bool, error) {
	start := d.Time.Sub(d.Run.Start).Milliseconds()
	w := slo.Window{Direction: d.Fio.Direction, Start: start, End: start + d.Window.MS, Completed: d.Requests.Completed}
	if d.Latency.Layout == "" {
		if d.Requests.Completed == 0 && d.IOPS > 0 { // averages: a rate, but no requests
			w.Completed = int64(math.Round(d.IOPS * float64(d.Window.MS) / 1000))
		}
		return w, w.Completed > 0 || d.Weighting != "average", nil
	}
	var err error
	if w.Latency, err = d.Latency.Hist(); err != nil {
		return w, false, err
	}
	l := d.Latency
	w.Stored = func(m slo.Metric) (ns float64, ok bool) { // as percentiles prints it: of weights before they were made whole
		us, ok := l.Figure(m.String())
		return math.Round(us * 1000), ok
	}
	return w, true, nil
}

// sloRun tells an evaluator what a whole run came to, in the directions that are wanted, and
// when it ended.
func sloRun(e *slo.Evaluator, run *mapping.Run, wanted []string) error {
	for _, d := range run.ByDirection() {
		if !isWanted(wanted, d.Direction) {
			continue
		}
		t, err := sloTotal(d.Totals)
		if err != nil {
			return err
		}
		e.SetTotal(d.Direction, t)
	}
	sloEnd(e, run)
	return nil
}

// sloEnd tells an evaluator when a run ended.
func sloEnd(e *slo.Evaluator, run *mapping.Run) {
	if ms := run.Run.End.Sub(run.Run.Start).Milliseconds(); ms > 0 {
		e.EndBy(ms)
	}
}

// sloTotal is what a whole run came to in a direction.
func sloTotal(t *mapping.Totals) (slo.Total, error) {
	total := slo.Total{Completed: t.Requests, IOPS: t.IOPS}
	if t.Latency.Layout == "" {
		return total, nil
	}
	var err error
	total.Latency, err = t.Latency.Hist()
	return total, err
}

// sloWindows puts together the documents of a window, one a host or job, and gives windows
// to an evaluator. Documents come in order of time.
type sloWindows struct {
	to      *slo.Evaluator
	elapsed int64                  // the nominal start of those that are open
	open    map[string]*slo.Window // by direction
}

func newSLOWindows(rules []slo.Rule) *sloWindows {
	return &sloWindows{to: slo.New(rules), open: map[string]*slo.Window{}}
}

func (s *sloWindows) add(d *mapping.Interval) error {
	if d.Window.ElapsedMS != s.elapsed {
		s.close()
		s.elapsed = d.Window.ElapsedMS
	}
	w, tells, err := sloWindow(d)
	if err != nil || !tells {
		return err
	}
	all := s.open[w.Direction]
	if all == nil {
		s.open[w.Direction] = &w
		return nil
	}
	if w.End-w.Start > all.End-all.Start { // hosts' rows are some milliseconds apart
		all.Start, all.End = w.Start, w.End
	}
	all.Completed += w.Completed
	if all.Latency == nil {
		all.Latency = w.Latency
	} else if w.Latency != nil {
		all.Latency.Merge(w.Latency)
	}
	if d.Part == 0 { // else a further piece of one document, each with the numbers of the whole
		all.Stored = nil
	}
	return nil
}

// close hands on the windows that are complete.
func (s *sloWindows) close() {
	for _, direction := range slices.Sorted(maps.Keys(s.open)) {
		s.to.Add(*s.open[direction])
	}
	clear(s.open)
}

// evaluator has all windows.
func (s *sloWindows) evaluator() *slo.Evaluator {
	s.close()
	return s.to
}
