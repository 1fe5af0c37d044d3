package slo

import (
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/fio2es/fio2es/mapping"
)

// Check checks a run against rules, by its document and by its windows in order of time, which are
// nil where no rule needs them.
func Check(rules []Rule, run *mapping.Run, windows iter.Seq2[*mapping.Interval, error]) ([]Verdict, error) {
	e := New(rules)
	if windows != nil {
		for d, err := range windows {
			if err == nil {
				err = e.AddDocument(d)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if err := e.SetRun(run, nil); err != nil {
		return nil, err
	}
	return e.Verdicts(), nil
}

// WindowOf is the window of an interval document. It is false where the document says nothing of
// requests, as averages of bandwidth alone.
func WindowOf(d *mapping.Interval) (Window, bool, error) {
	start := d.Time.Sub(d.Run.Start).Milliseconds()
	w := Window{Direction: d.Fio.Direction, Start: start, End: start + d.Window.MS, Completed: d.Requests.Completed}
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
	w.Stored = func(m Metric) (ns float64, ok bool) { // as percentiles prints it: of weights before they were made whole
		us, ok := l.Figure(m.String())
		return math.Round(us * 1000), ok
	}
	return w, true, nil
}

// AddDocument adds an interval document. The documents of one window, one for each host or job,
// or several parts of one, are one window; so documents come in order of time.
func (e *Evaluator) AddDocument(d *mapping.Interval) error {
	if d.Window.ElapsedMS != e.elapsed {
		e.addOpen()
		e.elapsed = d.Window.ElapsedMS
	}
	w, ok, err := WindowOf(d)
	if err != nil || !ok {
		return err
	}
	all := e.open[w.Direction]
	if all == nil {
		e.open[w.Direction] = &w
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
	if d.Part == 0 { // else another part of one document, and each part has the numbers of all of it
		all.Stored = nil
	}
	return nil
}

// addOpen adds the windows whose documents have all come.
func (e *Evaluator) addOpen() {
	for _, direction := range slices.Sorted(maps.Keys(e.open)) {
		e.Add(*e.open[direction])
	}
	clear(e.open)
}

// SetRun takes the totals of a run from its document, and when the run ended. No directions are
// all directions.
func (e *Evaluator) SetRun(run *mapping.Run, directions []string) error {
	for _, d := range run.ByDirection() {
		if len(directions) > 0 && !slices.Contains(directions, d.Direction) {
			continue
		}
		total := Total{Completed: d.Requests, IOPS: d.IOPS}
		if d.Latency.Layout != "" {
			var err error
			if total.Latency, err = d.Latency.Hist(); err != nil {
				return err
			}
		}
		e.SetTotal(d.Direction, total)
	}
	e.SetEnd(run)
	return nil
}

// SetEnd takes the run's end from its document.
func (e *Evaluator) SetEnd(run *mapping.Run) {
	if ms := run.Run.End.Sub(run.Run.Start).Milliseconds(); ms > 0 {
		e.EndBy(ms)
	}
}
