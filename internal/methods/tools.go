package methods

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/hist"
)

// row is a row of a histogram log.
type row struct {
	direction, job int
	at, next       int64 // ms since the run's start; next is the time of the next row of its job and direction
	layout         hist.Layout
	bins           []hist.Bin
}

// tool is the rules of one of fio's own tools: how much of a bin of a row counts between start and end (all in
// milliseconds), and what the percentiles of counts by bin are, in nanoseconds.
//
// Both get one direction at a time, although they add directions by default, and rows at the time at which fio2es places
// them, although they know no clocks of hosts.
type tool struct {
	name        string
	inFlight    bool
	share       func(r *row, bin int, start, end float64) float64
	percentiles func(l hist.Layout, counts, qs []float64) []float64
}

func (c *Comparison) theTools() []tool {
	interval := float64(c.Window) // the tool's --interval is the length of windows
	return []tool{
		{logPctiles, false, pctilesShare, pctilesPercentiles},
		{logParser, true, func(r *row, bin int, start, end float64) float64 {
			// weights: a request begins half an interval and its latency before the row, and ends with it.
			from := float64(r.at) - interval/2 - binValue(r.layout, bin)/1e6
			if from >= end || float64(r.at) <= start {
				return 0
			}
			return (min(float64(r.at), end) - max(from, start)) / (float64(r.at) - from)
		}, weightedPercentiles},
	}
}

// pctilesShare is the rule of align_histo_log: a row begins at its time, and ends with the next one. The last one ends with
// the window in which it begins. So each answer is an interval late, and counts as that of the window before, which the
// requests are of.
func pctilesShare(r *row, _ int, start, end float64) float64 {
	length := end - start
	start, end = start+length, end+length
	from, to := float64(r.at), float64(r.next)
	if r.next == 0 {
		to = (math.Floor(from/length) + 1) * length
	}
	if to <= from { // the tool takes the first of two rows of one time
		return 0
	}
	return max(min(to, end)-max(from, start), 0) / (to - from)
}

// tools asks fio's tools. Their windows begin with the run.
func (c *Comparison) tools(ctx context.Context) (list []*answers, err error) {
	bytes := int64(0)
	last := map[[2]int]int{} // by direction and job
	for i, r := range c.rows {
		key := [2]int{r.direction, r.job}
		if before, ok := last[key]; ok {
			c.rows[before].next = r.at
		}
		last[key] = i
		bytes += r.size()
	}
	byTime := slices.Clone(c.rows)
	slices.SortStableFunc(byTime, func(a, b row) int { return int(a.at - b.at) })
	fromStart := &edges{length: c.Window}
	for _, t := range c.theTools() {
		a, began := newAnswers(t.name, t.inFlight, fromStart), time.Now()
		for d := range c.requests {
			counts := map[int64][]float64{}
			var whole []float64
			var layout hist.Layout
			for _, r := range byTime {
				if r.direction != d || len(r.bins) == 0 {
					continue
				}
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				if layout = r.layout; whole == nil {
					whole = make([]float64, layout.Len())
				}
				c.spread(counts, t, &r)
				for _, b := range r.bins {
					whole[b.Index] += float64(b.Count)
				}
			}
			for w, list := range counts {
				a.windows[place{d, w}] = t.percentiles(layout, list, c.quantiles())
			}
			if whole != nil {
				a.whole[d] = t.percentiles(layout, whole, c.quantiles())
			}
		}
		a.bytes, a.took = bytes, time.Since(began)
		list = append(list, a)
	}
	return list, nil
}

// spread adds a row to the counts of each window in which a tool counts it.
func (c *Comparison) spread(counts map[int64][]float64, t tool, r *row) {
	for _, b := range r.bins {
		low, _ := r.layout.Bounds(int(b.Index))
		first := (r.at - 2*c.Window - min(low/1e6, reach)) / c.Window
		for w := max(first, 0); w*c.Window < max(r.at, r.next); w++ {
			start := float64(w * c.Window)
			if n := float64(b.Count) * t.share(r, int(b.Index), start, start+float64(c.Window)); n > 0 {
				if counts[w] == nil {
					counts[w] = make([]float64, r.layout.Len())
				}
				counts[w][b.Index] += n
			}
		}
	}
}

// size is the length of the row as text, as fio writes it.
func (r *row) size() int64 {
	bytes := int64(len(strconv.FormatInt(r.at, 10)) + len(", 0, 4096\n") + len(", 0")*r.layout.Len())
	for _, b := range r.bins {
		bytes += int64(len(strconv.FormatUint(b.Count, 10)) - 1)
	}
	return bytes
}

// binValue is plat_idx_to_val_coarse of fiologparser_hist, in nanoseconds: half way from the begin of a bin to the end of
// the next fine one, so above its middle.
func binValue(l hist.Layout, bin int) float64 {
	const fine = 64 // bins of a group
	value := func(i int, edge float64) float64 {
		if i < 2*fine {
			return float64(i)
		}
		shift := i/fine - 1
		return float64(int64(1)<<(shift+6)) + (float64(i%fine)+edge)*float64(int64(1)<<shift)
	}
	stride := 1 << l.Coarseness()
	us := 1.0
	if l.Unit() == hist.Microseconds {
		us = 1e3
	}
	return us * (value(bin*stride, 0) + value((bin+1)*stride, 1)) / 2
}

// weightedPercentiles is weighted_percentile of fiologparser_hist: each bin has one value, in the middle of its count, and
// between two bins, also empty ones, it is a straight line (numpy.interp).
func weightedPercentiles(l hist.Layout, counts, qs []float64) (list []float64) {
	sum := 0.0
	places := make([]float64, len(counts))
	for i, n := range counts {
		places[i], sum = sum+n/2, sum+n
	}
	for _, q := range qs {
		i := 0 // the last one that is not above q
		for k, place := range places {
			if place <= q*sum {
				i = k
			}
		}
		value := binValue(l, i)
		if i+1 < len(places) && places[i] <= q*sum {
			value += (q*sum - places[i]) / (places[i+1] - places[i]) * (binValue(l, i+1) - value)
		}
		list = append(list, value)
	}
	return list
}

// pctilesPercentiles is get_pctiles of fio-histo-log-pctiles: the first bin at whose end the count is above the percentile,
// and in it a straight line.
func pctilesPercentiles(l hist.Layout, counts, qs []float64) (list []float64) {
	sum := 0.0
	for _, n := range counts {
		sum += n
	}
	for _, q := range qs {
		before := 0.0
		for i, n := range counts {
			if n > 0 && before+n > q*sum {
				low, high := l.Bounds(i)
				list = append(list, float64(low)+(q*sum-before)/n*float64(high-low))
				break
			}
			before += n
		}
	}
	return list
}
