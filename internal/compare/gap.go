package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fio2es/fio2es/internal/unit"
)

// A percentile that lies between two groups of latencies, such as hits and misses of a cache, jumps from one group to
// the other with the blocks that are drawn. Its interval spans the gap, be the change large or small. The shares of requests
// above a latency do not jump.
const (
	gapReach = math.Ln2 // the logarithm of how far an interval reaches at least that spans a gap: from 1 to 2
	contrary = 0.3      // share of replicates: more of them have to agree that no share is contrary
)

// isInGap reports whether the interval of a percentile may span a gap.
func (c *Change) isInGap() bool {
	return c.Verdict == Unclear && c.Quantile() > 0 && math.Log1p(c.High)-math.Log1p(c.Low) > gapReach
}

// judgeByShare decides by the shares of requests above the percentile of the base and above that of the other side. at
// has both, and the lowest and the highest latency at which the percentile of either side may be. If the shares above
// these are contrary, the distributions cross where the percentile may be, and the verdict stays unclear. The interval
// of the verdict ends at 0.
func (c *Change) judgeByShare(a, b *pool, at []float64, replicates int, tail float64) {
	sums, more := make([]float64, replicates), make([][]float64, len(at))
	i := 0
	eachReplicate(replicates, func(rngA, rngB *rand.Rand) {
		a.draw(rngA, nil, nil)
		b.draw(rngB, nil, nil)
		for j, latency := range at {
			more[j] = append(more[j], a.drawn.Rank(latency)-b.drawn.Rank(latency))
		}
		sums[i] = more[0][i] + more[1][i]
		i++
	})
	slices.Sort(sums)
	isWorse, isBetter := quantile(sums, tail) > 0, quantile(sums, 1-tail) < 0
	for _, m := range more {
		slices.Sort(m)
		isWorse = isWorse && quantile(m, 1-contrary) >= 0
		isBetter = isBetter && quantile(m, contrary) <= 0
	}
	switch {
	case isWorse:
		c.Verdict, c.Low = Worse, 0
	case isBetter:
		c.Verdict, c.High = Better, 0
	default:
		return
	}
	c.Why = fmt.Sprintf("%s is %s by the share of requests above it, because it lies between two groups of latencies: above %s are %s of the base, and %s of the other side",
		c.Metric, c.Verdict, c.BaseText(), shareAbove(a, c.Base), shareAbove(b, c.Base))
}

// shareAbove is the share of requests of a side above a latency, for people.
func shareAbove(p *pool, ns float64) string {
	return unit.Percent(1-p.whole.Rank(ns), p.whole.Total())
}
