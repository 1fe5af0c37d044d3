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

// pack keeps only the bins that are not zero. Requests that were spread over bins of another
// layout stay as they are: their histogram records that.
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
