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
	// Start and End are milliseconds since the start of the run. They are the edges of the window. If no row crosses an
	// edge, it is that of the rows there, which differs by a few milliseconds. If the rows of several jobs differ, it is
	// the mean over all requests.
	Start, End int64
	// From and To are when the first job of the key began and the last one ended, in milliseconds since the start of the
	// run. [Merge] does not set them. To is 0 if it is not known.
	From, To int64
	// Elapsed is the nominal start, a multiple of the length. Length is the nominal length. Both are milliseconds.
	// Joined windows have the first start and the sum of the lengths.
	Elapsed, Length int64
	// Latencies are the weights before rounding. They are shared with windows of other levels that have the same
	// requests, such as those of the only host. So they must not be changed.
	Latencies *hist.Histogram
	// Counts are the weights rounded to whole numbers. Their sum over a run is exact.
	Counts []hist.Bin
	// Completed is the number of requests that completed in the window.
	Completed int64
	// Unsure is how many requests may have completed on the other side of the start, and of the end. It is 0 unless rows
	// that cross the edge have another rate than the rows beside them. See [worker.doubt].
	Unsure [2]float64
}

// sum collects one window of one key.
type sum struct {
	latencies  hist.Histogram
	packed     []hist.Weight // the latencies of a cold window
	completed  float64
	start, end edge
	whole      span // from the first start to the last end of rows that are never cut, milliseconds; zero without any
}

// used has sums for reuse. The bins of a new sum take 15 KB, and clearing them costs more than adding the rows of a
// window.
var used sync.Pool

func newSum(l hist.Layout) *sum {
	if s, ok := used.Get().(*sum); ok && s.latencies.Layout() == l {
		return s
	}
	return &sum{latencies: *hist.New(l)}
}

// release makes a sum available to [newSum]. Nothing may use it any more.
func (s *sum) release() {
	s.latencies.Reset()
	*s = sum{latencies: s.latencies}
	used.Put(s)
}

// edge is the distance of the rows of n requests from an edge, in milliseconds times requests. It does not depend on the
// length of windows, so longer windows have the edges of shorter ones.
type edge struct {
	n, miss int64
	cut     bool // some rows cross it
	unsure  float64
}

func (e *edge) add(o edge) {
	e.n, e.miss, e.cut, e.unsure = e.n+o.n, e.miss+o.miss, e.cut || o.cut, e.unsure+o.unsure
}

func (e edge) mean() int64 {
	if e.n == 0 || e.cut {
		return 0
	}
	return int64(math.Round(float64(e.miss) / float64(e.n)))
}

func (s *sum) merge(o *sum) {
	s.latencies.Merge(&o.latencies)
	s.completed += o.completed
	s.start.add(o.start)
	s.end.add(o.end)
	s.whole = s.whole.and(o.whole)
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
	spans     []span
	late      float64

	given  []float64     // requests of each bin of a row that were added already; reused
	shares []hist.Weight // reused
}

// span is a range, such as of several windows that become one.
type span struct{ first, last int64 }

// and returns the range of both. The zero span is empty.
func (s span) and(o span) span {
	switch {
	case s == span{}:
		return o
	case o == span{}:
		return s
	}
	return span{min(s.first, o.first), max(s.last, o.last)}
}

// at returns the sum of a slot in a window. If the window is closed, it returns that of the first open window.
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

// addTo removes the worker's sums of a window and adds them to total, which may be nil.
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

// maxWindows is the largest number of windows over which a row is spread. A longer row has a gap or a damaged time, so
// the times of its requests are unknown. They count at its end.
const maxWindows = 1 << 10

func (w *worker) add(slot int, row *Row) {
	start, end := w.snap(row.Start), w.snap(row.End)
	if row.Whole {
		start, end = w.nearest(row.Start, row.End)
	}
	first, last := w.windows(start, end)
	if last-first > maxWindows {
		first, start = last, end
	}
	if first < w.floor {
		w.late += float64(row.Total)
	}
	from := w.spreadFrom(row.Layout)
	if row.Whole && first < last {
		w.spans = append(w.spans, span{max(first, w.floor), max(last, w.floor)})
	}
	if start != end && !row.Whole && first >= w.floor {
		w.addEdges(slot, span{first, last}, row, start, end)
	}
	if first == last || row.Whole {
		w.addWhole(slot, last, row, from)
	} else {
		w.addCut(slot, first, last, row, start, end, from)
	}
	for i := len(row.Bins) - 1; i >= 0 && int(row.Bins[i].Index) >= from; i-- {
		w.addInFlight(slot, row.Layout, &row.Bins[i], start, end)
	}
}

// addEdges notes at which edges of windows a row begins and ends, and which it crosses. start and end are snapped.
func (w *worker) addEdges(slot int, windows span, row *Row, start, end int64) {
	total := int64(row.Total)
	if start == windows.first*w.length {
		w.at(windows.first, slot).start.add(edge{n: total, miss: total * (row.Start - start)})
	}
	if end == (windows.last+1)*w.length {
		w.at(windows.last, slot).end.add(edge{n: total, miss: total * (row.End - end)})
	}
	for window := windows.first; window < windows.last; window++ {
		w.at(window, slot).end.cut, w.at(window+1, slot).start.cut = true, true
	}
}

// addWhole adds the bins below from of a row that lies in one window, or in several that become one. Then window is the
// last of them.
func (w *worker) addWhole(slot int, window int64, row *Row, from int) {
	at := w.at(window, slot)
	at.completed += float64(row.Total)
	if row.Whole {
		at.whole = at.whole.and(span{row.Start, row.End})
	}
	n := len(row.Bins)
	for n > 0 && int(row.Bins[n-1].Index) >= from {
		n--
	}
	at.latencies.AddBins(row.Layout, row.Bins[:n])
}

// addCut adds the bins below from of a row that crosses edges of windows. Their requests count as completed evenly over
// the time of the row.
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
		at.latencies.AddWeights(row.Layout, w.shares)
	}
}

// spreadFrom returns the first bin whose requests count as in flight. Requests of lower bins count where they
// completed.
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

// life returns the latency of a bin's requests in milliseconds.
func life(l hist.Layout, bin int) float64 { return l.Middle(bin) / float64(time.Millisecond) }

// addInFlight spreads the requests of a bin over the windows of their lives. They completed in (start, end]. The part
// of a life before the run's start counts in the first window.
func (w *worker) addInFlight(slot int, l hist.Layout, b *hist.Bin, start, end int64) {
	n, life, from, to := float64(b.Count), life(l, int(b.Index)), float64(start), float64(end)
	last := w.window(end)
	first := min(w.window(int64(from-life)+1), last)
	if first < w.floor && w.floor <= last {
		first = w.floor                // its share includes all earlier windows
		if start >= w.floor*w.length { // otherwise the row was counted as late
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
