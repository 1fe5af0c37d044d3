package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
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
