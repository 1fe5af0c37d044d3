package align

import (
	"time"

	"github.com/fio2es/fio2es/hist"
)

// Requests of minutes, which a fio that was rebuilt with more groups has bins for, keep
// windows open for as long. But hardly any row reaches back so far: so after the 17 s that
// all windows stay open they become cold. A cold window has the sums of all workers joined,
// and only its bins that are not zero: a fraction of the memory. What still comes for it goes
// to new sums, which are joined in the end.

const (
	// usualReach is how far back requests reach in milliseconds where fio was not rebuilt,
	// and the least that is reckoned with.
	usualReach = 17_180

	// longestReach is how far back requests of any layout are followed.
	longestReach = 600_000

	// longestWindows is the same in windows, where they are short.
	longestWindows = 1 << 13
)

// reachOf is how far back the slowest requests of a layout reach, in milliseconds.
func reachOf(l hist.Layout) int64 {
	return max((l.Reach()-1)/int64(time.Millisecond)+1, usualReach)
}

// longest is how far back any request is followed.
func (m *merger) longest() int64 {
	return min(longestReach, max(usualReach, longestWindows*m.opt.Window))
}

// coldWindow is a window's sums by slot.
type coldWindow []coldSum

// coldSum is a sum without the memory of its latencies, which stand in bins.
type coldSum struct {
	sum
	layout hist.Layout
	bins   []hist.Weight
}

// cool makes windows cold that usual requests can no longer reach.
func (m *merger) cool() {
	if m.watermark(m.longest()) == m.watermark(usualReach) {
		return
	}
	for _, at := range m.openBefore(m.watermark(usualReach)) {
		total := m.joined(at) // of those that come twice, nothing is open the second time
		packed := make(coldWindow, len(total))
		for slot, s := range total {
			if s != nil {
				packed[slot] = s.pack()
			}
		}
		m.cold[at] = packed
		m.recycle(total)
	}
}

// warm adds what is cold of a window to its sums, which may be none.
func (m *merger) warm(at int64, total []*sum) []*sum {
	packed, ok := m.cold[at]
	if !ok {
		return total
	}
	delete(m.cold, at)
	if total == nil {
		total = make([]*sum, len(packed))
	}
	for slot := range packed {
		p := &packed[slot]
		switch {
		case p.bins == nil && p.sum.isZero():
		case total[slot] == nil:
			total[slot] = m.workers[0].take()
			fallthrough
		default:
			m.workers[0].unpack(total[slot], p)
		}
	}
	return total
}

// pack is a copy of the sum that takes little memory. Where requests were spread over bins
// of another layout it is the sum itself: then to be exact takes its histogram.
func (s *sum) pack() coldSum {
	if s.latencies.Rebinned() {
		return coldSum{sum: sum{latencies: *s.latencies.Clone(), completed: s.completed, start: s.start, end: s.end, cut: s.cut}}
	}
	return coldSum{
		sum:    sum{completed: s.completed, start: s.start, end: s.end, cut: s.cut},
		layout: s.latencies.Layout(), bins: s.latencies.Weights(),
	}
}

// unpack adds what was packed.
func (s *sums) unpack(to *sum, p *coldSum) {
	to.merge(&p.sum)
	for _, b := range p.bins {
		s.addBin(to, p.layout, uint32(b.Index), b.Count)
	}
}

// isZero reports whether nothing was added to the sum.
func (s *sum) isZero() bool {
	return s.latencies.IsEmpty() && s.completed == 0 && !s.cut && s.start == edge{} && s.end == edge{}
}
