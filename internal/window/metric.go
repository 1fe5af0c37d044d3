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
	name   string  // name for people: "p99.9"
	q      float64 // quantile of a percentile, 0 … 1; 0 for other metrics
	within float64 // in nanoseconds, for a share of requests
	unit   Unit
}

// Metrics that are neither percentiles nor shares.
var (
	IOPS     = Metric{name: "iops", unit: PerSecond}
	Requests = Metric{name: "requests", unit: Number}
	Min      = Metric{name: "min"}
	Mean     = Metric{name: "mean"}
	Max      = Metric{name: "max"}
)

// Percentile returns the metric of a percentile above 0 and below 100. percent is text such as "99.90", for p99.9.
func Percentile(percent string) (m Metric, ok bool) {
	x, err := strconv.ParseFloat(percent, 64)
	if err != nil || strings.Trim(percent, "0123456789.") != "" || !(x > 0 && x < 100) {
		return Metric{}, false
	}
	name := strconv.FormatFloat(x, 'f', -1, 64)
	q, err := strconv.ParseFloat(name+"e-2", 64) // not 99.9/100, which is not exactly 0.999
	return Metric{name: "p" + name, q: q}, err == nil
}

// Within returns the metric "share of requests that were served within ns nanoseconds". text is the latency as
// people write it.
func Within(ns float64, text string) Metric {
	return Metric{name: "within " + text, within: ns, unit: Share}
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
	if m.unit != Nanoseconds {
		return m.name
	}
	return strings.ReplaceAll(m.name, ".", "_") + "_" + m.unit.Name()
}

// Quantile returns the quantile of a percentile, between 0 and 1. For other metrics it is 0.
func (m Metric) Quantile() float64 { return m.q }

// Unit returns the unit of the metric's values.
func (m Metric) Unit() Unit { return m.unit }

// IsOfHistogram reports whether the metric is computed from latencies. The others are counts.
func (m Metric) IsOfHistogram() bool { return m.unit == Nanoseconds || m.unit == Share }

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
	case m.unit == Share:
		n, low, high := h.CountWithin(m.within)
		total := h.Total()
		isOpen := high > low && h.Layout().Open(h.Layout().Index(int64(m.within)))
		return hist.Answer{Value: n / total, Low: low / total, High: high / total, Open: isOpen}
	}
	return h.Percentile(m.q)
}

// Unit is the unit of a metric's values.
type Unit int

// The units of metrics.
const (
	Nanoseconds Unit = iota
	Share            // 0 … 1
	PerSecond
	Number // number of requests
)

// Name returns the name of the unit of [Unit.ForPrograms], as in CSV and JSON.
func (u Unit) Name() string { return [...]string{"us", "share", "per_second", "requests"}[u] }

// ForPrograms converts a value to the unit of CSV, JSON and documents: latencies are in microseconds.
func (u Unit) ForPrograms(v float64) float64 {
	if u == Nanoseconds {
		return v / 1000
	}
	return v
}

// Text returns a value for people. It has all digits if otherwise it would look equal to limit, which may be NaN. of
// is the number of requests that a share refers to.
func (u Unit) Text(value, limit, of float64) string {
	switch short := u.short(value, of); {
	case math.IsNaN(value):
		return "-"
	case value == limit || short != u.short(limit, of):
		return short
	}
	switch u {
	case Nanoseconds:
		return unit.Number(value/1000) + "µs"
	case Share:
		return unit.Number(value*100) + " %"
	}
	return unit.Number(value)
}

func (u Unit) short(x, of float64) string {
	switch u {
	case Nanoseconds:
		return unit.Latency(x / 1000)
	case Share:
		return unit.Percent(x, of)
	case PerSecond:
		return unit.Rate(x)
	}
	return unit.Count(int64(x))
}
