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

// Latencies are the latencies of a window, or of a direction of a run, in microseconds.
type Latencies struct {
	values [len(mapping.Percentiles) + 3]float64 // in the order of LatencyNames; NaN if not known

	steps [len(mapping.Percentiles) + 3]float64 // to which fio rounded the values; 0: none
	open  float64                               // values from here on are lower bounds, because fio's last bin has no upper end
	ByFio bool                                  // fio computed the values, because its report has no bins
}

// NewLatencies returns latencies made from a function, which returns the value of a field in microseconds and
// whether it is known.
func NewLatencies(figure func(name string) (us float64, ok bool)) Latencies {
	a := Latencies{open: math.Inf(1)}
	for i, name := range LatencyNames {
		us, ok := figure(name)
		if !ok {
			us = math.NaN()
		}
		a.values[i] = us
	}
	return a
}

// LatenciesOf returns the latencies in a document. A document of averages has only the mean.
func LatenciesOf(l *mapping.Latency) Latencies {
	if !l.HasPercentiles() {
		return NewLatencies(func(name string) (float64, bool) { return l.Mean, name == "mean" && l.Mean > 0 })
	}
	a := NewLatencies(l.Figure)
	a.open = l.OpenFrom()
	return a
}

// LatenciesOfTotals is like [LatenciesOf], for totals. Without a histogram they may have what fio computed for a
// single job.
func LatenciesOfTotals(t *mapping.Totals) Latencies {
	if t.Latency.HasPercentiles() || t.Fio == nil {
		return LatenciesOf(&t.Latency)
	}
	a := NewLatencies(t.Fio.Figure)
	a.ByFio = true
	for i, name := range LatencyNames {
		a.steps[i] = t.Fio.StepOf(name)
	}
	return a
}

// UseFioMethod replaces the percentiles and the maximum by those of fio's method for a histogram, which are middles of
// bins.
func (a *Latencies) UseFioMethod(h *hist.Histogram) {
	set := func(i int, rank float64) {
		ns, _ := h.FioPercentile(rank) // 0 if there are no requests
		a.values[i] = float64(ns) / 1000
	}
	for i := range mapping.Percentiles {
		set(i+2, mapping.Percentiles[i].Rank)
	}
	set(len(a.values)-1, 100)
}

// Value returns a latency in microseconds by its field in documents, or NaN if it is not known. There must be such a
// field.
func (a *Latencies) Value(name string) float64 { return a.values[slices.Index(LatencyNames, name)] }

// ValueOrMore is like Value. If the latency is only a lower bound, it is the beginning of fio's last bin. The mean is a
// lower bound if the maximum is.
func (a *Latencies) ValueOrMore(name string) (us float64, isBound bool) {
	us = a.Value(name)
	if name == "mean" {
		return us, a.Value("max") >= a.open
	}
	if us >= a.open {
		return a.open, true
	}
	return us, false
}

// Text returns a latency for people, by its field in documents. "≥17.0s" is a lower bound; "1.20ms*" was computed by
// fio, and "<1µs*" rounded to microseconds.
func (a *Latencies) Text(name string) string {
	us, isBound := a.ValueOrMore(name)
	text := unit.OrMore(unit.LatencyIn(us, a.steps[slices.Index(LatencyNames, name)]), isBound)
	if a.ByFio && !math.IsNaN(us) {
		text += "*"
	}
	return text
}

// FioNote explains the mark of latencies that fio computed.
const FioNote = "* computed by fio: its report has no bins (use json+), so it cannot be merged"

// Notes returns the notes below a table. byFio reports whether the table has latencies computed by fio.
func Notes(byFio bool) []string {
	if byFio {
		return []string{FioNote}
	}
	return nil
}
