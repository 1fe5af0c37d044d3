package methods

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/compat"
)

// row is a row of a histogram log.
type row struct {
	direction, job int
	at, next       int64 // ms since the run's start; next is the time of the next row of its job and direction
	layout         hist.Layout
	bins           []hist.Bin
}

// tool is the rules of one of fio's own tools: the time, in milliseconds, over which it spreads the requests of a bin of a
// row, and what the percentiles of counts by bin are, in nanoseconds.
//
// Both get one direction at a time, although they add directions by default, and rows at the time at which fio2es places
// them, although they know no clocks of hosts.
type tool struct {
	name        string
	inFlight    bool
	life        func(r *row, bin int) (from, to float64)
	percentiles func(l hist.Layout, counts, qs []float64) []float64
}

func (c *Comparison) tools() []tool {
	interval := float64(c.Window) // the tool's --interval is the length of windows
	return []tool{
		// align_histo_log: a row begins at its time, and ends with the next one. The last one ends with the window in which
		// it begins. So each answer is an interval late, and counts as that of the window before, which the requests are of.
		{logPctiles, false, func(r *row, _ int) (from, to float64) {
			from, to = float64(r.at), float64(r.next)
			if r.next == 0 {
				to = (math.Floor(from/interval) + 1) * interval
			}
			return from - interval, to - interval
		}, pctilesPercentiles},
		// process_weighted_interval: a request begins half an interval and its latency before the row, and ends with it.
		{logParser, true, func(r *row, bin int) (from, to float64) {
			return float64(r.at) - interval/2 - logparserValue(r.layout, bin)/1e6, float64(r.at)
		}, logparserPercentiles},
	}
}

// ask asks a tool for the windows that have exact percentiles, and for the whole run.
func (c *Comparison) ask(ctx context.Context, t tool, exact *answers) (*answers, error) {
	type spread struct {
		*row
		from, to float64 // of its slowest requests
	}
	a, began := newAnswers(t.name, t.inFlight, exact.edges), time.Now()
	if slices.ContainsFunc(c.rows, func(r row) bool { return r.layout != c.rows[0].layout }) {
		return a, nil // both fail then
	}
	for d := range directions {
		var rows, open []spread
		var windows []int64
		var counts, whole []float64
		for at := range exact.windows {
			if at.direction == d {
				windows = append(windows, at.window)
			}
		}
		slices.Sort(windows)
		for i := range c.rows {
			r := &c.rows[i]
			if r.direction != d || len(r.bins) == 0 {
				continue
			}
			a.bytes += r.size()
			from, to := t.life(r, int(r.bins[len(r.bins)-1].Index))
			rows = append(rows, spread{r, from, to})
			if whole == nil {
				whole, counts = make([]float64, r.layout.Len()), make([]float64, r.layout.Len())
			}
			for _, b := range r.bins {
				whole[b.Index] += float64(b.Count)
			}
		}
		if whole == nil {
			continue
		}
		layout := rows[0].layout
		a.whole[d] = t.percentiles(layout, whole, c.quantiles())
		slices.SortStableFunc(rows, func(a, b spread) int { return cmp.Compare(a.from, b.from) })
		for _, w := range windows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			start, end := float64(exact.edges.start(place{d, w})), float64(exact.edges.end(place{d, w}))
			for len(rows) > 0 && rows[0].from < end {
				open, rows = append(open, rows[0]), rows[1:]
			}
			open = slices.DeleteFunc(open, func(r spread) bool { return r.to <= start })
			clear(counts)
			isEmpty := true
			for _, r := range open {
				for _, b := range r.bins {
					from, to := t.life(r.row, int(b.Index))
					n := float64(b.Count) * share(from, to, start, end)
					counts[b.Index] += n
					isEmpty = isEmpty && n == 0
				}
			}
			if !isEmpty {
				a.windows[place{d, w}] = t.percentiles(layout, counts, c.quantiles())
			}
		}
	}
	a.took = time.Since(began)
	return a, nil
}

// size is the length of the row as text, as fio writes it.
func (r *row) size() int64 {
	bytes := int64(len(strconv.FormatInt(r.at, 10)) + len(", 0, 4096\n") + len(", 0")*r.layout.Len())
	for _, b := range r.bins {
		bytes += int64(len(strconv.FormatUint(b.Count, 10)) - 1)
	}
	return bytes
}

// logparserValue is what fiologparser_hist takes for the latency of a bin, in nanoseconds.
func logparserValue(l hist.Layout, bin int) float64 {
	if l.Unit() == hist.Microseconds {
		return 1e3 * compat.LogparserValue(l, bin)
	}
	return compat.LogparserValue(l, bin)
}

func logparserPercentiles(l hist.Layout, counts, qs []float64) []float64 {
	values, ranks := make([]float64, len(counts)), make([]float64, len(qs))
	for i := range values {
		values[i] = logparserValue(l, i)
	}
	for i, q := range qs {
		ranks[i] = 100 * q
	}
	return compat.LogparserPercentiles(values, counts, ranks)
}

func pctilesPercentiles(l hist.Layout, counts, qs []float64) (list []float64) {
	var bins []hist.Weight
	for i, n := range counts {
		if n > 0 {
			bins = append(bins, hist.Weight{Index: i, Count: n})
		}
	}
	for _, q := range qs { // one at a time, because these need not ascend
		list = append(list, 1e3*compat.PctilesPercentiles(l, bins, []float64{100 * q})[0])
	}
	return list
}
