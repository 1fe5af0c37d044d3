package align

import (
	"time"

	"github.com/fio2es/fio2es/hist"
)

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
