package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
)

// figure is what is known of a metric of a side, in requests per second or nanoseconds. Windows may lack requests that fio's
// report counts, so their value is another.
type figure struct {
	facts.Number
	windowed float64 // the value of the windows, or of bins without windows
	lack     string  // which requests are in no window, or in no bin of a report; empty: none
}

// isUnknown reports whether not even bounds are known.
func (f figure) isUnknown() bool { return !f.IsKnown() && !f.IsBound() }

// span returns between which values the metric lies, if the requests of the windows are like those that these lack.
func (f figure) span() (low, high float64) {
	if low, high = f.Low, f.High; f.lack != "" && f.windowed > 0 {
		low, high = min(low, f.windowed), max(high, f.windowed)
	}
	return low, high
}

// figureOf returns what is known of a metric of a side: its value in windows, unless totals of whole runs know better.
// Percentiles of several runs that lack bins cannot be merged. Without any bins theirs is the middle of those of the runs.
func figureOf(m facts.Metric, side []*series, p *pool, windowed float64) figure {
	f := figure{Number: facts.Known(windowed), windowed: windowed}
	var requests, bytes, lacking, unbinned, means, ms float64
	fastest, slowest := math.Inf(1), 0.0
	isExact, isAlone, noBins := true, len(side) == 1, false
	var ofRuns []float64 // what fio computed, or the value of the bins
	for _, s := range side {
		if s.whole == nil {
			return f
		}
		t, of := s.whole, &pool{whole: p.whole}
		if !isAlone {
			of = newPool([]*series{s})
		}
		n := of.whole.completed
		lacking += max(float64(t.Requests)-n, float64(t.Unbinned), 0)
		requests, unbinned = requests+max(float64(t.Requests), n), unbinned+max(float64(t.Requests)-of.whole.latency.Total(), 0)
		bytes += max(float64(t.Requests), n) * s.size()
		ms += cmp.Or(float64(t.DurationMS), of.whole.ms)
		mean := facts.Mean.OfTotals(t).Value * 1000
		means += max(float64(t.Requests), n) * mean
		isExact = isExact && (t.Latency.Exact || t.Fio != nil)
		if fio := t.Fio; t.Latency.Exact {
			fastest, slowest = min(fastest, t.Latency.Min*1000), max(slowest, t.Latency.Max*1000)
		} else if fio != nil {
			fastest, slowest = min(fastest, fio.Min*1000), max(slowest, fio.Max*1000)
		}
		switch isEmpty := of.whole.latency.IsEmpty(); {
		case m.Quantile == 0:
		case isEmpty:
			noBins = true
			v := math.NaN()
			if t.Fio != nil {
				for _, q := range t.Fio.Percentiles {
					if math.Abs(q.Rank-m.Quantile*100) < 1e-9 {
						v = q.Value * 1000
					}
				}
			}
			ofRuns = append(ofRuns, v)
		default:
			ofRuns = append(ofRuns, m.Of(of.whole.latency).Value)
		}
		noBins = noBins || of.whole.latency.IsEmpty()
	}
	if lacking > 0 {
		f.lack = fmt.Sprintf("%s of %s requests are in no row", unit.Count(int64(lacking)), unit.Count(int64(requests)))
	}
	us := func(n facts.Number) facts.Number {
		return facts.Number{Value: n.Value * 1000, Low: n.Low * 1000, High: n.High * 1000, ByFio: n.ByFio, IsOpen: n.IsOpen}
	}
	switch {
	case m == facts.IOPS && lacking > 0:
		if f.Number = facts.Known(requests * 1000 / ms); isAlone {
			f.Number = facts.IOPS.OfTotals(side[0].whole)
		}
	case m == facts.Bandwidth && lacking > 0:
		f.Number = facts.Known(bytes * 1000 / ms)
	case m == facts.IOPS && isAlone && side[0].whole.IOPS > 0, m == facts.Bandwidth && isAlone && side[0].whole.Bandwidth > 0: // as lists of runs have it
		f.Number = m.OfTotals(side[0].whole)
	case m == facts.IOPS || m == facts.Bandwidth:
	case m == facts.Mean && requests == 0 && isAlone: // a report that does not say how many there were
		f.Number = us(facts.Mean.OfTotals(side[0].whole))
	case m == facts.Mean && (isExact || noBins):
		f.Number = facts.Known(means / requests)
		f.ByFio = noBins || lacking > 0 && !side[0].whole.Latency.Exact
	case m == facts.Mean && lacking > 0:
		f.Number = facts.Known(math.NaN())
	case noBins && isAlone && side[0].whole.Bounds != nil && slices.Contains(facts.LatencyNames, m.Name):
		if f.Number = us(m.OfTotals(side[0].whole)); f.IsBound() {
			f.lack = "no report has the bins of its jobs"
		}
	case noBins:
		slices.Sort(ofRuns) // NaN is first
		if f.Number = facts.Known(ofRuns[0]); f.IsKnown() {
			f.Number = facts.Known(quantile(ofRuns, 0.5))
			f.ByFio = true
		}
	case lacking == 0 && isAlone: // as other commands have it: windows cut rows into shares
		if a := m.InTotals(side[0].whole, side[0].bins); !math.IsNaN(a.Value) {
			f.Number = facts.Known(a.Value)
		}
	case lacking == 0:
	case isAlone && slices.Contains(facts.LatencyNames, m.Name):
		if f.Number = us(m.OfTotals(side[0].whole)); f.IsOpen {
			f.Value = f.Low
		}
	default:
		if !isExact {
			fastest, slowest = 0, math.Inf(1)
		}
		a := p.whole.latency.PercentileAmong(m.Quantile, unbinned, fastest, slowest)
		f.Number = facts.Bounded(a.Low, a.High)
	}
	return f
}

// isBounded reports whether only bounds of a value are known.
func (c *Change) isBounded() bool {
	return c.base.IsBound() && !c.base.IsOpen || c.other.IsBound() && !c.other.IsOpen
}

// nearest returns the change nearest to none that the bounds of both values allow, or NaN if they allow none.
func (c *Change) nearest() float64 {
	least, most := c.other.Low/c.base.High-1, c.other.High/c.base.Low-1
	switch {
	case least > 0:
		return least
	case most < 0:
		return most
	}
	return math.NaN()
}

// reachOfFigures returns by how much the lowest and the highest change that the figures allow differ from that of the windows, as
// logarithms.
func (c *Change) reachOfFigures() (least, most float64) {
	if c.base.Number == facts.Known(c.base.windowed) && c.other.Number == facts.Known(c.other.windowed) {
		return 0, 0
	}
	low, high := c.base.span()
	lowToo, highToo := c.other.span()
	windowed := c.other.windowed / c.base.windowed
	return math.Log(lowToo / high / windowed), math.Log(highToo / low / windowed)
}

// judgeBounds sets the verdict if values are between bounds and no interval decides.
func (c *Change) judgeBounds() {
	if c.Verdict = Worse; c.Change < 0 {
		c.Verdict = Better
	}
	if math.IsNaN(c.Change) || c.Low <= 0 && c.High >= 0 {
		c.Change = math.NaN()
		c.unknown("%s is between bounds: %s (--output-format=json+ has them)", c.Metric, cmp.Or(c.base.lack, c.other.lack))
	}
}

// bound returns a bound of a value for programs, or nil if the value is known or the bound is not.
func bound(m facts.Metric, of figure, x float64) any {
	if !of.IsBound() || math.IsInf(x, 0) {
		return nil
	}
	return machine(m, x)
}
