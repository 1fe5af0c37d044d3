package main

import (
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// answers are the latencies of one line, microseconds; NaN where nothing is known.
type answers struct {
	min, mean, p50, p75, p90, p95, p99, p999, p9999, max float64

	open  float64 // percentiles and extremes from here on are lower bounds: fio's last bin has no end
	byFio bool    // fio computed them, not we
}

// answerNames are the fields of answers as JSON names them, in the order of the columns.
var answerNames = []string{"min", "mean", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"}

// values are those of answerNames.
func (a *answers) values() []float64 {
	return []float64{a.min, a.mean, a.p50, a.p75, a.p90, a.p95, a.p99, a.p999, a.p9999, a.max}
}

// noAnswers is where nothing is known.
func noAnswers() answers {
	none := math.NaN()
	return answers{none, none, none, none, none, none, none, none, none, none, math.Inf(1), false}
}

// answersOf takes what the document says or, with fio's method, computes it from its histogram.
func answersOf(l *mapping.Latency, method string) (answers, error) {
	if l.Layout == "" { // of averages, or of nothing
		a := noAnswers()
		if l.Mean > 0 {
			a.mean = l.Mean
		}
		return a, nil
	}
	a := answers{l.Min, l.Mean, l.P50, l.P75, l.P90, l.P95, l.P99, l.P999, l.P9999, l.Max, l.OpenFrom(), false}
	if method != "fio" {
		return a, nil
	}
	h, err := l.Hist()
	if err != nil {
		return a, err
	}
	for to, f := range map[*float64]float64{
		&a.p50: 50, &a.p75: 75, &a.p90: 90, &a.p95: 95, &a.p99: 99, &a.p999: 99.9, &a.p9999: 99.99, &a.max: 100,
	} {
		*to = fioValue(h, f)
	}
	return a, nil
}

// answersOfTotal is answersOf for totals. Where these have no histogram, they may have what
// fio itself computed of a single job.
func answersOfTotal(t *mapping.Totals, method string) (answers, error) {
	if t.Latency.Layout != "" || t.Fio == nil {
		return answersOf(&t.Latency, method)
	}
	f, a := t.Fio, noAnswers()
	a.byFio, a.min, a.mean, a.max = true, f.Min, f.Mean, f.Max
	for to, rank := range map[*float64]float64{
		&a.p50: 50, &a.p75: 75, &a.p90: 90, &a.p95: 95, &a.p99: 99, &a.p999: 99.9, &a.p9999: 99.99,
	} {
		if us, ok := f.At(rank); ok {
			*to = us
		}
	}
	return a, nil
}

func fioValue(h *hist.Histogram, f float64) float64 {
	ns, ok := h.FioPercentile(f)
	if !ok {
		return 0
	}
	return float64(ns) / 1000
}

// isBound reports whether value i of answerNames is a lower bound. The mean is one as soon as
// the maximum is.
func (a *answers) isBound(i int) bool {
	v := a.values()
	if answerNames[i] == "mean" {
		return v[len(v)-1] >= a.open
	}
	return v[i] >= a.open
}

// bounds names the values that are lower bounds.
func (a *answers) bounds() (names []string) {
	for i, name := range answerNames {
		if a.isBound(i) {
			names = append(names, name)
		}
	}
	return names
}

// texts are values for people: "≥17.0s" is a lower bound, "1.20ms*" is fio's own.
func (a *answers) texts(names ...string) (texts []string) {
	values := a.values()
	for _, want := range names {
		for i, name := range answerNames {
			if name != want {
				continue
			}
			us := values[i]
			if a.isBound(i) && name != "mean" {
				us = a.open
			}
			text := unit.LatencyOrMore(us, a.isBound(i))
			if a.byFio && !math.IsNaN(us) {
				text += "*"
			}
			texts = append(texts, text)
		}
	}
	return texts
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
