package compare

import (
	"fmt"

	"github.com/fio2es/fio2es/internal/window"
)

// Defaults are the metrics that are compared by default.
var Defaults = func() (metrics []window.Metric) {
	for _, name := range []string{"iops", "mean", "p50", "p95", "p99", "p99.9"} {
		m, _ := window.ParseMetric(name)
		metrics = append(metrics, m)
	}
	return metrics
}()

// ParseMetric reads "iops", "mean", or a percentile such as "p99.9", which is "p99_9" in
// documents.
func ParseMetric(text string) (window.Metric, error) {
	m, ok := window.ParseMetric(text)
	if !ok || m.Quantile() == 0 && m != window.IOPS && m != window.Mean {
		return m, fmt.Errorf("%q: want iops, mean, or a percentile between p0 and p100, such as p99.9", text)
	}
	return m, nil
}

// Names are the names of metrics.
func Names(metrics []window.Metric) (names []string) {
	for _, m := range metrics {
		names = append(names, m.String())
	}
	return names
}
