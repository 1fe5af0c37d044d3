package compare

import (
	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

const (
	maxBlocks = 30             // most blocks of a run
	fewBlocks = 10             // most blocks of a short run
	inBlock   = 4              // fewest windows in a block, except in short runs, because neighbours are correlated
	maxGrains = 32 * maxBlocks // an even number
)

// Series has the windows of a run in one direction. It keeps up to 960 grains and joins neighbours if there are
// more, so a day of one-second windows takes no more memory. The zero value is empty.
type Series struct {
	grains  *window.Columns[grain] // by the number of the window
	windows int
	start   int64   // of the last window, in milliseconds since the run's start
	cut     []block // the blocks, after all windows are added; the grains are dropped then
}

// grain is one window, or several consecutive ones. Blocks end where grains end.
type grain struct {
	start, end int64
	completed  int64
	latency    hist.Histogram
}

// Add adds the next window and the histogram of its requests, or nil without requests. Windows come in order of
// time.
func (s *Series) Add(w *window.Window, requests *hist.Histogram) {
	if s.windows == 0 {
		s.grains = window.NewColumns(maxGrains, (*grain).merge)
	}
	g := s.grains.At(int64(s.windows))
	if g.end == 0 {
		g.start = w.StartMS() // the nominal start may be later, and is not what runs and reports divide by
	}
	g.end = max(g.end, w.EndMS())
	g.completed += w.Completed
	if requests != nil {
		g.latency.Merge(requests)
	}
	s.windows++
	s.start = w.StartMS()
}

func (g *grain) merge(next *grain) {
	g.end = max(g.end, next.end)
	g.completed += next.completed
	g.latency.Merge(&next.latency)
}

// completed returns the number of requests of all windows.
func (s *Series) completed() (n int64) {
	for _, g := range s.grains.All() {
		n += g.completed
	}
	return n
}

// EndBy sets when the run ended, in milliseconds since its start, because the last window may be longer. If lasted is not
// 0, it is the time from the start of the first window to the end of the last. After that no window can be added, and
// only blocks are kept, so that many runs fit into memory.
func (s *Series) EndBy(ms, lasted int64) {
	if s.windows > 0 {
		all := s.grains.All()
		last := all[len(all)-1]
		switch end := all[0].start + lasted; {
		case end > s.start && lasted > 0:
			last.end = end
		case ms > s.start:
			last.end = min(last.end, ms)
		}
	}
	s.cut, s.grains = s.blocks(), nil
}

// block is a part of a run that is drawn as a unit.
type block struct {
	ms        int64 // length up to the next block, including gaps between windows
	completed int64
	latency   hist.Histogram
}

// blocks cuts the run into blocks of equal numbers of windows. The numbers differ by at most one window; if there
// are more than 960 windows, by up to a sixteenth. There are up to 30 blocks with at least four windows each. If
// that would be fewer than ten blocks, there are ten, or as many as there are windows.
func (s *Series) blocks() []block {
	if s.windows == 0 || s.cut != nil {
		return s.cut
	}
	grains := s.grains.All()
	n := len(grains)
	out := make([]block, min(maxBlocks, max(n/inBlock, min(n, fewBlocks))))
	for i := range out {
		from, to := i*n/len(out), (i+1)*n/len(out)
		b := &out[i]
		for _, g := range grains[from:to] {
			b.completed += g.completed
			b.latency.Merge(&g.latency)
		}
		end := grains[to-1].end
		if to < n {
			end = grains[to].start
		}
		b.ms = end - grains[from].start
	}
	return out
}
