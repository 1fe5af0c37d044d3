package methods

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// Row is the errors of one method at one percentile, in percent of the exact latency.
type Row struct {
	Method     string
	Counts     string // "completions" or "in flight"
	Percentile mapping.Percentile
	Windows    int // that the method has an answer for, of all directions
	Of         int // windows with requests
	// Median, P95 and Worst are of the sizes of the errors in windows. Bias is their mean, which is above 0 if the method
	// says too much. Whole is the error for the whole run, of the direction where it is largest. NaN without windows.
	Median, P95, Worst, Bias, Whole float64
	Bytes                           int64         // kept for all windows
	Took                            time.Duration // for all windows
}

// compare compares a method with the exact answers for the same windows.
func (c *Comparison) compare(a, exact *answers) (rows []*Row) {
	for i, p := range c.Percentiles {
		r := &Row{Method: a.method, Counts: counts(a.inFlight), Percentile: p, Of: len(exact.windows), Bytes: a.bytes, Took: a.took}
		var sizes []float64 // of the errors
		for at, want := range exact.windows {
			if got := a.windows[at]; got != nil {
				sizes = append(sizes, percentOff(got[i], want[i]))
			}
		}
		slices.Sort(sizes) // before the sum, so that it has always the same last digit
		sum := 0.0
		for k, off := range sizes {
			sum, sizes[k] = sum+off, math.Abs(off)
		}
		slices.Sort(sizes)
		r.Windows = len(sizes)
		r.Median, r.P95, r.Worst = among(sizes, 0.5), among(sizes, 0.95), among(sizes, 1)
		r.Bias, r.Whole = sum/float64(r.Windows), math.NaN()
		for d, want := range exact.whole {
			if want != nil && a.whole[d] != nil {
				if off := percentOff(a.whole[d][i], want[i]); !(math.Abs(off) <= math.Abs(r.Whole)) {
					r.Whole = off
				}
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// counts says how requests count.
func counts(inFlight bool) string {
	if inFlight {
		return "in flight"
	}
	return "completions"
}

func percentOff(got, want float64) float64 {
	if got == want { // also 0
		return 0
	}
	return 100 * (got - want) / want
}

// among returns the quantile q of an ascending list, by the rule of numpy, or NaN if it is empty.
func among(list []float64, q float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	place := q * float64(len(list)-1)
	i := int(place)
	if i+1 == len(list) {
		return list[i]
	}
	return list[i] + (place-float64(i))*(list[i+1]-list[i])
}

// method is a way to get percentiles from completions.
type method struct {
	name     string
	inFlight bool
	new      func() sketch
}

// methods are all that read completions. Those of libraries have the settings that people use.
func (c *Comparison) methods() []method {
	return []method{
		{"exact, nearest rank", false, newNearest},
		{averaged, false, newPerJob},
		{"log-spaced bins", false, c.Log.new},
		{"fio's bins", false, newFioBins},
		{"HdrHistogram, 3 digits", false, newHDR},
		{"DDSketch, 1 %", false, newDDSketch},
		{"t-digest, 100", false, newTDigest},
		{"log-spaced bins", true, c.Log.new},
		{"fio's bins", true, newFioBins},
	}
}

// answer asks a method. whole says whether the whole run is wanted, too.
func (c *Comparison) answer(ctx context.Context, m method, e *edges, whole bool) (*answers, error) {
	const often = 1 << 16 // requests
	a, qs := newAnswers(m.name, m.inFlight, e), c.quantiles()
	fill := func(s sketch, parts []part) error {
		for some := range slices.Chunk(parts, often) {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, p := range some {
				s.add(p)
			}
		}
		return nil
	}
	var parts []part
	for d := range c.requests {
		spans := c.spans(d, e)
		from, longest := 0, int64(0)
		for _, s := range spans {
			longest = max(longest, s.longest)
		}
		for _, w := range e.numbers(spans, m.inFlight) {
			for spans[from].window < w {
				from++
			}
			of := place{d, w}
			parts = c.parts(parts[:0], spans[from:], of, e, longest, m.inFlight)
			if len(parts) == 0 {
				continue
			}
			began, s := time.Now(), m.new()
			if err := fill(s, parts); err != nil {
				return nil, err
			}
			a.windows[of] = s.percentiles(qs)
			a.took += time.Since(began)
			a.bytes += s.size()
		}
		if !whole || len(spans) == 0 {
			continue
		}
		s := m.new()
		for _, of := range spans {
			parts = parts[:0]
			for _, r := range of.list { // the shares of a request in all windows add up to 1
				parts = append(parts, part{r.ns, 1, r.job()})
			}
			if err := fill(s, parts); err != nil {
				return nil, err
			}
		}
		a.whole[d] = s.percentiles(qs)
	}
	return a, nil
}

// Compare returns a row for each method and percentile: those that count completions, then those in flight, each after the
// exact percentiles. Exact percentiles in flight are compared with those of completions, which shows how much the way to count
// matters. The error is that of ctx.
func (c *Comparison) Compare(ctx context.Context) (rows []*Row, err error) {
	if err := c.sort(ctx); err != nil {
		return nil, err
	}
	even := &edges{length: c.Window, shift: c.Shift}
	completed, err := c.answer(ctx, method{"exact", false, newExact}, even, true)
	if err != nil {
		return nil, err
	}
	exactIn := func(inFlight bool, e *edges) (*answers, error) {
		a, err := c.answer(ctx, method{"exact", inFlight, newExact}, e, false)
		if err == nil {
			a.whole = completed.whole
		}
		return a, err
	}
	for _, inFlight := range []bool{false, true} {
		exact := completed
		if inFlight {
			if exact, err = exactIn(true, even); err != nil {
				return nil, err
			}
		}
		rows = append(rows, c.compare(exact, completed)...)
		for _, m := range c.methods() {
			if m.inFlight == inFlight {
				a, err := c.answer(ctx, m, even, true)
				if err != nil {
					return nil, err
				}
				rows = append(rows, c.compare(a, exact)...)
			}
		}
		for _, a := range c.answers { // in windows of their own
			if a.inFlight == inFlight {
				exact, err := exactIn(inFlight, a.edges)
				if err != nil {
					return nil, err
				}
				rows = append(rows, c.compare(a, exact)...)
			}
		}
	}
	return rows, nil
}
