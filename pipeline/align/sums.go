package align

import (
	"maps"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
)

// sums are the open windows of all workers, by slot.
type sums struct {
	workers []*worker
	cold    map[int64][]*sum // packed windows
	layout  hist.Layout
	known   bool // the layout is that of rows
}

func newSums(opt Options, slots, streams int) sums {
	s := sums{cold: map[int64][]*sum{}}
	count := opt.Workers
	if count <= 0 {
		count = runtime.GOMAXPROCS(0)
	}
	for range min(count, max(streams, 1)) {
		s.workers = append(s.workers, &worker{
			grid:      grid{opt.Window, min(max(opt.Tolerance, 0), opt.Window/2)},
			weighting: opt.Weighting, spreadAll: opt.SpreadAll,
			open: map[int64][]*sum{}, slots: slots,
		})
	}
	return s
}

// widen changes to a layout to which the bins of all next rows can be added.
func (s *sums) widen(streams []*Stream) {
	l := s.layout
	for _, of := range streams {
		switch {
		case !of.more:
		case !s.known:
			l, s.known = of.row.Layout, true
		default:
			l = l.Merged(of.row.Layout)
		}
	}
	s.rebin(l)
}

// rebin changes to a coarser layout. It first adds up the open sums of all workers. If each were converted by itself,
// the fractions would depend on which worker read which row.
func (s *sums) rebin(l hist.Layout) {
	if l == s.layout {
		return
	}
	s.layout = l
	one := s.workers[0]
	for _, w := range s.workers {
		w.layout = l
		for at := range w.open {
			if w != one {
				one.open[at] = w.addTo(one.open[at], at)
			}
		}
	}
	for _, slots := range one.open {
		for _, o := range slots {
			if o != nil {
				o.latencies = *o.latencies.To(l)
			}
		}
	}
}

// isBefore reports whether a window ends before a time.
func (s *sums) isBefore(at, mark int64) bool {
	g := s.workers[0].grid
	return mark == math.MaxInt64 || (at+1)*g.length+g.tolerance < mark
}

// before returns the windows that end before a time, in order.
func (s *sums) before(mark int64) []int64 {
	all := map[int64]bool{}
	add := func(open map[int64][]*sum) {
		for at := range open {
			if s.isBefore(at, mark) {
				all[at] = true
			}
		}
	}
	add(s.cold)
	for _, w := range s.workers {
		add(w.open)
	}
	return slices.Sorted(maps.Keys(all))
}

// lastOf returns the last of the windows that become one with the window at, or at itself.
func (s *sums) lastOf(at int64) int64 {
	for last := at; ; at = last {
		for _, w := range s.workers {
			w.spans = slices.DeleteFunc(w.spans, func(of span) bool { return of.last < w.floor })
			for _, of := range w.spans {
				if of.first <= last && at <= of.last {
					last = max(last, of.last)
				}
			}
		}
		if last == at {
			return last
		}
	}
}

// join adds the sums of a later window to those of windows before it. The result starts with the first and ends with the
// later one.
func join(total, later []*sum) []*sum {
	for _, of := range total {
		if of != nil {
			of.end = edge{}
		}
	}
	for i, o := range later {
		if o == nil {
			continue
		}
		if o.start = (edge{}); total[i] == nil {
			total[i] = o
			continue
		}
		total[i].merge(o)
		o.release()
	}
	return total
}

// take removes the sums of a window from all workers and adds them up.
func (s *sums) take(at int64) []*sum {
	total := s.cold[at]
	delete(s.cold, at)
	for _, of := range total {
		if of != nil {
			of.unpack()
		}
	}
	for _, w := range s.workers {
		total = w.addTo(total, at)
	}
	return total
}

// cool packs the windows that end before a time.
func (s *sums) cool(mark int64) {
	for _, at := range s.before(mark) {
		if slices.ContainsFunc(s.workers, func(w *worker) bool { return w.open[at] != nil }) { // else it is already cold
			total := s.take(at)
			for _, of := range total {
				if of != nil {
					of.pack()
				}
			}
			s.cold[at] = total
		}
	}
}

// A rebuilt fio with more groups has bins for requests of minutes, so windows stay open for minutes. Few rows reach so
// far back. So a window becomes cold after 17 s. Then the sums of all workers are added up and only the bins that are
// not zero stay in memory. Later requests go to new sums. When the window ends, all sums are added up.

const (
	// usualReach is the longest latency of a released fio, in milliseconds. It is the shortest reach of any layout
	// here.
	usualReach = 17_180

	// longestReach limits how far back requests of any layout are spread, in milliseconds.
	longestReach = 600_000

	// longestWindows is the same limit as a number of windows, for short windows.
	longestWindows = 1 << 13
)

// reachOf returns how far back the slowest requests of a layout reach, in milliseconds.
func reachOf(l hist.Layout) int64 {
	return max((l.Reach()-1)/int64(time.Millisecond)+1, usualReach)
}

// pack drops the bins that are zero. It does not pack requests that were spread over bins of another layout, because
// only their histogram records that.
func (s *sum) pack() {
	if !s.latencies.Rebinned() {
		s.packed = s.latencies.Weights()
		s.latencies = *hist.New(s.latencies.Layout())
	}
}

func (s *sum) unpack() {
	for _, b := range s.packed {
		s.latencies.AddAt(b.Index, b.Count)
	}
	s.packed = nil
}
