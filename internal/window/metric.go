package window

import (
	"math"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Metric is a number that rules and comparisons are about. Metrics with the same name are equal.
type Metric struct {
	name   string    // name for people: "p99.9"
	q      float64   // quantile of a percentile, 0 … 1; 0 for other metrics
	within float64   // in nanoseconds, for a share of requests
	kind   expr.Kind // Latency, Percent, Rate or Count
}

// Metrics that are neither percentiles nor shares.
var (
	IOPS     = Metric{name: "iops", kind: expr.Rate}
	Requests = Metric{name: "requests", kind: expr.Count}
	Min      = Metric{name: "min", kind: expr.Latency}
	Mean     = Metric{name: "mean", kind: expr.Latency}
	Max      = Metric{name: "max", kind: expr.Latency}
)

// Percentile returns the metric of a percentile above 0 and below 100. percent is text such as "99.90", for p99.9.
func Percentile(percent string) (m Metric, ok bool) {
	x, err := strconv.ParseFloat(percent, 64)
	if err != nil || strings.Trim(percent, "0123456789.") != "" || !(x > 0 && x < 100) {
		return Metric{}, false
	}
	name := strconv.FormatFloat(x, 'f', -1, 64)
	q, err := strconv.ParseFloat(name+"e-2", 64) // not 99.9/100, which is not exactly 0.999
	return Metric{name: "p" + name, q: q, kind: expr.Latency}, err == nil
}

// Within returns the metric "share of requests that were served within ns nanoseconds". text is the latency as
// people write it.
func Within(ns float64, text string) Metric {
	return Metric{name: "within " + text, within: ns, kind: expr.Percent}
}

// ParseMetric parses a name such as "iops", "p99.9" or "p99_9", in upper or lower case.
func ParseMetric(name string) (m Metric, ok bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, m := range []Metric{IOPS, Requests, Min, Mean, Max} {
		if name == m.name {
			return m, true
		}
	}
	percent, ok := strings.CutPrefix(strings.Replace(name, "_", ".", 1), "p")
	if !ok {
		return Metric{}, false
	}
	return Percentile(percent)
}

// ParseSubject parses what a rule or a condition is about: a metric, such as "p99.9" or "within 100ms", and a direction
// before it ("write.p99"), or "" for any. Spaces do not matter.
func ParseSubject(text string) (direction string, m Metric, ok bool) {
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	for _, d := range mapping.Directions {
		if rest, ok := strings.CutPrefix(text, d+"."); ok {
			direction, text = d, rest
		}
	}
	if latency, ok := strings.CutPrefix(text, "within"); ok {
		ns, ok := expr.Latency.Parse(latency)
		return direction, Within(ns, expr.Latency.Text(latency)), ok && ns >= 0
	}
	m, ok = ParseMetric(text)
	return direction, m, ok
}

// String returns the name for people: "p99.9", "within 100ms".
func (m Metric) String() string { return m.name }

// Column returns the name of the metric's column for programs, with the unit of latencies: "p99_9_us", "iops".
func (m Metric) Column() string {
	if m.kind != expr.Latency {
		return m.name
	}
	return strings.ReplaceAll(m.name, ".", "_") + "_" + UnitOf(m.kind)
}

// Quantile returns the quantile of a percentile, between 0 and 1. For other metrics it is 0.
func (m Metric) Quantile() float64 { return m.q }

// Kind returns the kind of the metric's values: Latency, Percent, Rate or Count.
func (m Metric) Kind() expr.Kind { return m.kind }

// IsOfHistogram reports whether the metric is computed from latencies. The others are counts.
func (m Metric) IsOfHistogram() bool { return m.kind == expr.Latency || m.kind == expr.Percent }

// Of returns the value of the metric for a histogram, with its error bounds. The metric must be computed from
// latencies, and the histogram must not be empty.
func (m Metric) Of(h *hist.Histogram) hist.Answer {
	switch {
	case m == Min:
		return h.Min()
	case m == Max:
		return h.Max()
	case m == Mean:
		return h.Mean()
	case m.kind == expr.Percent:
		n, low, high := h.CountWithin(m.within)
		total := h.Total()
		isOpen := high > low && h.Layout().Open(h.Layout().Index(int64(m.within)))
		return hist.Answer{Value: n / total, Low: low / total, High: high / total, Open: isOpen}
	}
	return h.Percentile(m.q)
}

// UnitOf returns the name of the unit of a kind of metric in CSV and JSON.
func UnitOf(k expr.Kind) string {
	return map[expr.Kind]string{expr.Latency: "us", expr.Percent: "share", expr.Rate: "per_second", expr.Count: "requests"}[k]
}

// TextOf returns a value of a kind of metric for people. It has all digits if otherwise it would look equal to limit,
// which may be NaN. of is the number of requests that a share refers to.
func TextOf(k expr.Kind, value, limit, of float64) string {
	text := func(x float64) (short, exact string) {
		switch k {
		case expr.Latency:
			return unit.Latency(x / 1000), unit.Number(x/1000) + "µs"
		case expr.Percent:
			return unit.Percent(x, of), unit.Number(x*100) + " %"
		case expr.Rate:
			return unit.Rate(x), unit.Number(x)
		}
		return unit.Count(int64(x)), unit.Number(x)
	}
	short, exact := text(value)
	switch ofLimit, _ := text(limit); {
	case math.IsNaN(value):
		return "-"
	case value == limit || short != ofLimit:
		return short
	}
	return exact
}
