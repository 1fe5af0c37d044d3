package compare

import (
	"math/rand/v2"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

// pool has the blocks of a side in a form from which drawing is fast: the counts of each block, in the bins that at
// least one block uses.
type pool struct {
	runs      []span // the blocks of each run
	bins      []int
	counts    [][]float64 // by block, then by used bin
	completed []float64
	ms        []float64

	whole                    hist.Histogram
	allCompleted, allElapsed float64

	// The replicate that is drawn.
	times []float64 // how often each block was drawn
	sums  []float64 // by used bin
	drawn *hist.Histogram
}

type span struct{ from, to int }

func newPool(side []*Series) *pool {
	p := &pool{}
	var all []block
	for _, s := range side {
		from := len(all)
		all = append(all, s.blocks()...)
		p.runs = append(p.runs, span{from, len(all)})
	}
	for i := range all {
		b := &all[i]
		p.whole.Merge(&b.latency)
		p.completed, p.ms = append(p.completed, float64(b.completed)), append(p.ms, float64(b.ms))
		p.allCompleted += float64(b.completed)
		p.allElapsed += float64(b.ms)
	}
	place := make([]int, p.whole.Layout().Len())
	for i := range p.whole.All() {
		place[i] = len(p.bins)
		p.bins = append(p.bins, i)
	}
	for i := range all {
		h := &all[i].latency
		if h.Layout() != p.whole.Layout() {
			h = h.To(p.whole.Layout())
		}
		counts := make([]float64, len(p.bins))
		for i, n := range h.All() {
			counts[place[i]] = n
		}
		p.counts = append(p.counts, counts)
	}
	p.times, p.sums, p.drawn = make([]float64, len(all)), make([]float64, len(p.bins)), hist.New(p.whole.Layout())
	return p
}

// values returns the metrics of the side itself.
func (p *pool) values(metrics []window.Metric) []float64 {
	return appendValues(nil, metrics, &p.whole, p.allCompleted, p.allElapsed)
}

// draw draws a replicate and appends its metrics: as many runs as the side has, and as many blocks of each as it
// has.
func (p *pool) draw(rng *rand.Rand, metrics []window.Metric, dst []float64) []float64 {
	clear(p.times)
	for range p.runs {
		run := p.runs[rng.IntN(len(p.runs))]
		for range run.to - run.from {
			p.times[run.from+rng.IntN(run.to-run.from)]++
		}
	}
	return p.sum(metrics, dst)
}

// sum appends the metrics of the blocks, each counted times[i] times.
func (p *pool) sum(metrics []window.Metric, dst []float64) []float64 {
	clear(p.sums)
	completed, ms := 0.0, 0.0
	for i, times := range p.times {
		if times == 0 {
			continue
		}
		completed += times * p.completed[i]
		ms += times * p.ms[i]
		sums := p.sums[:len(p.counts[i])] // avoids a bounds check for each bin
		for j, n := range p.counts[i] {
			sums[j] += times * n
		}
	}
	p.drawn.Reset()
	for i, n := range p.sums {
		p.drawn.AddAt(p.bins[i], n)
	}
	return appendValues(dst, metrics, p.drawn, completed, ms)
}

// appendValues appends all metrics, in requests per second or nanoseconds.
func appendValues(dst []float64, metrics []window.Metric, h *hist.Histogram, completed, ms float64) []float64 {
	for _, m := range metrics {
		v := completed * 1000 / ms
		if m != window.IOPS {
			v = m.Of(h).Value
		}
		dst = append(dst, v)
	}
	return dst
}
