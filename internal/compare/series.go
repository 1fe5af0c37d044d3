package compare

import (
	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

const (
	maxBlocks = 30             // of a run
	fewBlocks = 10             // of a short one
	inBlock   = 4              // windows at least, except in short runs: neighbours are correlated
	maxGrains = 32 * maxBlocks // even
)

// Series is the windows of a run in one direction. It keeps up to 960 windows, and joins neighbours
// if there are more, so a day of seconds takes no more memory. The zero value is empty.
type Series struct {
	grains  *window.Columns[grain] // by the number of the window
	windows int
	start   int64   // of the last window
	cut     []block // the blocks, when all windows are there; then there are no grains
}

// grain is one or several windows that follow one another. Blocks are cut between grains.
type grain struct {
	start, end int64
	completed  int64
	latency    hist.Histogram
}

// Add adds the next window and the histogram of its requests; nil of none. Windows come in order of
// time.
func (s *Series) Add(w *window.Window, requests *hist.Histogram) {
	if s.windows == 0 {
		s.grains = window.NewColumns(maxGrains, (*grain).merge)
	}
	g := s.grains.At(int64(s.windows))
	if g.end == 0 {
		g.start = w.ElapsedMS
	}
	g.end = max(g.end, w.ElapsedMS+w.Length().Milliseconds())
	g.completed += w.Completed
	if requests != nil {
		g.latency.Merge(requests)
	}
	s.windows++
	s.start = w.ElapsedMS
}

func (g *grain) merge(next *grain) {
	g.end = max(g.end, next.end)
	g.completed += next.completed
	g.latency.Merge(&next.latency)
}

// EndBy sets when the run ended, in milliseconds since its start. The last window may be longer. No window can be
// added any more, and blocks are all that is kept, so that many runs fit into memory.
func (s *Series) EndBy(ms int64) {
	if s.windows > 0 && ms > s.start {
		last := s.grains.All()[len(s.grains.All())-1]
		last.end = min(last.end, ms)
	}
	s.cut, s.grains = s.blocks(), nil
}

// block is a part of a run that is drawn as a whole.
type block struct {
	ms        int64 // up to the next block, with the times between windows
	completed int64
	latency   hist.Histogram
}

// blocks cuts the run into blocks of equally many windows, up to one (of more than 960 windows: up to
// a sixteenth). There are 30 blocks, or fewer so that each has four windows, but at least ten if there
// are ten windows.
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
