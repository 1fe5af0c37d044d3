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
	grains  []grain
	each    int // windows that a grain takes
	windows int
	start   int64 // of the last window
}

// grain is one or several windows that follow one another. Blocks are cut between grains.
type grain struct {
	start, end int64
	windows    int
	completed  int64
	latency    hist.Histogram
}

// Add adds the next window and the histogram of its requests; nil of none. Windows come in order of
// time.
func (s *Series) Add(w *window.Window, requests *hist.Histogram) {
	s.each = max(s.each, 1)
	if n := len(s.grains); n == 0 || s.grains[n-1].windows == s.each {
		if n == maxGrains {
			s.join()
		}
		s.grains = append(s.grains, grain{start: w.ElapsedMS})
	}
	last := &s.grains[len(s.grains)-1]
	last.windows++
	last.add(w, requests)
	s.windows++
	s.start = w.ElapsedMS
}

// EndBy sets when the run ended, in milliseconds since its start. The last window may be longer.
func (s *Series) EndBy(ms int64) {
	if s.windows > 0 && ms > s.start {
		last := &s.grains[len(s.grains)-1]
		last.end = min(last.end, ms)
	}
}

// join joins each two grains to one.
func (s *Series) join() {
	half := len(s.grains) / 2
	for i := range half {
		one, next := s.grains[2*i], &s.grains[2*i+1]
		one.windows += next.windows
		one.end = max(one.end, next.end)
		one.completed += next.completed
		one.latency.Merge(&next.latency)
		s.grains[i] = one
	}
	clear(s.grains[half:])
	s.grains = s.grains[:half]
	s.each *= 2
}

func (g *grain) add(w *window.Window, requests *hist.Histogram) {
	g.end = max(g.end, w.ElapsedMS+w.Length().Milliseconds())
	g.completed += w.Completed
	if requests != nil {
		g.latency.Merge(requests)
	}
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
	n := len(s.grains)
	out := make([]block, min(maxBlocks, max(n/inBlock, min(n, fewBlocks))))
	for i := range out {
		from, to := i*n/len(out), (i+1)*n/len(out)
		b := &out[i]
		for j := from; j < to; j++ {
			b.completed += s.grains[j].completed
			b.latency.Merge(&s.grains[j].latency)
		}
		end := s.grains[to-1].end
		if to < n {
			end = s.grains[to].start
		}
		b.ms = end - s.grains[from].start
	}
	return out
}
