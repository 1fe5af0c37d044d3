package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
)

// A percentile may lie between two groups of latencies, such as hits and misses of a cache. Then it jumps from one
// group to the other, depending on the blocks that are drawn. So its interval spans the gap, even if the change is small.
// The shares of requests above a latency do not jump.
const (
	gapReach = math.Ln2 // an interval spans a gap if it is at least this wide, as a logarithm: from 1 to 2
	contrary = 0.3      // less than this share of the replicates may contradict
)

// isInGap reports whether the interval of a percentile may span a gap.
func (c *Change) isInGap() bool {
	return c.Verdict == Unclear && c.Quantile() > 0 && math.Log1p(c.High)-math.Log1p(c.Low) > gapReach
}

// judgeByShare decides by the shares of requests above the percentile of each side. at has these two percentiles,
// and the lowest and the highest latency at which the percentile of either side may be. If the shares above these
// four contradict one another, the distributions cross in that range, and the verdict stays unclear. If it decides,
// the interval ends at 0. Why gets the share above the percentile of the base, whose interval is narrow.
func (c *Change) judgeByShare(a, b *pool, at []float64, replicates int, tail float64) {
	sums, more := make([]float64, replicates), make([][]float64, len(at))
	var logs []float64 // share above the percentile of the base, other/base
	wholeA, wholeB := above(&a.whole, at), above(&b.whole, at)
	stretchA, stretchB := a.stretchesAbove(at), b.stretchesAbove(at)
	i := 0
	eachReplicate(replicates, func(rngA, rngB *rand.Rand) {
		a.draw(rngA, nil, nil)
		b.draw(rngB, nil, nil)
		of, with := above(a.drawn, at), above(b.drawn, at)
		for j := range at {
			of[j], with[j] = farther(wholeA[j], of[j], stretchA[j]), farther(wholeB[j], with[j], stretchB[j])
			more[j] = append(more[j], with[j]-of[j])
		}
		logs = append(logs, math.Log(with[0]/of[0]))
		sums[i] = more[0][i] + more[1][i]
		i++
	})
	slices.Sort(sums)
	slices.Sort(logs)
	isWorse, isBetter := quantile(sums, tail) > 0, quantile(sums, 1-tail) < 0
	for _, m := range more {
		slices.Sort(m)
		isWorse = isWorse && quantile(m, 1-contrary) >= 0
		isBetter = isBetter && quantile(m, contrary) <= 0
	}
	decided := ""
	switch {
	case isWorse:
		c.Verdict, c.Low = Worse, 0
	case isBetter:
		c.Verdict, c.High = Better, 0
	}
	if isWorse || isBetter {
		decided = fmt.Sprintf("; it is %s by the share of requests above it", c.Verdict)
	}
	before, after := wholeA[0], wholeB[0]
	c.Why = fmt.Sprintf("%s may lie between two groups of latencies, so its interval is wide%s: %s of the base's requests are above %s, and %s of the other side's",
		c.Metric, decided, unit.Percent(before, a.whole.Total()), c.BaseText(), unit.Percent(after, b.whole.Total()))
	if isKnown := !math.IsNaN(logs[0]) && !math.IsInf(logs[0], 0) && !math.IsInf(logs[replicates-1], 0); isKnown {
		c.Why += fmt.Sprintf(", %s %% (%s … %s %%)", signed(after/before-1),
			signed(math.Expm1(quantile(logs, tail))), signed(math.Expm1(quantile(logs, 1-tail))))
	}
}

// above returns the share of requests above each latency.
func above(h *hist.Histogram, latencies []float64) []float64 {
	shares := make([]float64, len(latencies))
	for i, latency := range latencies {
		shares[i] = 1 - h.Rank(latency)
	}
	return shares
}

func (p *pool) stretchesAbove(latencies []float64) []float64 {
	return p.stretchesOf(func() []float64 {
		p.sum(nil, nil)
		return above(p.drawn, latencies)
	})
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

// maxNeighbours limits the correlation of neighbouring blocks. So intervals get at most twice as wide, even for a
// run that slows down all the time, where all neighbours are alike.
const maxNeighbours = 0.6

// stretches returns for each metric a factor for the distance between replicates and the value of the side. It
// corrects that replicates have independent blocks, although neighbouring blocks of the run are alike.
func (p *pool) stretches(metrics []window.Metric) []float64 {
	return p.stretchesOf(func() []float64 { return p.sum(metrics, nil) })
}

// stretchesOf returns these factors for the values that a function computes of drawn blocks. The number of a block
// is the value of all other blocks (the jackknife).
func (p *pool) stretchesOf(values func() []float64) []float64 {
	for i := range p.times {
		p.times[i] = 1
	}
	without := make([][]float64, len(p.times)) // by block, then by value
	for i := range p.times {
		p.times[i] = 0
		without[i] = values()
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

// farther stretches the distance of a replicate from the value of the side, on the scale of ratios.
func farther(value, drawn, stretch float64) float64 {
	if value == 0 {
		return drawn
	}
	return value * math.Pow(drawn/value, stretch)
}
