package main

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/hist"
)

// TestCompareTruth: the values of both sides are those of raw completions, within a thousandth for the mean, and
// within their bins for percentiles.
func TestCompareTruth(t *testing.T) {
	t.Parallel()
	corpus := filepath.Join("..", "..", "testdata", "corpus")
	lines := linesOf[compareResult](t, 0, "compare", filepath.Join(corpus, "two-jobs-rw"), filepath.Join(corpus, "stalls"), "--metrics", "iops,mean,p50,p99")
	for _, l := range lines {
		base, other := truthOf(t, "two-jobs-rw", l.Direction, l.Metric), truthOf(t, "stalls", l.Direction, l.Metric)
		if math.Abs(*l.BaseValue/base-1) > 0.005 || math.Abs(*l.OtherValue/other-1) > 0.005 || math.Abs(*l.Change-(other/base-1)*100) > math.Abs(*l.Change)/50+0.5 {
			t.Errorf("%s %s: from %v to %v, %+.2f %%; really from %v to %v, %+.2f %%", l.Direction, l.Metric,
				*l.BaseValue, *l.OtherValue, *l.Change, base, other, (other/base-1)*100)
		}
	}
	if len(lines) != 8 {
		t.Errorf("%d lines", len(lines))
	}
}

// truthOf returns a metric of a run's raw completions.
func truthOf(t *testing.T, run, direction, metric string) float64 {
	t.Helper()
	h, sum, last := hist.New(hist.Fio3(0)), 0.0, 0.0
	for _, c := range rawOf(t, run) {
		last = max(last, c.Time.Seconds())
		if []string{"read", "write", "trim"}[c.Direction] == direction {
			h.AddLatency(int64(c.Latency), 1)
			sum += float64(c.Latency)
		}
	}
	switch metric {
	case "iops":
		return h.Total() / last
	case "mean_us":
		return sum / h.Total() / 1000
	case "p50_us":
		return h.Percentile(0.5).Value / 1000
	}
	return h.Percentile(0.99).Value / 1000
}
