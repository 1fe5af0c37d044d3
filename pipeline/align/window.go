package align

import (
	"math"
	"sync"
	"time"

	"github.com/fio2es/fio2es/hist"
)

// Window has the requests of one key in one window of time.
type Window struct {
	Key Key
	// Start and End are milliseconds since the run's start. They are the window's edges or,
	// if whole rows make it up, the edges of these rows, which are a few milliseconds off. If
	// rows differ, they are the mean over all requests.
	Start, End int64
	// Elapsed is the nominal start, a multiple of the length, and Length the nominal length.
	// Joined windows have the first start and the sum of the lengths.
	Elapsed, Length int64
	// Latencies are the weights before rounding. Windows of other levels with the same requests have the same histogram
	// and counts, as those of a run's only host: they do not change.
	Latencies *hist.Histogram
	// Counts are the weights as whole numbers. Their sum over a run is exact.
	Counts []hist.Bin
	// Completed is the number of requests that completed in the window.
	Completed int64
}

// sum collects one window of one key.
type sum struct {
	latencies  hist.Histogram
	packed     []hist.Weight // the latencies of a cold window
	completed  float64
	start, end edge // of whole rows that reach the window's edges
	cut        bool // some rows cross them
}

// used has sums that are no longer needed. The bins of a new one take 15 KB, and clearing
// them again costs more than adding the rows of a window.
var used sync.Pool

func newSum(l hist.Layout) *sum {
	if s, ok := used.Get().(*sum); ok && s.latencies.Layout() == l {
		return s
	}
	return &sum{latencies: *hist.New(l)}
}

// release makes a sum that nothing refers to available to [newSum].
func (s *sum) release() {
	s.latencies.Reset()
	*s = sum{latencies: s.latencies}
	used.Put(s)
}

// edge is the distance of the rows of n requests from an edge, in milliseconds times requests.
type edge struct{ n, miss int64 }

func (e *edge) add(o edge) { e.n, e.miss = e.n+o.n, e.miss+o.miss }

func (e edge) mean() int64 {
	if e.n == 0 {
		return 0
	}
	return int64(math.Round(float64(e.miss) / float64(e.n)))
}

func (s *sum) merge(o *sum) {
	s.latencies.Merge(&o.latencies)
	s.completed += o.completed
	s.cut = s.cut || o.cut
	s.start.add(o.start)
	s.end.add(o.end)
}

// worker adds rows to its own windows: by window, then by slot (key and direction).
type worker struct {
	grid
	weighting Weighting
	spreadAll bool
	open      map[int64][]*sum
	slots     int
	layout    hist.Layout
	floor     int64 // windows before this one are closed
	late      float64

	given  []float64     // of each bin of a row, so far; reused
	shares []hist.Weight // reused
}

// at is the sum of a slot in a window, or in the first open one.
func (w *worker) at(window int64, slot int) *sum {
	window = max(window, w.floor)
	slots := w.open[window]
	if slots == nil {
		slots = make([]*sum, w.slots)
		w.open[window] = slots
	}
	if slots[slot] == nil {
		slots[slot] = newSum(w.layout)
	}
	return slots[slot]
}

// addTo takes the worker's sums of a window and adds them to total, which may be nil.
func (w *worker) addTo(total []*sum, at int64) []*sum {
	mine := w.open[at]
	delete(w.open, at)
	if total == nil {
		return mine
	}
	for i, s := range mine {
		switch {
		case s == nil:
		case total[i] == nil:
			total[i] = s
		default:
			total[i].merge(s)
			s.release()
		}
	}
	return total
}

// maxWindows is the largest number of windows that a row is spread over. A longer row is a
// gap or a damaged time, and when its requests completed is unknown. They count at its end.
const maxWindows = 1 << 10

func (w *worker) add(slot int, row *Row) {
	start, end := w.snap(row.Start), w.snap(row.End)
	first, last := w.windows(start, end)
	if last-first > maxWindows {
		first, start = last, end
	}
	if first < w.floor {
		w.late += float64(row.Total)
	}
	from := w.spreadFrom(row.Layout)
	if first == last {
		w.addWhole(slot, last, row, start, end, from)
	} else {
		w.addCut(slot, first, last, row, start, end, from)
	}
	for i := len(row.Bins) - 1; i >= 0 && int(row.Bins[i].Index) >= from; i-- {
		w.addInFlight(slot, row.Layout, &row.Bins[i], start, end)
	}
}

// addWhole adds a row that lies in one window, up to the bin from.
func (w *worker) addWhole(slot int, window int64, row *Row, start, end int64, from int) {
	at := w.at(window, slot)
	total := int64(row.Total)
	at.completed += float64(total)
	if start == window*w.length && start != end {
		at.start.add(edge{total, total * (row.Start - start)})
	}
	if end == (window+1)*w.length && start != end {
		at.end.add(edge{total, total * (row.End - end)})
	}
	n := len(row.Bins)
	for n > 0 && int(row.Bins[n-1].Index) >= from {
		n--
	}
	at.latencies.AddBins(row.Layout, row.Bins[:n])
}

// addCut adds a row across the edges of windows, up to the bin from. Its requests completed
// evenly over its time.
func (w *worker) addCut(slot int, first, last int64, row *Row, start, end int64, from int) {
	w.given = append(w.given[:0], make([]float64, len(row.Bins))...)
	for window := first; window <= last; window++ {
		w.shares = w.shares[:0]
		at, completed := w.at(window, slot), 0.0
		upTo := presence(float64((window+1)*w.length), float64(start), float64(end), 0)
		for i := range row.Bins {
			b := &row.Bins[i]
			given := float64(b.Count)
			if upTo < 1 {
				given = quantize(given * upTo)
			}
			share := given - w.given[i]
			w.given[i] = given
			completed += share
			if int(b.Index) < from {
				w.shares = append(w.shares, hist.Weight{Index: int(b.Index), Count: share})
			}
		}
		at.completed += completed
		at.cut = at.cut || completed > 0
		at.latencies.AddWeights(row.Layout, w.shares)
	}
}

// spreadFrom is the first bin whose requests count as in flight. Those of all others count
// where they completed.
func (w *worker) spreadFrom(l hist.Layout) int {
	switch {
	case w.weighting != InFlight:
		return l.Len()
	case w.spreadAll && life(l, 0) > 0:
		return 0
	case w.spreadAll:
		return 1
	}
	from := l.Index(min(w.length, math.MaxInt64/int64(time.Millisecond)) * int64(time.Millisecond))
	if life(l, from) <= float64(w.length) {
		from++
	}
	return from
}

// life is the latency of a bin's requests in milliseconds.
func life(l hist.Layout, bin int) float64 { return l.Middle(bin) / float64(time.Millisecond) }

// addInFlight spreads a bin's requests, completed in (start, end], over the windows of their
// lives. The part before the run's start counts in the first window.
func (w *worker) addInFlight(slot int, l hist.Layout, b *hist.Bin, start, end int64) {
	n, life, from, to := float64(b.Count), life(l, int(b.Index)), float64(start), float64(end)
	last := w.window(end)
	first := min(w.window(int64(from-life)+1), last)
	if first < w.floor && w.floor <= last {
		first = w.floor                // its share includes all before
		if start >= w.floor*w.length { // otherwise the row is late and was counted as late
			w.late += quantize(n * presence(float64(w.floor*w.length), from, to, life))
		}
	}
	given := 0.0
	for window := first; window <= last; window++ {
		upTo := n
		if window < last {
			upTo = quantize(n * presence(float64((window+1)*w.length), from, to, life))
		}
		if share := upTo - given; share > 0 {
			w.at(window, slot).latencies.AddWeights(l, []hist.Weight{{Index: int(b.Index), Count: share}})
			given = upTo
		}
	}
}
