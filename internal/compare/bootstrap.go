package compare

import (
	"math"
	"math/rand/v2"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
)

// requests are those of some blocks of a side.
type requests struct {
	latency              *hist.Histogram
	completed, bytes, ms float64 // bytes are NaN if they are not known
}

type statistic func(requests) []float64

// metricsOf returns the statistic of metrics, in requests or bytes per second, or nanoseconds.
func metricsOf(metrics []facts.Metric) statistic {
	return func(r requests) (values []float64) {
		for _, m := range metrics {
			switch m {
			case facts.IOPS:
				values = append(values, r.completed*1000/r.ms)
			case facts.Bandwidth:
				values = append(values, r.bytes*1000/r.ms)
			default:
				values = append(values, m.Of(r.latency).Value)
			}
		}
		return values
	}
}

func sharesAbove(latencies []float64) statistic {
	return func(r requests) (shares []float64) {
		total := r.latency.Total()
		for _, latency := range latencies {
			within, _, _ := r.latency.CountWithin(latency)
			shares = append(shares, 1-within/total)
		}
		return shares
	}
}

// replicates draws both sides n times. It returns the numbers of a statistic, by number and then by replicate. The seeds
// are fixed, so the result is always the same. The distance of a replicate from the value of its side is stretched
// ([pool.stretches]), on the scale of ratios.
func replicates(a, b *pool, n int, of statistic) (base, other [][]float64) {
	draw := func(p *pool, seed uint64) (drawn [][]float64) {
		whole, stretches := of(p.whole), p.stretches(of)
		drawn = make([][]float64, len(whole))
		rng := rand.New(rand.NewPCG(1, seed))
		for range n {
			for i, v := range of(p.draw(rng)) {
				if whole[i] != 0 {
					v = whole[i] * math.Pow(v/whole[i], stretches[i])
				}
				drawn[i] = append(drawn[i], v)
			}
		}
		return drawn
	}
	return draw(a, 1), draw(b, 2)
}

// pool has the blocks of a side in a form from which drawing is fast: the counts of each block, in the bins that at
// least one block uses.
type pool struct {
	runs      []span // the blocks of each run
	bins      []int
	counts    [][]float64 // by block, then by used bin
	completed []float64
	bytes     []float64
	ms        []float64

	whole requests // of the side itself

	// The replicate that is drawn.
	times []float64 // how often each block was drawn
	sums  []float64 // by used bin
	drawn *hist.Histogram
}

type span struct{ from, to int }

func newPool(side []*series) *pool {
	p := &pool{whole: requests{latency: &hist.Histogram{}}}
	var all []block
	for _, s := range side {
		from := len(all)
		all = append(all, s.blocks()...)
		for _, b := range all[from:] {
			p.bytes = append(p.bytes, float64(b.completed)*s.size())
			p.whole.bytes += float64(b.completed) * s.size()
		}
		p.runs = append(p.runs, span{from, len(all)})
	}
	for i := range all {
		b := &all[i]
		p.whole.latency.Merge(&b.latency)
		p.completed, p.ms = append(p.completed, float64(b.completed)), append(p.ms, float64(b.ms()))
		p.whole.completed += float64(b.completed)
		p.whole.ms += float64(b.ms())
	}
	layout := p.whole.latency.Layout()
	place := make([]int, layout.Len())
	for i := range p.whole.latency.All() {
		place[i] = len(p.bins)
		p.bins = append(p.bins, i)
	}
	for i := range all {
		h := &all[i].latency
		if h.Layout() != layout {
			h = h.To(layout)
		}
		counts := make([]float64, len(p.bins))
		for i, n := range h.All() {
			counts[place[i]] = n
		}
		p.counts = append(p.counts, counts)
	}
	p.times, p.sums, p.drawn = make([]float64, len(all)), make([]float64, len(p.bins)), hist.New(layout)
	return p
}

// draw draws a replicate: as many runs as the side has, and as many blocks of each as it has. It is valid until the next
// one.
func (p *pool) draw(rng *rand.Rand) requests {
	clear(p.times)
	for range p.runs {
		run := p.runs[rng.IntN(len(p.runs))]
		for range run.to - run.from {
			p.times[run.from+rng.IntN(run.to-run.from)]++
		}
	}
	return p.sum()
}

// sum returns the requests of the blocks, each counted times[i] times.
func (p *pool) sum() requests {
	clear(p.sums)
	r := requests{latency: p.drawn}
	for i, times := range p.times {
		if times == 0 {
			continue
		}
		r.completed += times * p.completed[i]
		r.bytes += times * p.bytes[i]
		r.ms += times * p.ms[i]
		sums := p.sums[:len(p.counts[i])] // avoids a bounds check for each bin
		for j, n := range p.counts[i] {
			sums[j] += times * n
		}
	}
	p.drawn.Reset()
	for i, n := range p.sums {
		p.drawn.AddAt(p.bins[i], n)
	}
	return r
}

// maxNeighbours limits the correlation of neighbouring blocks. So intervals get at most twice as wide, even for a
// run that slows down all the time, where all neighbours are alike.
const maxNeighbours = 0.6

// stretches returns for each number of a statistic a factor for the distance between replicates and the value of the
// side. It corrects that replicates have independent blocks, although neighbouring blocks of the run are alike. The
// number of a block is the value of all other blocks (the jackknife).
func (p *pool) stretches(of statistic) []float64 {
	for i := range p.times {
		p.times[i] = 1
	}
	without := make([][]float64, len(p.times)) // by block, then by number
	for i := range p.times {
		p.times[i] = 0
		without[i] = of(p.sum())
		p.times[i] = 1
	}
	list := make([]float64, len(without[0]))
	for i := range list {
		r := min(neighbours(p.runs, func(block int) float64 { return without[block][i] }), maxNeighbours)
		list[i] = math.Sqrt((1 + r) / (1 - r))
	}
	return list
}

// neighbours returns the correlation (0 … 1) of the numbers of consecutive blocks of a run.
func neighbours(runs []span, of func(block int) float64) float64 {
	var together, alone float64
	for _, run := range runs {
		mean := 0.0
		for i := run.from; i < run.to; i++ {
			mean += of(i) / float64(run.to-run.from)
		}
		for i := run.from; i < run.to; i++ {
			alone += (of(i) - mean) * (of(i) - mean)
			if i > run.from {
				together += (of(i) - mean) * (of(i-1) - mean)
			}
		}
	}
	if r := together / alone; r > 0 { // false for NaN, if all numbers are equal
		return r
	}
	return 0
}

// studentT returns the t for which Student's distribution lies between -t and t with probability confidence (0 … 1):
// t(1-alpha/2) for confidence 1-alpha. It finds the angle theta = atan(t/sqrt(freedom)) by bisection, to the last
// bit.
func studentT(confidence float64, freedom int) float64 {
	low, high := 0.0, math.Pi/2
	for range 60 {
		if middle := (low + high) / 2; studentWithin(middle, freedom) < confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(float64(freedom)) * math.Tan((low+high)/2)
}

// studentWithin returns the probability of |t| < sqrt(freedom)*tan(theta). For whole degrees of freedom it is a
// finite sum (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4).
func studentWithin(theta float64, freedom int) float64 {
	sin, cos := math.Sincos(theta)
	term, first := 1.0, 2
	if freedom%2 == 1 {
		term, first = cos, 3
	}
	sum := term
	for i := first; i <= freedom-2; i += 2 {
		term *= cos * cos * float64(i-1) / float64(i)
		sum += term
	}
	switch {
	case freedom == 1:
		return 2 / math.Pi * theta
	case freedom%2 == 1:
		return 2 / math.Pi * (theta + sin*sum)
	}
	return sin * sum
}

// tailOf returns the share of replicates beyond each end of the interval for a number of blocks: alpha'/2 in the
// package comment.
func tailOf(confidence float64, blocks int) float64 {
	k := float64(blocks)
	return math.Erfc(math.Sqrt(k/(k-1))*studentT(confidence, blocks-1)/math.Sqrt2) / 2
}
