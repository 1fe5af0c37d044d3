package compare

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/hist"
)

// Metric is requests per second, the mean latency, or a percentile of latency.
type Metric struct {
	name string
	q    float64 // of a percentile: 0 … 1, without either
}

// The metrics that are not percentiles.
var (
	IOPS = Metric{name: "iops"}
	Mean = Metric{name: "mean"}
)

// Defaults are the metrics that are compared by default.
var Defaults = []Metric{IOPS, Mean, percentile(50), percentile(95), percentile(99), percentile(99.9)}

// percentile is the metric of a percentile, from 0 to 100 without either.
func percentile(percent float64) Metric {
	return Metric{"p" + strconv.FormatFloat(percent, 'f', -1, 64), percent / 100}
}

// ParseMetric reads "iops", "mean", or a percentile such as "p99.9", which is "p99_9" in
// documents.
func ParseMetric(text string) (Metric, error) {
	name := strings.ToLower(strings.TrimSpace(text))
	for _, m := range []Metric{IOPS, Mean} {
		if name == m.name {
			return m, nil
		}
	}
	digits, isPercentile := strings.CutPrefix(strings.Replace(name, "_", ".", 1), "p")
	percent, err := strconv.ParseFloat(digits, 64)
	if !isPercentile || err != nil || strings.Trim(digits, "0123456789.") != "" || !(percent > 0 && percent < 100) {
		return Metric{}, fmt.Errorf("%q: want iops, mean, or a percentile between p0 and p100, such as p99.9", text)
	}
	return percentile(percent), nil
}

// String is the name for people: "p99.9".
func (m Metric) String() string { return m.name }

// IsLatency reports whether the metric is a latency, of which less is better.
func (m Metric) IsLatency() bool { return m != IOPS }

// of is the metric's value: per second, or nanoseconds.
func (m Metric) of(h *hist.Histogram, completed, ms float64) float64 {
	switch m {
	case IOPS:
		return completed * 1000 / ms
	case Mean:
		return h.Mean().Value
	}
	return h.Percentile(m.q).Value
}

// isOpen reports whether the metric's value is a lower bound.
func (m Metric) isOpen(h *hist.Histogram) bool {
	switch {
	case m == IOPS || h.IsEmpty():
		return false
	case m == Mean:
		return h.Mean().Open
	}
	return h.Percentile(m.q).Open
}

// appendValues appends the values of all metrics: per second, or nanoseconds.
func appendValues(dst []float64, metrics []Metric, h *hist.Histogram, completed, ms float64) []float64 {
	for _, m := range metrics {
		dst = append(dst, m.of(h, completed, ms))
	}
	return dst
}

// Names are the names of metrics.
func Names(metrics []Metric) (names []string) {
	for _, m := range metrics {
		names = append(names, m.name)
	}
	return names
}
