package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
)

const (
	minBlocks     = 8 // fewest blocks of a side: fewer say too little about how much blocks differ
	minReplicates = 1000
	maxReplicates = 10_000
	inTail        = 10 // replicates beyond each end of the interval, if there are enough replicates
)

// Verdict says whether a metric has changed.
type Verdict string

// The verdicts.
const (
	Worse  Verdict = "worse"
	Better Verdict = "better"
	// 0 is in the interval, and the interval is narrow: a change is not larger than its ends
	Same    Verdict = "same"
	Unclear Verdict = "unclear" // 0 is in the interval, but the interval is wide
	// there are too few windows for an interval, or none: a change is known, and not how much of it is chance
	NoInterval Verdict = "no interval"
	Unknown    Verdict = "unknown" // a value is not known, or too uncertain for an interval
)

// Options says what is compared, and how certain the answer must be.
type Options struct {
	Metrics    []facts.Metric
	Confidence float64 // of the intervals, such as 0.95
	Within     float64 // an interval around 0 is narrow if it lies between -Within and +Within
}

// Within is the default of Options.Within.
const Within = 0.10

// Change says how a metric of the other side differs from the base.
type Change struct {
	facts.Metric
	Base, Other float64 // requests per second, or nanoseconds
	Change      float64 // Other/Base - 1; NaN if it is not a number
	// Low and High are its confidence interval. They are NaN if Verdict is Unknown or NoInterval.
	Low, High float64
	Verdict   Verdict
	Why       string // why there is no interval, or that it spans a gap: see judgeByShare
	// BaseOpen and OtherOpen report that the value is a lower bound, because requests lie in fio's last bin, which
	// has no upper end.
	BaseOpen, OtherOpen bool

	base, other figure // what is known of the values
}

// Bound says on which side the change is bounded: "≥" or "≤" if one of the two values is a lower bound, "?" if both
// are, and "" if neither is. If values are between bounds, the change is the nearest to none that these allow.
func (c *Change) Bound() string {
	switch {
	case c.isBounded() && c.Change > 0:
		return "≥"
	case c.isBounded():
		return "≤"
	case c.BaseOpen && c.OtherOpen:
		return "?"
	case c.OtherOpen:
		return "≥"
	case c.BaseOpen:
		return "≤"
	}
	return ""
}

// SpansGap reports whether the interval is wide because the metric may lie between two groups of latencies. Why says more.
func (c *Change) SpansGap() bool { return c.HasInterval() && c.Why != "" }

// HasInterval reports whether the change has a confidence interval.
func (c *Change) HasInterval() bool { return c.Verdict != Unknown && c.Verdict != NoInterval }

// changesOf compares the runs of one direction. Several runs of a side are repetitions of one test. With a confidence of
// 0.99 and few blocks, 10,000 replicates have too few values in the tails, and intervals are a little too short.
func changesOf(base, other []*series, opt Options) []Change {
	a, b := newPool(base), newPool(other)
	statistic := metricsOf(opt.Metrics)
	of, with := statistic(a.whole), statistic(b.whole)
	changes := make([]Change, len(opt.Metrics))
	for i, m := range opt.Metrics {
		c := &changes[i]
		c.Metric, c.BaseOpen, c.OtherOpen = m, isOpen(m, a.whole.latency), isOpen(m, b.whole.latency)
		c.base, c.other = figureOf(m, base, a, of[i]), figureOf(m, other, b, with[i])
		c.Base, c.Other = c.base.Value, c.other.Value
		if c.Change = finite(c.Other/c.Base - 1); c.isBounded() {
			c.BaseOpen, c.OtherOpen = false, false
			c.Change = c.nearest()
		}
	}
	windows := func(side []*series) (n int, isWindowed bool) {
		isWindowed = true
		for _, s := range side {
			n, isWindowed = n+s.windows, isWindowed && s.totals == nil
		}
		return n, isWindowed
	}
	blocks := min(len(a.counts), len(b.counts))
	n, isWindowed := windows(base)
	m, isWindowedToo := windows(other)
	switch why := ""; {
	case !isWindowed || !isWindowedToo:
		why = "no interval, because not all runs have windows"
		fallthrough
	case blocks < minBlocks:
		why = cmp.Or(why, fmt.Sprintf("too few windows for an interval: %d and %d, want %d of each at least", n, m, minBlocks))
		for i := range changes {
			changes[i].noInterval(why)
		}
		return changes
	}
	tail := tailOf(opt.Confidence, blocks)
	n = min(max(int(math.Ceil(inTail/tail)), minReplicates), maxReplicates)
	bases, others := replicates(a, b, n, statistic)
	for i := range changes {
		c := &changes[i]
		isFew, isBound := c.limits(a.whole.latency, c.BaseOpen, opt.Confidence)
		isFewToo, isBoundToo := c.limits(b.whole.latency, c.OtherOpen, opt.Confidence)
		switch {
		case c.base.isUnknown() || c.other.isUnknown():
			c.unknown("%s is not known: %s", c.Metric, cmp.Or(c.base.lack, c.other.lack))
		case isFew || isFewToo:
			c.unknown("too few requests for an interval of %s: %.0f and %.0f", c.Metric, a.whole.latency.Total(), b.whole.latency.Total())
		case isBound || isBoundToo:
			c.unknown("the interval of %s reaches into %s", c.Metric, lastBin)
		default:
			c.judge(ratios(bases[i], others[i]), tail, opt.Within)
			// The interval of a percentile that is so wide may span a gap. It may then be anywhere between these two.
			if c.Verdict == Unclear && c.base.lack+c.other.lack == "" && c.Quantile > 0 && math.Log1p(c.High)-math.Log1p(c.Low) > gapReach {
				slices.Sort(bases[i])
				slices.Sort(others[i])
				low := min(quantile(bases[i], tail), quantile(others[i], tail))
				high := max(quantile(bases[i], 1-tail), quantile(others[i], 1-tail))
				c.judgeByShare(a, b, []float64{c.Base, c.Other, low, high}, n, tail)
			}
			c.judgeOpen()
		}
	}
	return changes
}

// noInterval sets the verdict of a change without an interval.
func (c *Change) noInterval(why string) {
	c.unknown("%s", why)
	switch {
	case c.base.isUnknown(), c.other.isUnknown():
		c.Why = fmt.Sprintf("%s is not known: reports without bins have only the percentiles that fio lists (percentile_list)", c.Metric)
	case c.isBounded():
		if c.judgeBounds(); c.Verdict == Worse || c.Verdict == Better {
			c.Verdict, c.Low, c.High = NoInterval, math.NaN(), math.NaN()
		}
	case !math.IsNaN(c.Change) && c.Bound() == "":
		c.Verdict = NoInterval
	}
}

// ratios returns the logarithms of other/base, ascending. NaN is first.
func ratios(base, other []float64) []float64 {
	logs := make([]float64, len(base))
	for i := range logs {
		logs[i] = math.Log(other[i] / base[i])
	}
	slices.Sort(logs)
	return logs
}

// A percentile may lie between two groups of latencies, such as hits and misses of a cache. Then it jumps from one
// group to the other, depending on the blocks that are drawn. So its interval spans the gap, even if the change is small.
// The shares of requests above a latency do not jump.
const (
	gapReach = math.Ln2 // an interval spans a gap if it is at least this wide, as a logarithm: from 1 to 2
	contrary = 0.3      // less than this share of the replicates may contradict
)

// judgeByShare decides by the shares of requests above the percentile of each side. at has these two percentiles,
// and the lowest and the highest latency at which the percentile of either side may be. If the shares above these
// four contradict one another, the distributions cross in that range, and the verdict stays unclear. If it decides,
// the interval ends at 0. Why gets the share above the percentile of the base, whose interval is narrow.
func (c *Change) judgeByShare(a, b *pool, at []float64, n int, tail float64) {
	bases, others := replicates(a, b, n, sharesAbove(at))
	logs := ratios(bases[0], others[0]) // of the share above the percentile of the base
	more := make([][]float64, len(at))
	sums := make([]float64, n)
	for k := range n {
		for j := range at {
			more[j] = append(more[j], others[j][k]-bases[j][k])
		}
		sums[k] = more[0][k] + more[1][k]
	}
	slices.Sort(sums)
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
	before, after := sharesAbove(at)(a.whole)[0], sharesAbove(at)(b.whole)[0]
	c.Why = fmt.Sprintf("%s may lie between two groups of latencies, so its interval is wide%s: %s of the base's requests are above %s, and %s of the other side's",
		c.Metric, decided, unit.Percent(before, a.whole.latency.Total()), c.BaseText(), unit.Percent(after, b.whole.latency.Total()))
	if isKnown := !math.IsNaN(logs[0]) && !math.IsInf(logs[0], 0) && !math.IsInf(logs[n-1], 0); isKnown {
		c.Why += fmt.Sprintf(", %s %% (%s … %s %%)", signed(after/before-1),
			signed(math.Expm1(quantile(logs, tail))), signed(math.Expm1(quantile(logs, 1-tail))))
	}
}

func isOpen(m facts.Metric, h *hist.Histogram) bool {
	return m.IsOfHistogram() && !h.IsEmpty() && m.Of(h).Open
}

// limits reports whether a percentile of h cannot have an interval. isFew: there are too few requests. Not even
// order statistics have an interval then, although theirs are too narrow, and all replicates would agree on the
// slowest few requests. isBound: the percentile is known, but its interval reaches into the last bin.
func (c *Change) limits(h *hist.Histogram, isOpen bool, confidence float64) (isFew, isBound bool) {
	if c.Quantile == 0 {
		return false, false
	}
	_, high, ok := h.ConfidenceInterval(c.Quantile, confidence)
	return !ok && high.Value == 0, !ok && !isOpen
}

const lastBin = "fio's last bin, which has no upper end"

// judge computes the interval from the replicates, and the verdict from the interval.
func (c *Change) judge(logs []float64, tail, within float64) {
	least, most := c.reachOfFigures()
	c.Low, c.High = math.Expm1(quantile(logs, tail)+least), math.Expm1(quantile(logs, 1-tail)+most)
	if isFinite := !math.IsNaN(logs[0]+logs[len(logs)-1]) && !math.IsInf(logs[0], 0) && !math.IsInf(logs[len(logs)-1], 0); !isFinite {
		c.unknown("%s is not above 0 throughout", c.Metric)
		return
	}
	switch {
	case c.isBounded() && !(c.Low > 0 || c.High < 0 || c.reach() <= within):
		c.judgeBounds()
	case c.Low <= 0 && c.High >= 0 && c.reach() <= within:
		c.Verdict = Same
	case c.Low <= 0 && c.High >= 0:
		c.Verdict = Unclear
	case c.LessIsBad() == (c.High < 0):
		c.Verdict = Worse
	default:
		c.Verdict = Better
	}
}

// reach returns the largest change in the interval, without its sign.
func (c *Change) reach() float64 { return max(-c.Low, c.High) }

// judgeOpen replaces a verdict by Unknown if lower bounds cannot prove it. A few requests in the last bin can decide
// a mean.
func (c *Change) judgeOpen() {
	verb := "lies in"
	if c.Metric == facts.Mean {
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

// quantile returns a quantile of ascending numbers, interpolated at rank q*(n+1).
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

// Defaults are the metrics that are compared by default.
var Defaults = []string{"iops", "mean", "p50", "p95", "p99", "p99.9"}

const wantMetric = "iops, mean, or a percentile between p0 and p100, such as p99.9"

// ParseMetrics parses names of metrics: "iops", "bandwidth", "mean", or a percentile such as "p99.9" or "p99_9". It drops
// repetitions.
func ParseMetrics(names ...string) (metrics []facts.Metric, err error) {
	for _, name := range names {
		m, ok := facts.ParseMetric(name)
		if strings.EqualFold(strings.TrimSpace(name), facts.Bandwidth.Name) {
			m, ok = facts.Bandwidth, true
		}
		if !ok || !isCompared(m) {
			return nil, fmt.Errorf("%q: want bandwidth, %s", name, wantMetric)
		}
		if !slices.Contains(metrics, m) {
			metrics = append(metrics, m)
		}
	}
	return metrics, nil
}

// isCompared reports whether a metric can be compared: extremes of two runs say little.
func isCompared(m facts.Metric) bool {
	return m.Quantile > 0 || m.LessIsBad() || m == facts.Mean
}
