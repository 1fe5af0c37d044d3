package align

import (
	"maps"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
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
	ready, open *joined // ready waits in case it is the last
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
		j.open = &joined{first: w.Elapsed, parts: map[Key]*part{}}
	}
	j.open.add(w)
	return nil
}

// End passes on the last windows.
func (j *Joiner) End() error {
	// where there is ready, there is open
	if j.ready != nil && !j.open.isPrecise(j.precision) && j.ready.takes(j.open.any(), j.precision) {
		j.ready.join(j.open)
		j.open = nil
	}
	if err := j.send(j.ready); err != nil {
		return err
	}
	return j.send(j.open)
}

// send passes on joined windows, if there are any.
func (j *Joiner) send(of *joined) error {
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

// joined has the windows of all keys that become one window of each key.
type joined struct {
	first, last int64 // Elapsed of the first and the last of these windows
	end         int64 // nominal
	parts       map[Key]*part
}

// part is the joined window of one key.
type part struct {
	*Window
	last int64 // Elapsed of the last one
}

func (j *joined) add(w *Window) {
	j.last, j.end = w.Elapsed, w.Elapsed+w.Length
	p := j.parts[w.Key]
	if p == nil {
		p = &part{Window: w}
		if w.Elapsed > j.first { // the window also covers the time without requests before w
			p.Start = j.first
		}
		j.parts[w.Key] = p
	} else {
		p.join(w)
	}
	p.last = w.Elapsed
}

func (j *joined) join(o *joined) {
	for key, later := range o.parts {
		p := j.parts[key]
		if p == nil {
			p = later
			p.Start = j.first
			j.parts[key] = p
		} else {
			p.join(later.Window)
		}
		p.last = later.last
	}
	j.last, j.end = o.last, o.end
}

// takes reports whether a later window can become a part of j. It must have the same bins and must not come after a
// long time without requests.
func (j *joined) takes(w *Window, p Precision) bool {
	return w.Latencies.Layout() == j.any().Latencies.Layout() && w.Elapsed-j.end < p.Longest
}

func (j *joined) any() *Window {
	for _, p := range j.parts {
		return p.Window
	}
	return nil // unreachable: there is at least one window
}

// isPrecise reports whether j has enough requests for the precision p.
func (j *joined) isPrecise(p Precision) bool {
	if p.Quantile <= 0 || j.end-j.first >= p.Longest {
		return true
	}
	top := mapping.Job
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
	return ok && (high-low)/2 <= p.Error*h.Percentile(p.Quantile).Value
}

func (j *joined) windows() []*Window {
	var out []*Window
	for _, key := range slices.SortedFunc(maps.Keys(j.parts), Key.Compare) {
		p := j.parts[key]
		if p.last < j.last {
			p.End = j.end
		}
		p.Elapsed, p.Length = j.first, j.end-j.first
		out = append(out, p.Window)
	}
	return out
}

func (w *Window) join(later *Window) {
	w.End = later.End
	w.Latencies = w.Latencies.Clone() // windows of other levels may share it
	w.Latencies.Merge(later.Latencies)
	w.Counts = addBins(w.Latencies.Layout(), w.Counts, later.Counts)
	w.Completed += later.Completed
	w.Unsure[1] = later.Unsure[1]
}

func addBins(l hist.Layout, a, b []hist.Bin) []hist.Bin {
	sum := hist.New(l)
	sum.AddBins(l, a)
	sum.AddBins(l, b)
	return append([]hist.Bin{}, sum.Bins()...)
}
