package facts

import (
	"math"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
)

// TestParseMetric: the name of each metric is parsed as that metric, which has the expected value.
func TestParseMetric(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	for i := range int64(1000) {
		h.AddLatency((i+1)*1000, 1)
	}
	for name, want := range map[string]struct {
		name string
		q    float64
		of   hist.Answer
	}{
		"Min": {"min", 0, h.Min()}, "mean": {"mean", 0, h.Mean()}, " max ": {"max", 0, h.Max()},
		"p50": {"p50", 0.5, h.Percentile(0.5)}, "P99_9": {"p99.9", 0.999, h.Percentile(0.999)},
		"p99.90": {"p99.9", 0.999, h.Percentile(0.999)}, "p0.5": {"p0.5", 0.005, h.Percentile(0.005)},
		"iops": {"iops", 0, hist.Answer{}}, "requests": {"requests", 0, hist.Answer{}},
	} {
		m, ok := ParseMetric(name)
		if !ok || m.String() != want.name || m.Quantile != want.q || m.IsOfHistogram() == (want.of == hist.Answer{}) {
			t.Errorf("%s: %+v, %v", name, m, ok)
		}
		if m.IsOfHistogram() && m.Of(h) != want.of {
			t.Errorf("%s is %+v, want %+v", name, m.Of(h), want.of)
		}
	}
	for _, name := range []string{"", "p", "p0", "p100", "p-5", "99", "p1e1", "pNaN", "p99%", "p9_9_9", "within"} {
		if m, ok := ParseMetric(name); ok {
			t.Errorf("%q: %+v", name, m)
		}
	}
}

// TestWithin: the share of requests within a latency lies between its error bounds. In the last bin it is only a
// lower bound.
func TestWithin(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1000, 3)
	h.AddAt(h.Layout().Len()-1, 1)
	if a := Within(2000, "2us").Of(h); a.Value != 0.75 || a.Low > 0.75 || a.High < 0.75 || a.Open {
		t.Errorf("%+v", a)
	}
	if a := Within(17.1e9, "17.1s").Of(h); !a.Open || a.Low != 0.75 || a.High != 1 {
		t.Errorf("%+v", a)
	}
}

// TestTextOf: a value that differs from the limit has another text.
func TestTextOf(t *testing.T) {
	for _, c := range []struct {
		kind             expr.Kind
		value, limit, of float64
		want             string
	}{
		{expr.Latency, 1.5e7, 1e7, 0, "15.0ms"},
		{expr.Latency, 1e7, 1e7, 0, "10.0ms"},
		{expr.Latency, 10_003_007, 1e7, 0, "10003.007µs"},
		{expr.Percent, 0.995, 0.999, 1000, "99.5 %"},
		{expr.Percent, 0.99896, 0.999, 1000, "99.896 %"},
		{expr.Rate, 4999.75, 5000, 0, "4999.75"},
		{expr.Rate, 12_400, 5000, 0, "12.4k"},
		{expr.Count, 999_999, 1e6, 0, "999,999"},
		{expr.Percent, math.NaN(), 0.5, 0, "-"},
	} {
		if got := TextOf(c.kind, c.value, c.limit, c.of); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestDurationText: 2.002 seconds are a little less as a binary number.
func TestDurationText(t *testing.T) {
	if got := KindText(expr.Duration, 2.002, false); got != "2.002s" {
		t.Error(got)
	}
}
