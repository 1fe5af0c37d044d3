package align

import (
	"math"
	"sort"
	"time"

	"github.com/fio2es/fio2es/hist"
)

// Window is what one key's requests were like in one window of time.
type Window struct {
	Key Key
	// Start and End are milliseconds since the run's start: the window's edges or,
	// where whole rows make it up, theirs, which are a few milliseconds off; of rows
	// that differ, the mean of all their requests.
	Start, End int64
	// Elapsed is the window's nominal start, a multiple of its length (or, of windows that
	// were joined, of theirs), and Length the nominal length.
	Elapsed, Length int64
	// Latencies are the weights, before rounding. It belongs to the receiver.
	Latencies *hist.Histogram
	// Counts are the weights made whole, so that their sum over a run is exact.
	Counts []hist.Bin
	// Completed is how many requests completed in the window.
	Completed int64
}

// sum collects one window of one key.
type sum struct {
	latencies  hist.Histogram
	completed  float64
	start, end edge // where whole rows begin and end that reach the window's edges
	cut        bool // there are rows that cross them
}

// edge is by how much the rows of n requests miss an edge.
type edge struct{ n, miss int64 }

func (e *edge) add(o edge) { e.n, e.miss = e.n+o.n, e.miss+o.miss }

// mean is the mean miss in milliseconds.
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

func (s *sum) reset() {
	s.latencies.Reset()
	*s = sum{latencies: s.latencies}
}

// sums are the open windows of one worker: by window, then by slot (key and direction).
type sums struct {
	weigher
	open   map[int64][]*sum
	free   []*sum
	slots  int
	layout hist.Layout
	floor  int64 // windows before this one are closed
	late   float64

	convert     hist.Conversion // of the bins that came last
	lastingOf   hist.Layout     // whose bins
	lastingFrom int             // from this one on, less 1, are longer than a window; 0: not known yet
}

// weigher is how rows are put into windows.
type weigher struct {
	grid
	weighting Weighting
	spreadAll bool
}

func (s *sums) at(w int64, slot int) *sum {
	if w < s.floor {
		w = s.floor
	}
	slots := s.open[w]
	if slots == nil {
		slots = make([]*sum, s.slots)
		s.open[w] = slots
	}
	if slots[slot] == nil {
		slots[slot] = s.take()
	}
	return slots[slot]
}

// take is an empty sum, one that was used before if there is any.
func (s *sums) take() *sum {
	n := len(s.free)
	if n == 0 {
		return &sum{latencies: *hist.New(s.layout)}
	}
	one := s.free[n-1]
	s.free = s.free[:n-1]
	return one
}

// maxWindows is over how many windows a row may be spread. A longer one is a gap or a
// damaged time: nobody knows when in it its requests completed, so they are taken to
// have completed at its end, at no cost in memory.
const maxWindows = 1 << 10

// add puts a row into the windows.
func (s *sums) add(slot int, row *Row) {
	start, end := s.snap(row.Start), s.snap(row.End)
	last := s.window(end)
	first := min(s.window(start+1), last)
	if last-first > maxWindows {
		first, start = last, end
	}
	if first < s.floor {
		s.late += float64(row.Total)
	}
	if first == last {
		s.addWhole(slot, last, row, start, end)
		return
	}
	if last == first+1 {
		s.addCut(slot, first, row, start, end)
		return
	}
	for i := range row.Bins {
		b := &row.Bins[i]
		even := func(t float64) float64 { return presence(t, float64(start), float64(end), 0) }
		lasts := s.lasting(row.Layout, b)
		s.spread(float64(b.Count), first, last, even, func(w int64, n float64) {
			at := s.at(w, slot)
			at.completed += n
			at.cut = true
			if lasts <= 0 {
				s.addBin(at, row.Layout, b.Index, n)
			}
		})
		if lasts > 0 {
			s.addInFlight(slot, row.Layout, b, start, end, lasts)
		}
	}
}

// addCut is add for a row across one edge, as are most of those that cross any: the
// same shares as spread's, several times faster, because all bins are cut alike.
func (s *sums) addCut(slot int, first int64, row *Row, start, end int64) {
	before, after := s.at(first, slot), s.at(first+1, slot)
	share := presence(float64((first+1)*s.length), float64(start), float64(end), 0)
	for i := range row.Bins {
		b := &row.Bins[i]
		n := float64(b.Count)
		early := quantize(n * share)
		before.completed += early
		after.completed += n - early
		before.cut = before.cut || early > 0
		after.cut = after.cut || n > early
		if lasts := s.lasting(row.Layout, b); lasts > 0 {
			s.addInFlight(slot, row.Layout, b, start, end, lasts)
			continue
		}
		s.addBin(before, row.Layout, b.Index, early)
		s.addBin(after, row.Layout, b.Index, n-early)
	}
}

// addWhole is add for a row that lies in one window.
func (s *sums) addWhole(slot int, w int64, row *Row, start, end int64) {
	at := s.at(w, slot)
	total := int64(row.Total)
	at.completed += float64(total)
	if start == w*s.length && start != end {
		at.start.add(edge{total, total * (row.Start - start)})
	}
	if end == (w+1)*s.length && start != end {
		at.end.add(edge{total, total * (row.End - end)})
	}
	n := len(row.Bins)
	for n > 0 && s.lasting(row.Layout, &row.Bins[n-1]) > 0 {
		n--
	}
	at.latencies.AddBins(row.Layout, row.Bins[:n])
	for i := n; i < len(row.Bins); i++ {
		b := &row.Bins[i]
		s.addInFlight(slot, row.Layout, b, start, end, s.lasting(row.Layout, b))
	}
}

// lasting is for how many milliseconds the requests of a bin count as in flight; 0 if
// they count where they completed.
func (s *sums) lasting(l hist.Layout, b *hist.Bin) float64 {
	if s.weighting != InFlight {
		return 0
	}
	if !s.spreadAll {
		if l != s.lastingOf || s.lastingFrom == 0 {
			s.lastingOf = l
			s.lastingFrom = 1 + sort.Search(l.Len(), func(i int) bool { return lastsFor(l, i) > float64(s.length) })
		}
		if int(b.Index) < s.lastingFrom-1 {
			return 0
		}
	}
	return lastsFor(l, int(b.Index))
}

// lastsFor is the latency of a bin's requests in milliseconds.
func lastsFor(l hist.Layout, i int) float64 { return l.Middle(i) / float64(time.Millisecond) }

// addInFlight spreads a bin's requests, completed in (start, end] after life
// milliseconds, over the windows that they lived through. What lies before the run's
// start goes to its first window.
func (s *sums) addInFlight(slot int, l hist.Layout, b *hist.Bin, start, end int64, life float64) {
	from, to := float64(start), float64(end)
	first := s.window(int64(from-life) + 1)
	cdf := func(t float64) float64 { return presence(t, from, to, life) }
	if first < s.floor && s.floor <= s.window(end) {
		first = s.floor                // its share has all that lies before, too
		if start >= s.floor*s.length { // else the row is late, and was counted as that
			s.late += quantize(float64(b.Count) * cdf(float64(s.floor*s.length)))
		}
	}
	s.spread(float64(b.Count), first, s.window(end), cdf, func(w int64, n float64) {
		s.addBin(s.at(w, slot), l, b.Index, n)
	})
}

// addBin adds n requests of a bin of layout l.
func (s *sums) addBin(to *sum, l hist.Layout, index uint32, n float64) {
	own := to.latencies.Layout()
	if l.NestsIn(own) {
		i := int(index) >> (own.Coarseness() - l.Coarseness())
		if l.Groups() != own.Groups() {
			i = min(i, own.Len()-1)
		}
		to.latencies.AddAt(i, n)
		return
	}
	if m := own; !s.convert.Is(l, own) {
		if m = own.Merged(l); m != own {
			to.latencies = *to.latencies.To(m)
		}
		s.convert = hist.Convert(l, m)
	}
	s.convert.Add(&to.latencies, int(index), n)
}
