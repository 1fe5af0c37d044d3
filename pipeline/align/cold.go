package align

import (
	"time"

	"github.com/fio2es/fio2es/hist"
)

// A rebuilt fio with more groups has bins for requests of minutes, which keep windows open
// for as long. Few rows reach that far back. So a window that is 17 s behind becomes cold:
// the sums of all workers are added up and keep only the bins that are not zero, which takes
// a fraction of the memory. Later requests go to new sums, and all are added up at the end.

const (
	// usualReach is the longest request of a fio as released, in milliseconds, and the least
	// that is reckoned with.
	usualReach = 17_180

	// longestReach bounds how far back requests of any layout are spread.
	longestReach = 600_000

	// longestWindows is the same in windows, where they are short.
	longestWindows = 1 << 13
)

// reachOf returns how far back the slowest requests of a layout reach, in milliseconds.
func reachOf(l hist.Layout) int64 {
	return max((l.Reach()-1)/int64(time.Millisecond)+1, usualReach)
}

// longest returns how far back requests are spread, in milliseconds.
func (m *merger) longest() int64 {
	return min(longestReach, max(usualReach, longestWindows*m.opt.Window))
}

// cool packs the windows that only requests beyond usualReach can still change.
func (m *merger) cool() {
	if m.watermark(m.longest()) == m.watermark(usualReach) {
		return
	}
	for _, at := range m.openBefore(m.watermark(usualReach)) {
		total := m.joined(at) // the list has some windows twice; the second time only cold sums are left
		m.cold[at] = make([]*sum, len(total))
		for i, s := range total {
			if s != nil {
				m.cold[at][i] = s.pack()
				s.release()
			}
		}
	}
}

// pack returns a copy with only the bins that are not zero. Requests that were spread over
// bins of another layout stay as they are: their histogram records that.
func (s *sum) pack() *sum {
	p := *s
	if s.latencies.Rebinned() {
		p.latencies = *s.latencies.Clone()
	} else {
		p.packed, p.latencies = s.latencies.Weights(), *hist.New(s.latencies.Layout())
	}
	return &p
}

// unpack adds a packed sum to an empty one and returns that.
func (s *sum) unpack(empty *sum) *sum {
	empty.merge(s)
	empty.latencies.AddWeights(s.latencies.Layout(), s.packed)
	return empty
}
