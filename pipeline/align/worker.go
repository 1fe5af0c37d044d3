package align

import (
	"math"
	"sync"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
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
	// Fastest and Slowest are other latencies that the window may have: of each row that it cuts the fastest requests of the row, or the
	// slowest, as many as Latencies has of it. They are nil without [Options].Bounds, and if it cuts no row.
	Fastest, Slowest *hist.Histogram
	// Unsure is how many requests may have completed on the other side of the start, and of the end. It is 0 unless rows
	// that cross the edge have another rate than the rows beside them. See [worker.doubt].
	Unsure [2]float64

	sum *sum // of Latencies, Fastest and Slowest, if no other window has these; else nil
}

// Release gives the memory of Latencies, Fastest and Slowest back for later windows, if no other window has these. They must not be used
// any more. It reports whether it did.
func (w *Window) Release() bool {
	if w.sum == nil {
		return false
	}
	w.sum.release()
	w.sum = nil
	return true
}

// sum collects one window of one key.
type sum struct {
	latencies  hist.Histogram
	cuts       bool              // rows, so there are moves
	moves      [2]hist.Histogram // see [worker.addMoves]
	packed     [3][]hist.Weight  // the latencies and moves of a cold window
	completed  float64
	start, end edge
	whole      span // from the first start to the last end of rows that are never cut, milliseconds; zero without any
}

// used has sums for reuse. The bins of a new sum take up to 15 KB, and clearing them costs more than adding the rows of a
// window.
var used sync.Pool

// newSum returns an empty sum.
func newSum(l hist.Layout) *sum {
	if s, ok := used.Get().(*sum); ok && s.latencies.Layout() == l && s.moves[0].Layout() == l && s.moves[1].Layout() == l {
		return s
	}
	return &sum{latencies: *hist.New(l), moves: [2]hist.Histogram{*hist.New(l), *hist.New(l)}}
}

// histograms returns the latencies and the moves.
func (s *sum) histograms() [3]*hist.Histogram {
	return [...]*hist.Histogram{&s.latencies, &s.moves[0], &s.moves[1]}
}

// to changes the sum to a coarser layout.
func (s *sum) to(l hist.Layout) {
	for _, h := range s.histograms() {
		if h.Layout() != l {
			*h = *h.To(l)
		}
	}
}

// release makes a sum available to [worker.at]. Nothing may use it any more.
func (s *sum) release() {
	for _, h := range s.histograms() {
		h.Reset()
	}
	*s = sum{latencies: s.latencies, moves: s.moves}
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
	for i, h := range s.histograms() {
		h.Merge(o.histograms()[i])
	}
	s.cuts = s.cuts || o.cuts
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
	bounds    bool
	open      map[int64][]*sum
	slots     int
	layout    hist.Layout
	floor     int64 // windows before this one are closed
	spans     []span
	late      float64

	given  []float64     // requests of each bin of a row that were added already; reused
	shares []hist.Weight // reused, as moves
	moves  []hist.Weight
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

// add adds a row to the windows of a slot. It returns the requests for [Stats].Late.
func (w *worker) add(slot int, row *Row) (late float64) {
	start, end := w.snap(row.Start), w.snap(row.End)
	switch {
	case row.Whole && row.At > 0:
		start, end = row.At, row.At
	case row.Whole: // the nearest edges, which are not the same
		edge := func(t int64) int64 { return max(t+w.length/2, 0) / w.length * w.length }
		start, end = edge(row.Start), edge(row.End)
		switch isBefore := row.Start+row.End < 2*start; {
		case end > start:
		case isBefore && start > 0:
			start -= w.length
		default:
			end = start + w.length
		}
	}
	first, last := w.windows(start, end)
	if last-first > maxWindows {
		first, start = last, end
	}
	switch total := int64(row.Total); {
	case row.Whole && first < last: // these windows become one
		w.spans = append(w.spans, span{max(first, w.floor), max(last, w.floor)})
	case start != end && !row.Whole && first >= w.floor: // edges of windows at which the row begins and ends, and which it crosses
		if start == first*w.length {
			w.at(first, slot).start.add(edge{n: total, miss: total * (row.Start - start)})
		}
		if end == (last+1)*w.length {
			w.at(last, slot).end.add(edge{n: total, miss: total * (row.End - end)})
		}
		for window := first; window < last; window++ {
			w.at(window, slot).end.cut, w.at(window+1, slot).start.cut = true, true
		}
	}
	if first < w.floor {
		late = float64(row.Total)
	}
	// Requests of the bins up to n count where they completed, those of the others as in flight.
	l, slow := row.Layout, row.Layout.Len()
	switch {
	case w.weighting != InFlight:
	case w.spreadAll:
		if slow = 0; l.Middle(slow) == 0 { // a life without length
			slow = 1
		}
	default:
		slow = l.Index(min(w.length, math.MaxInt64/int64(time.Millisecond)) * int64(time.Millisecond))
		if l.Middle(slow)/float64(time.Millisecond) <= float64(w.length) {
			slow++
		}
	}
	n := len(row.Bins)
	for n > 0 && int(row.Bins[n-1].Index) >= slow {
		n--
	}
	if first == last || row.Whole { // the last window has the whole row
		at := w.at(last, slot)
		at.completed += float64(row.Total)
		if row.Whole {
			at.whole = at.whole.and(span{row.Start, row.End})
		}
		at.latencies.AddBins(l, row.Bins[:n])
	} else { // the row crosses edges of windows: its requests count as completed evenly over its time
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
				if i < n {
					w.shares = append(w.shares, hist.Weight{Index: int(b.Index), Count: share})
				}
			}
			at.completed += completed
			at.latencies.AddWeights(l, w.shares)
			if w.bounds {
				w.addMoves(at, l, row.Bins[:n])
			}
		}
	}
	// The requests of the other bins are spread over the windows of their lives. The part of a life before the run's start
	// counts in the first window.
	from, to := float64(start), float64(end)
	for i := len(row.Bins) - 1; i >= n; i-- {
		b := &row.Bins[i]
		requests, life := float64(b.Count), l.Middle(int(b.Index))/float64(time.Millisecond)
		last := w.window(end)
		first := min(w.window(int64(from-life)+1), last)
		if first < w.floor && w.floor <= last {
			first = w.floor                // its share includes all earlier windows
			if start >= w.floor*w.length { // otherwise the row was counted as late
				late += quantize(requests * presence(float64(w.floor*w.length), from, to, life))
			}
		}
		given := 0.0
		for window := first; window <= last; window++ {
			upTo := requests
			if window < last {
				upTo = quantize(requests * presence(float64((window+1)*w.length), from, to, life))
			}
			if share := upTo - given; share > 0 {
				w.at(window, slot).latencies.AddWeights(l, []hist.Weight{{Index: int(b.Index), Count: share}})
				given = upTo
			}
		}
	}
	return late
}

// grid has the edges of windows: 0, length, 2*length … milliseconds.
type grid struct {
	length    int64
	tolerance int64 // times within this distance of an edge count as the edge
}

// snap moves a time close to an edge onto the edge. It is monotone, so the order of rows does not change.
func (g grid) snap(t int64) int64 {
	off := t % g.length
	switch {
	case off <= g.tolerance:
		return t - off
	case g.length-off <= g.tolerance:
		return t + g.length - off
	}
	return t
}

// window returns the index of the window of completions at time t. Windows are (start, end], like rows. The first
// window includes its start.
func (g grid) window(t int64) int64 {
	if t <= 0 {
		return 0
	}
	return (t - 1) / g.length
}

// windows returns the first and the last window of a row. snap has been applied to its times.
func (g grid) windows(start, end int64) (first, last int64) {
	last = g.window(end)
	return min(g.window(start+1), last), last
}

// presence returns the share of a request's life before time t. All arguments are in milliseconds. The request took
// life and completed somewhere in (start, end], at each moment with the same probability. Let G(y) be the integral of
// min(max(u,0),life) up to y. Then the share is (G(t-start+life) - G(t-end+life)) / (life * (end-start)).
func presence(t, start, end, life float64) float64 {
	if t >= end {
		return 1
	}
	if life <= 0 {
		if end <= start || t <= start {
			return 0
		}
		return (t - start) / (end - start)
	}
	if end <= start {
		return min(max((t-end+life)/life, 0), 1)
	}
	area := ramp(t-start+life, life) - ramp(t-end+life, life)
	return min(max(area/(life*(end-start)), 0), 1)
}

func ramp(y, life float64) float64 {
	switch {
	case y <= 0:
		return 0
	case y <= life:
		return y * y / 2
	}
	return life*life/2 + life*(y-life)
}

// quantum is the unit of fractional weights, 2^-20 of a request. Sums of its multiples are exact in a float64 up to
// 2^33 requests in a bin of a window. So results do not depend on the order in which workers add rows.
const quantum = 1.0 / (1 << 20)

func quantize(x float64) float64 { return math.Round(x/quantum) * quantum }

// stretch is a row without its bins. The zero stretch is unknown.
type stretch struct {
	start, end int64
	n          float64 // requests
	whole      bool
}

// pair is the last two rows of a direction.
type pair struct{ before, last stretch }

// doubt notes at each edge that a row crosses how many of its requests may have completed on the other side of it. A cut
// row counts as even. If its rate is that of a row beside it, that is right. If its rate lies between those of both,
// the rate changed once within the row. So at most the part on one side had the rate of the row on that side. If
// its rate is higher or lower than both, such as after a hang of one of several jobs, either part may have been like the
// row beside it, and the other part has what remains. next is the row after the pair; the zero stretch ends the stream.
func (w *worker) doubt(slots []int, d fiolog.Direction, p *pair, next stretch) {
	before, row := p.before, p.last
	p.before, p.last = row, next
	first, last := w.windows(w.snap(row.start), w.snap(row.end))
	if row.whole || first == last || last-first > maxWindows || first < w.floor {
		return
	}
	length := float64(row.end - row.start)
	// apart returns by how much the rate of the row differs from that beside it, in requests per millisecond. It is 0 if
	// that may be chance. In the gap between two rows nothing completed.
	apart := func(beside stretch, gap int64) (rate float64, known bool) {
		const enough = 0.25 // of the length of the row, for a rate
		share := float64(beside.end-beside.start+gap) / length
		if beside == (stretch{}) || share < enough {
			return 0, false
		}
		expected := beside.n / share
		if float64(gap) >= enough*length {
			expected = 0
		}
		if most := max(expected, row.n); math.Abs(row.n-expected) < max(most/3, 4*math.Sqrt(most)) {
			return 0, true
		}
		return (row.n - expected) / length, true
	}
	early, knowsEarly := apart(before, row.start-before.end)
	late, knowsLate := apart(next, next.start-row.end)
	for window := first; window < last; window++ {
		at := float64((window+1)*w.length - row.start)
		head, tail := row.n*at/length, row.n*(length-at)/length
		moved, more := math.Abs(early)*at, math.Abs(late)*(length-at)
		if early < 0 {
			moved = min(moved, tail)
		}
		if late < 0 {
			more = min(more, head)
		}
		if knowsEarly && knowsLate && early*late <= 0 {
			moved = min(moved, more)
		} else {
			moved = max(moved, more)
		}
		if moved = quantize(moved); moved > 0 {
			for _, slot := range slots {
				w.at(window, slot+int(d)).end.unsure += moved
				w.at(window+1, slot+int(d)).start.unsure += moved
			}
		}
	}
}
