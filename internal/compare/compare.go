package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

const (
	minBlocks     = 8 // of a side: fewer say too little about how they differ
	minReplicates = 1000
	maxReplicates = 10_000
	inTail        = 10 // replicates beyond each end of the interval, if there are enough
)

// Verdict is the verdict on a change.
type Verdict string

// The verdicts.
const (
	Worse   Verdict = "worse"
	Better  Verdict = "better"
	Same    Verdict = "same"    // 0 is in the interval, which is narrow: no change larger than its bounds
	Unclear Verdict = "unclear" // 0 is in the interval, which is too wide to say more
	Unknown Verdict = "unknown" // there is no interval
)

// Options say what is compared, and how sure the answer has to be.
type Options struct {
	Metrics    []window.Metric
	Confidence float64 // of the intervals, such as 0.95
	Within     float64 // an interval with 0 in it is narrow where it lies between -Within and +Within
}

// Within is the Within of Options by default.
const Within = 0.10

// Change is how a metric of one side differs from that of the baseline.
type Change struct {
	window.Metric
	Base, Other float64 // per second, or nanoseconds
	Change      float64 // Other/Base - 1; NaN where that is not a number
	Low, High   float64 // its confidence interval; NaN where Verdict is Unknown
	Verdict     Verdict
	Why         string // the verdict is Unknown, or the interval spans a gap; see judgeByShare
	// BaseOpen and OtherOpen say that the value is a lower bound: it lies in fio's last bin,
	// which has no upper end, or is a mean of requests some of which do.
	BaseOpen, OtherOpen bool
}

// Bound says which way the change is bounded: "≥" or "≤" where one of the two values is a
// lower bound, "?" if both are, empty if none is.
func (c *Change) Bound() string {
	switch {
	case c.BaseOpen && c.OtherOpen:
		return "?"
	case c.OtherOpen:
		return "≥"
	case c.BaseOpen:
		return "≤"
	}
	return ""
}

// Sides compares the runs of one direction. Several runs of a side are repetitions of a test. At a
// confidence of 0.99 and with few blocks, 10,000 replicates are too few for the tails, and intervals
// are a little short.
func Sides(base, other []*Series, opt Options) []Change {
	metrics := opt.Metrics
	a, b := newPool(base), newPool(other)
	of, with := a.values(metrics), b.values(metrics)
	changes := make([]Change, len(metrics))
	for i, m := range metrics {
		changes[i] = Change{
			Metric: m, Base: of[i], Other: with[i], Change: finite(with[i]/of[i] - 1),
			BaseOpen: isOpen(m, &a.whole), OtherOpen: isOpen(m, &b.whole),
		}
	}
	blocks := min(len(a.counts), len(b.counts))
	if blocks < minBlocks {
		for i := range changes {
			changes[i].unknown("too few windows for an interval: %d and %d, want %d of each at least", windows(base), windows(other), minBlocks)
		}
		return changes
	}
	tail := tailOf(opt.Confidence, blocks)
	replicates := min(max(int(math.Ceil(inTail/tail)), minReplicates), maxReplicates)
	s := drawSample(a, b, metrics, replicates)
	for i := range changes {
		c := &changes[i]
		isFew, isBound := c.limits(&a.whole, c.BaseOpen, opt.Confidence)
		isFewToo, isBoundToo := c.limits(&b.whole, c.OtherOpen, opt.Confidence)
		switch {
		case isFew || isFewToo:
			c.unknown("too few requests for an interval of %s: %.0f and %.0f", c.Metric, a.whole.Total(), b.whole.Total())
		case isBound || isBoundToo:
			c.unknown("the interval of %s reaches into %s", c.Metric, lastBin)
		default:
			c.judge(s.logs[i], tail, opt.Within)
			if c.isInGap() {
				low, high := s.reach(i, tail)
				c.judgeByShare(a, b, []float64{c.Base, c.Other, low, high}, replicates, tail)
			}
			c.judgeOpen()
		}
	}
	return changes
}

// sample is what the replicates have, by metric, and in ascending order.
type sample struct {
	base, other [][]float64 // values
	logs        [][]float64 // logarithms of other/base
}

// drawSample draws replicates. The seeds are fixed, so the answer is the same every time.
func drawSample(a, b *pool, metrics []window.Metric, replicates int) *sample {
	s := &sample{make([][]float64, len(metrics)), make([][]float64, len(metrics)), make([][]float64, len(metrics))}
	var of, with []float64
	valueA, valueB, stretchA, stretchB := a.values(metrics), b.values(metrics), a.stretches(metrics), b.stretches(metrics)
	eachReplicate(replicates, func(rngA, rngB *rand.Rand) {
		of, with = a.draw(rngA, metrics, of[:0]), b.draw(rngB, metrics, with[:0])
		for i := range metrics {
			of[i], with[i] = farther(valueA[i], of[i], stretchA[i]), farther(valueB[i], with[i], stretchB[i])
			s.base[i], s.other[i] = append(s.base[i], of[i]), append(s.other[i], with[i])
			s.logs[i] = append(s.logs[i], math.Log(with[i]/of[i]))
		}
	})
	for i := range metrics {
		slices.Sort(s.base[i])
		slices.Sort(s.other[i])
		slices.Sort(s.logs[i]) // not a number comes first
	}
	return s
}

// reach is the lowest and the highest value that a metric may have on either side.
func (s *sample) reach(i int, tail float64) (low, high float64) {
	return min(quantile(s.base[i], tail), quantile(s.other[i], tail)), max(quantile(s.base[i], 1-tail), quantile(s.other[i], 1-tail))
}

// eachReplicate draws the same replicates every time.
func eachReplicate(replicates int, draw func(rngA, rngB *rand.Rand)) {
	rngA, rngB := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(1, 2))
	for range replicates {
		draw(rngA, rngB)
	}
}

// isOpen reports whether a metric of h is a lower bound.
func isOpen(m window.Metric, h *hist.Histogram) bool {
	return m != window.IOPS && !h.IsEmpty() && m.Of(h).Open
}

func windows(side []*Series) int {
	n := 0
	for _, s := range side {
		n += s.windows
	}
	return n
}

// limits reports what speaks against an interval of a percentile of h. isFew: there are too few requests. If not even
// order statistics have an interval, which are too narrow, all replicates agree on the slowest few requests. isBound:
// the percentile is known, and its interval reaches into the last bin.
func (c *Change) limits(h *hist.Histogram, isOpen bool, confidence float64) (isFew, isBound bool) {
	if c.Quantile() == 0 {
		return false, false
	}
	_, high, ok := h.ConfidenceInterval(c.Quantile(), confidence)
	return !ok && high == 0, !ok && !isOpen
}

const lastBin = "fio's last bin, which has no upper end"

// judge takes the interval from the replicates, and the verdict from the interval.
func (c *Change) judge(logs []float64, tail, within float64) {
	c.Low, c.High = math.Expm1(quantile(logs, tail)), math.Expm1(quantile(logs, 1-tail))
	if isFinite := !math.IsNaN(logs[0]+logs[len(logs)-1]) && !math.IsInf(logs[0], 0) && !math.IsInf(logs[len(logs)-1], 0); !isFinite {
		c.unknown("%s is not above 0 throughout", c.Metric)
		return
	}
	switch {
	case c.Low <= 0 && c.High >= 0 && c.reach() <= within:
		c.Verdict = Same
	case c.Low <= 0 && c.High >= 0:
		c.Verdict = Unclear
	case (c.Metric != window.IOPS) == (c.Low > 0):
		c.Verdict = Worse
	default:
		c.Verdict = Better
	}
}

// reach is the largest change in the interval, without its sign.
func (c *Change) reach() float64 { return max(-c.Low, c.High) }

// judgeOpen takes back verdicts that lower bounds do not show. A few requests of an hour in the last bin may decide a
// mean.
func (c *Change) judgeOpen() {
	verb := "lies in"
	if c.Metric == window.Mean {
		verb = "rests on"
	}
	switch {
	case c.Bound() == "" || c.Verdict == Unknown:
	case c.BaseOpen && c.OtherOpen:
		c.unknown("%s of both %s %s", c.Metric, verb, lastBin)
	case c.OtherOpen && c.Verdict != Worse:
		c.unknown("%s of the other side %s %s", c.Metric, verb, lastBin)
	case c.BaseOpen && c.Verdict != Better:
		c.unknown("%s of the base %s %s", c.Metric, verb, lastBin)
	}
}

func (c *Change) unknown(why string, args ...any) {
	c.Low, c.High, c.Verdict, c.Why = math.NaN(), math.NaN(), Unknown, fmt.Sprintf(why, args...)
}

// quantile is a quantile of ascending numbers: at rank q*(n+1), interpolated.
func quantile(sorted []float64, q float64) float64 {
	at := min(max(q*float64(len(sorted)+1)-1, 0), float64(len(sorted)-1))
	i := int(at)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func finite(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}
