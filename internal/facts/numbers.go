package facts

import (
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// LatencyNames are the fields of latencies in documents, in the order of the columns: the minimum, the mean, the
// percentiles and the maximum.
var LatencyNames = func() (list []string) {
	for _, m := range OfTotals {
		if m.Kind == expr.Latency {
			list = append(list, m.Name)
		}
	}
	return list
}()

// Number is a number with what is known of it. It lies between Low and High. If it is known, all three are equal. Otherwise Value is
// NaN, High is +Inf if there is no upper bound, and both bounds are NaN if nothing is known.
type Number struct {
	Value, Low, High float64
	ByFio            bool // fio computed it; it cannot be merged with others
	IsOpen           bool // Low is where fio's last bin begins, or follows from that
}

// Known returns a number that is known, or, of NaN, one of which nothing is known.
func Known(x float64) Number { return Number{Value: x, Low: x, High: x} }

// Bounded returns a number between two others.
func Bounded(low, high float64) Number {
	if low == high {
		return Known(low)
	}
	return Number{Value: math.NaN(), Low: low, High: high}
}

// IsKnown reports whether the number is known.
func (n Number) IsKnown() bool { return !math.IsNaN(n.Value) }

// IsBound reports whether only bounds of the number are known.
func (n Number) IsBound() bool { return !n.IsKnown() && !math.IsNaN(n.Low) }

// near is how far the bounds of a number may be apart, as a ratio, so that their middle says enough.
const near = 1.2

// Text returns a number of a kind, in the unit of documents, for people: "1.20ms", "1.20ms*" if fio computed it, "~1.20ms" if its
// bounds are close together, "≥1.20ms" if not, and "-" if nothing is known.
func (n Number) Text(k expr.Kind) string {
	return n.TextBy(func(x float64) string { return KindText(k, x, false) })
}

// TextBy is like [Number.Text], with a function for the text of a value.
func (n Number) TextBy(of func(float64) string) string {
	switch {
	case n.IsKnown() && n.ByFio:
		return of(n.Value) + "*"
	case !n.IsBound():
		return of(n.Value)
	case n.Low > 0 && n.High <= near*n.Low:
		return "~" + of(math.Sqrt(n.Low*n.High))
	case n.Low == 0 && !math.IsInf(n.High, 1):
		return "≤" + of(n.High)
	}
	return unit.OrMore(of(n.Low), true)
}

// Latencies are the latencies of a window, or of a direction of a run, in microseconds.
type Latencies struct {
	numbers [len(mapping.Percentiles) + 3]Number // in the order of LatencyNames

	steps  [len(mapping.Percentiles) + 3]float64 // to which fio rounded the values; 0: none
	open   float64                               // values from here on are lower bounds, because fio's last bin has no upper end
	Bounds *mapping.Bounds                       // of percentiles, or nil
	ByFio  bool                                  // fio computed a value, because requests are in no bin
	rough  [len(mapping.Percentiles)]bool        // percentiles that are estimates between far Bounds, because a window cuts rows
}

// newLatencies returns latencies made from a function, which returns the value of a field in microseconds and whether it is known.
func newLatencies(figure func(name string) (us float64, ok bool)) Latencies {
	a := Latencies{open: math.Inf(1)}
	for i, name := range LatencyNames {
		us, ok := figure(name)
		if !ok {
			us = math.NaN()
		}
		a.numbers[i] = Known(us)
	}
	return a
}

// isBelowOpen reports whether no latency is in fio's last bin.
func isBelowOpen(l *mapping.Latency) bool { return max(l.Max, l.P9999) < l.OpenFrom() }

// LatenciesOf returns the latencies in a document. A document of averages has only the mean.
func LatenciesOf(l *mapping.Latency) Latencies {
	if !l.HasPercentiles() {
		return newLatencies(func(name string) (float64, bool) { return l.Mean, name == "mean" && l.Mean > 0 })
	}
	a := newLatencies(l.Figure)
	a.open = l.OpenFrom()
	if isBelowOpen(l) {
		return a
	}
	slowest := math.Inf(1)
	if l.Exact {
		slowest = l.Max
	}
	for i, name := range LatencyNames {
		switch n := &a.numbers[i]; {
		case name == "mean" && l.IsOpen(l.Max):
			*n = Number{Value: math.NaN(), Low: n.Value, High: math.Inf(1), IsOpen: true}
		case name != "mean" && l.IsOpen(n.Value):
			*n = Number{Value: math.NaN(), Low: a.open, High: slowest, IsOpen: true}
		}
	}
	return a
}

// LatenciesOfWindow is like [LatenciesOf], with the bounds of percentiles, if these are certain.
func LatenciesOfWindow(l *mapping.Latency, b *mapping.Bounds) Latencies {
	a := LatenciesOf(l)
	if b.AreCertain() {
		a.Bounds = b
		for i := range a.rough {
			between, ok := b.Of(i)
			a.rough[i] = ok && between.Highest() > near*between.Low && a.numbers[i+2].IsKnown()
		}
	}
	return a
}

// LatenciesOfTotals is like [LatenciesOf], for totals. If requests are in no bin, percentiles are what fio computed for a single
// job, or bounds.
func LatenciesOfTotals(t *mapping.Totals) Latencies {
	if !t.Latency.HasPercentiles() && t.Fio == nil {
		return LatenciesOf(&t.Latency)
	}
	a := newLatencies(func(string) (float64, bool) { return 0, false })
	if t.Latency.HasPercentiles() {
		if a = LatenciesOf(&t.Latency); t.Unbinned == 0 {
			return a
		}
		if !t.Latency.Exact { // fio has no figures of all requests
			a.numbers[0] = Bounded(0, t.Latency.Min)
			a.numbers[1] = Known(math.NaN())
			a.numbers[len(a.numbers)-1] = Bounded(t.Latency.Max, math.Inf(1))
		}
	}
	a.Bounds = t.Bounds
	for i := range mapping.Percentiles {
		if b, ok := t.Bounds.Of(i); ok {
			a.numbers[i+2] = Bounded(b.Low, b.Highest())
		}
	}
	for i, name := range LatencyNames {
		if t.Fio == nil {
			break
		}
		if us, ok := t.Fio.Figure(name); ok { // percentiles are middles of bins, of which one may be beyond the slowest request
			us = min(us, t.Fio.Max)
			a.numbers[i], a.steps[i], a.ByFio = Known(us), t.Fio.StepOf(name), true
			a.numbers[i].ByFio = true
		}
	}
	return a
}

// UseFioMethod replaces the percentiles and the maximum by those of fio's method for a histogram, which are middles of
// bins.
func (a *Latencies) UseFioMethod(h *hist.Histogram) {
	set := func(i int, rank float64) {
		ns, _ := h.FioPercentile(rank) // 0 if there are no requests
		if a.numbers[i] = Known(float64(ns) / 1000); float64(ns)/1000 >= a.open {
			a.numbers[i] = Number{Value: math.NaN(), Low: a.open, High: math.Inf(1), IsOpen: true}
		}
	}
	for i := range mapping.Percentiles {
		set(i+2, mapping.Percentiles[i].Rank)
	}
	set(len(a.numbers)-1, 100)
}

// index returns the place of a field in LatencyNames. There must be such a field.
func index(name string) int { return slices.Index(LatencyNames, name) }

// Number returns a latency by its field in documents, in microseconds.
func (a *Latencies) Number(name string) Number { return a.numbers[index(name)] }

// Value returns a latency in microseconds by its field in documents, or NaN if it is not known. In fio's last bin it is the begin
// of the bin, and a mean with such requests that of the least that they can have taken.
func (a *Latencies) Value(name string) float64 {
	n := a.numbers[index(name)]
	if a.IsOpen(name) {
		return n.Low
	}
	return n.Value
}

// IsOpen reports whether a latency is a lower bound because requests are in fio's last bin.
func (a *Latencies) IsOpen(name string) bool {
	return a.numbers[index(name)].IsOpen
}

// Text returns a latency for people, by its field in documents, as [Number.Text] does. "<1µs*" was rounded to microseconds by fio.
// "~" is before a percentile of a window that cuts rows, if its bounds are far apart.
func (a *Latencies) Text(name string) string {
	i := index(name)
	if 2 <= i && i-2 < len(a.rough) && a.rough[i-2] {
		return "~" + unit.LatencyIn(a.numbers[i].Value, 0)
	}
	return a.numbers[i].TextBy(func(us float64) string { return unit.LatencyIn(us, a.steps[i]) })
}

// HasBounds reports whether latencies are only bounds because requests are in no bin. It leaves out p75, which fio does not list
// and few tables show.
func (a *Latencies) HasBounds() bool {
	return slices.ContainsFunc(LatencyNames, func(name string) bool { n := a.Number(name); return n.IsBound() && !n.IsOpen && name != "p75" })
}

// FioNote explains the mark of latencies that fio computed.
const FioNote = "* computed by fio: its report has no bins (use json+), so it cannot be merged"

// BoundsNote explains the marks of latencies between bounds.
const BoundsNote = "≥, ~ between bounds: requests are in no row of a log and in no bin of a report (use json+)"

// CutNote explains the mark of percentiles of windows that cut rows.
const CutNote = "~ an estimate, whose bounds are over a fifth apart (--format json), because the window cuts rows of hosts that began apart: a longer --interval is more certain"

// Marks are the marks of latencies in a table.
type Marks struct{ fio, bounds, cut bool }

// Add adds the marks of a row.
func (m *Marks) Add(a *Latencies) {
	m.fio, m.bounds, m.cut = m.fio || a.ByFio, m.bounds || a.HasBounds(), m.cut || slices.Contains(a.rough[:], true)
}

// AddTotals adds the marks of totals. Most have none, because all requests are in bins.
func (m *Marks) AddTotals(t *mapping.Totals) {
	if t.Unbinned > 0 || !t.Latency.HasPercentiles() {
		l := LatenciesOfTotals(t)
		m.Add(&l)
	}
}

// Notes returns the notes below the table.
func (m *Marks) Notes() (notes []string) {
	if m.fio {
		notes = append(notes, FioNote)
	}
	if m.bounds {
		notes = append(notes, BoundsNote)
	}
	if m.cut {
		notes = append(notes, CutNote)
	}
	return notes
}
