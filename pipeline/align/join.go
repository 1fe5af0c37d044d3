package align

import (
	"maps"
	"slices"

	"github.com/fio2es/fio2es/hist"
)

// Precision is the required accuracy of a percentile in each window. The zero value requires
// nothing.
type Precision struct {
	Quantile float64 // 0 … 1
	Error    float64 // half of the 95 % confidence interval, as a share of the percentile
	Longest  int64   // longest joined window in milliseconds, except at gaps and at the end
}

// Joiner makes windows longer where they have too few requests. It joins successive windows until all of the highest
// level are precise, so quiet times have longer windows than busy ones. All keys have the same windows. If windows are
// left at the end, they join the window before. At most two windows of each key are in memory.
type Joiner struct {
	precision   Precision
	put         func(*Window) error
	ready, open *joint // ready waits in case it is the last
}

// NewJoiner returns a Joiner that passes the windows to put, in the order of [Merge].
func NewJoiner(p Precision, put func(*Window) error) *Joiner { return &Joiner{precision: p, put: put} }

// Add adds a window. Windows must come in the order of [Merge].
func (j *Joiner) Add(w *Window) error {
	if open := j.open; open != nil && w.Elapsed != open.last && (!open.takes(w, j.precision) || open.isPrecise(j.precision)) {
		if err := j.send(j.ready); err != nil {
			return err
		}
		j.ready, j.open = open, nil
	}
	if j.open == nil {
		j.open = &joint{first: w, start: w.Elapsed, parts: map[Key]*part{}}
	}
	j.open.add(w)
	return nil
}

// End passes on the last windows.
func (j *Joiner) End() error {
	// where there is ready, there is open
	if j.ready != nil && !j.open.isPrecise(j.precision) && j.ready.takes(j.open.first, j.precision) {
		for _, w := range j.open.windows() {
			j.ready.add(w)
		}
		j.open = nil
	}
	if err := j.send(j.ready); err != nil {
		return err
	}
	return j.send(j.open)
}

// send passes on joined windows, if there are any.
func (j *Joiner) send(of *joint) error {
	if of == nil {
		return nil
	}
	for _, w := range of.windows() {
		if err := j.put(w); err != nil {
			return err
		}
	}
	return nil
}

// joint has the windows of all keys that become one window of each key.
type joint struct {
	first *Window
	start int64 // Elapsed of the first of these windows
	last  int64 // and of the last
	end   int64 // nominal
	parts map[Key]*part
}

// part is the joined window of one key.
type part struct {
	*Window
	last int64 // Elapsed of the last one
}

func (j *joint) add(w *Window) {
	j.last, j.end = w.Elapsed, w.Elapsed+w.Length
	p := j.parts[w.Key]
	if p == nil {
		p = &part{Window: w}
		if w.Elapsed > j.start { // the window also covers the time without requests before w
			p.Start = j.start
		}
		j.parts[w.Key] = p
	} else {
		p.End, p.Unsure[1] = w.End, w.Unsure[1]
		p.Completed += w.Completed
		p.Fastest, p.Slowest = nil, nil
		p.Latencies = p.Latencies.Clone() // windows of other levels may share it
		p.Latencies.Merge(w.Latencies)
		sum := hist.New(p.Latencies.Layout())
		sum.AddBins(sum.Layout(), p.Counts)
		sum.AddBins(sum.Layout(), w.Counts)
		p.Counts = append([]hist.Bin{}, sum.Bins()...)
	}
	p.last = w.Elapsed
}

func (j *joint) windows() (list []*Window) {
	for _, key := range slices.SortedFunc(maps.Keys(j.parts), Key.Compare) {
		p := j.parts[key]
		if p.last < j.last {
			p.End = j.end
		}
		p.Elapsed, p.Length = j.start, j.end-j.start
		list = append(list, p.Window)
	}
	return list
}

// takes reports whether a later window can become a part of j. It must have the same bins and must not come after a
// long time without requests.
func (j *joint) takes(w *Window, p Precision) bool {
	return w.Latencies.Layout() == j.first.Latencies.Layout() && w.Elapsed-j.end < p.Longest
}

// isPrecise reports whether j has enough requests for the precision p, in all windows of the highest level.
func (j *joint) isPrecise(p Precision) bool {
	if p.Quantile <= 0 || j.end-j.start >= p.Longest {
		return true
	}
	top := Section
	for key := range j.parts {
		top = min(top, key.Level)
	}
	for key, part := range j.parts {
		if key.Level == top && !isPrecise(part.Latencies, p) {
			return false
		}
	}
	return true
}

func isPrecise(h *hist.Histogram, p Precision) bool {
	if h.IsEmpty() {
		return true
	}
	low, high, ok := h.ConfidenceInterval(p.Quantile, 0.95)
	return ok && (high.Value-low.Value)/2 <= p.Error*h.Percentile(p.Quantile).Value
}
