package facts

import (
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Latencies are the minimum, mean, percentiles and maximum of a window, or of a direction of a run, in microseconds.
type Latencies struct {
	values [len(mapping.Percentiles) + 3]float64 // in the order of names; NaN if not known

	open  float64 // values from here on are lower bounds, because fio's last bin has no upper end
	ByFio bool    // fio computed the values, because its report has no bins
}

// names are the fields of latencies in documents, in the order of the columns.
var names = func() (list [len(Latencies{}.values)]string) {
	list[0], list[1], list[len(list)-1] = "min", "mean", "max"
	for i := range mapping.Percentiles {
		list[i+2] = mapping.Percentiles[i].Field
	}
	return list
}()

// index returns the index of a latency, given its field in documents. It panics if there is no such latency.
func index(name string) int {
	i := slices.Index(names[:], name)
	if i < 0 {
		panic("no latency " + name)
	}
	return i
}

// NewLatencies returns latencies made from a function, which returns the value of a field in microseconds and
// whether it is known.
func NewLatencies(figure func(name string) (us float64, ok bool)) Latencies {
	a := Latencies{open: math.Inf(1)}
	for i, name := range names {
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
	return a
}

// UseFioMethod replaces the percentiles and the maximum by those of fio's method for a histogram, which are middles of
// bins.
func (a *Latencies) UseFioMethod(h *hist.Histogram) {
	for i := range mapping.Percentiles {
		a.values[i+2] = fioValue(h, mapping.Percentiles[i].Rank)
	}
	a.values[len(a.values)-1] = fioValue(h, 100)
}

func fioValue(h *hist.Histogram, rank float64) float64 {
	ns, ok := h.FioPercentile(rank)
	if !ok {
		return 0
	}
	return float64(ns) / 1000
}

// Value returns a latency in microseconds by its field in documents, or NaN if it is not known.
func (a *Latencies) Value(name string) float64 { return a.values[index(name)] }

// ValueOrMore returns a latency in microseconds by its field in documents, and whether it is a lower bound. The
// latency is NaN if it is not known.
func (a *Latencies) ValueOrMore(name string) (us float64, isBound bool) { return a.orMore(index(name)) }

func (a *Latencies) orMore(i int) (us float64, isBound bool) {
	if a.isBound(i) && names[i] != "mean" {
		return a.open, true
	}
	return a.values[i], a.isBound(i)
}

// Text returns a latency for people, by its field in documents. "≥17.0s" is a lower bound; "1.20ms*" was computed by
// fio.
func (a *Latencies) Text(name string) string { return a.text(index(name)) }

func (a *Latencies) text(i int) string {
	us, isBound := a.orMore(i)
	text := unit.LatencyOrMore(us, isBound)
	if a.ByFio && !math.IsNaN(us) {
		text += "*"
	}
	return text
}

// isBound reports whether a latency is a lower bound. The mean is one if the maximum is.
func (a *Latencies) isBound(i int) bool {
	if names[i] == "mean" {
		i = len(a.values) - 1
	}
	return a.values[i] >= a.open
}

// bounds returns the names of the columns that are lower bounds.
func (a *Latencies) bounds() (columns []string) {
	for i, name := range names {
		if a.isBound(i) {
			columns = append(columns, name+"_us")
		}
	}
	return columns
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

// heading returns the name of a latency for people, by its field in documents: "Mean", "p99.9".
func heading(name string) string {
	if strings.HasPrefix(name, "p") {
		return strings.ReplaceAll(name, "_", ".")
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// LatencyNames returns the fields of latencies in documents, in the order of the columns.
func LatencyNames() []string { return slices.Clone(names[:]) }
