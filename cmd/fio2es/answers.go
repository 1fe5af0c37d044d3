package main

import (
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// answers are the latencies of one line.
type answers struct {
	values [len(mapping.Percentiles) + 3]float64 // microseconds, by answerNames; NaN where nothing is known

	open  float64 // percentiles and extremes from here on are lower bounds: fio's last bin has no end
	byFio bool    // fio computed them, not we
}

// answerNames are the latencies by their fields in documents, in the order of the columns.
var answerNames = func() (names [len(answers{}.values)]string) {
	names[0], names[1], names[len(names)-1] = "min", "mean", "max"
	for i := range mapping.Percentiles {
		names[i+2] = mapping.Percentiles[i].Field
	}
	return names
}()

// index is the place of a latency, by its field in documents.
func (a *answers) index(name string) int {
	for i := range answerNames {
		if answerNames[i] == name {
			return i
		}
	}
	panic("no latency " + name)
}

// of is a latency by its field in documents.
func (a *answers) of(name string) float64 { return a.values[a.index(name)] }

// answersFrom takes the latencies that figure knows.
func answersFrom(figure func(name string) (us float64, ok bool)) answers {
	a := answers{open: math.Inf(1)}
	for i, name := range answerNames {
		us, ok := figure(name)
		if !ok {
			us = math.NaN()
		}
		a.values[i] = us
	}
	return a
}

// answersOf takes what the document says or, with fio's method, computes it from its histogram.
func answersOf(l *mapping.Latency, method string) (answers, error) {
	if !l.HasPercentiles() { // averages, or nothing
		return answersFrom(func(name string) (float64, bool) { return l.Mean, name == "mean" && l.Mean > 0 }), nil
	}
	a := answers{open: l.OpenFrom()}
	a.values[0], a.values[1], a.values[len(a.values)-1] = l.Min, l.Mean, l.Max
	for i := range mapping.Percentiles {
		a.values[i+2] = mapping.Percentiles[i].Of(l)
	}
	if method != "fio" {
		return a, nil
	}
	h, err := l.Hist()
	if err != nil {
		return a, err
	}
	for i := range mapping.Percentiles {
		a.values[i+2] = fioValue(h, mapping.Percentiles[i].Rank)
	}
	a.values[len(a.values)-1] = fioValue(h, 100)
	return a, nil
}

// answersOfTotal is answersOf for totals. Where these have no histogram, they may have what
// fio itself computed of a single job.
func answersOfTotal(t *mapping.Totals, method string) (answers, error) {
	if t.Latency.HasPercentiles() || t.Fio == nil {
		return answersOf(&t.Latency, method)
	}
	a := answersFrom(t.Fio.Figure)
	a.byFio = true
	return a, nil
}

func fioValue(h *hist.Histogram, f float64) float64 {
	ns, ok := h.FioPercentile(f)
	if !ok {
		return 0
	}
	return float64(ns) / 1000
}

// isBound reports whether a value is a lower bound. The mean is one as soon as the maximum is.
func (a *answers) isBound(i int) bool {
	if answerNames[i] == "mean" {
		i = len(a.values) - 1
	}
	return a.values[i] >= a.open
}

// bounds names the columns whose values are lower bounds.
func (a *answers) bounds() (names []string) {
	for i, name := range answerNames {
		if a.isBound(i) {
			names = append(names, name+"_us")
		}
	}
	return names
}

// text is a latency for people: "≥17.0s" is a lower bound, "1.20ms*" is fio's own.
func (a *answers) text(name string) string {
	i := a.index(name)
	us := a.values[i]
	if a.isBound(i) && name != "mean" {
		us = a.open
	}
	text := unit.LatencyOrMore(us, a.isBound(i))
	if a.byFio && !math.IsNaN(us) {
		text += "*"
	}
	return text
}

// source says who computed the values, for programs: empty, or fio.
func (a *answers) source() string {
	if a.byFio {
		return "fio"
	}
	return ""
}

// fioNote explains the mark of values that fio computed.
const fioNote = "* computed by fio: its report has no bins (use json+), so it cannot be merged"

// fioNotes are the notes below a table in which fio computed some values.
func fioNotes(byFio bool) []string {
	if byFio {
		return []string{fioNote}
	}
	return nil
}
