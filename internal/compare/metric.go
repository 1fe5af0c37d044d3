package compare

import (
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/internal/window"
)

// Defaults are the metrics that are compared by default.
var Defaults = []string{"iops", "mean", "p50", "p95", "p99", "p99.9"}

const wantMetric = "iops, mean, or a percentile between p0 and p100, such as p99.9"

// ParseMetrics parses names of metrics: "iops", "mean", or a percentile such as "p99.9" or "p99_9". It drops
// repetitions.
func ParseMetrics(names ...string) (metrics []window.Metric, err error) {
	for _, name := range names {
		m, ok := window.ParseMetric(name)
		if !ok || !isCompared(m) {
			return nil, fmt.Errorf("%q: want %s", name, wantMetric)
		}
		if !slices.Contains(metrics, m) {
			metrics = append(metrics, m)
		}
	}
	return metrics, nil
}

// isCompared reports whether a metric can be compared: extremes of two runs say little.
func isCompared(m window.Metric) bool {
	return m.Quantile() > 0 || m == window.IOPS || m == window.Mean
}
