package main

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/mapping"
)

func TestSigned(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0.0 %", 0.0004: "0.0 %", -0.0004: "0.0 %", 0.031: "+3.1 %", -0.25: "-25.0 %", 0.9994: "+99.9 %", 0.9996: "+100 %", 18.53: "+1853 %",
	} {
		if got := signed(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
	if got := signed(math.NaN()); got != "-" {
		t.Errorf("no number: %s", got)
	}
	if got := interval(&compare.Change{Low: -0.012, High: 0.5, Verdict: compare.Same}); got != "-1.2 … +50.0 %" {
		t.Error(got)
	}
}

// TestCompareTruth: the values of both sides are those that raw completions give, within
// a thousandth for the mean and percentiles' bins.
func TestCompareTruth(t *testing.T) {
	corpus := filepath.Join("..", "..", "testdata", "corpus")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	var out, errs strings.Builder
	args := []string{"compare", filepath.Join(corpus, "two-jobs-rw"), filepath.Join(corpus, "stalls"), "--format", "json", "--metrics", "iops,mean,p50,p99"}
	if code := run(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	lines := 0
	for d := json.NewDecoder(strings.NewReader(out.String())); d.More(); lines++ {
		var l compareResult
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		base, other := truthOf(t, "two-jobs-rw", l.Direction, l.Metric), truthOf(t, "stalls", l.Direction, l.Metric)
		if math.Abs(*l.BaseValue/base-1) > 0.005 || math.Abs(*l.OtherValue/other-1) > 0.005 || math.Abs(*l.Change-(other/base-1)*100) > math.Abs(*l.Change)/50+0.5 {
			t.Errorf("%s %s: from %v to %v, %+.2f %%; really from %v to %v, %+.2f %%", l.Direction, l.Metric,
				*l.BaseValue, *l.OtherValue, *l.Change, base, other, (other/base-1)*100)
		}
	}
	if lines != 8 {
		t.Errorf("%d lines", lines)
	}
}

// truthOf is a metric of a run's raw completions.
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

// TestSideOutput: windows without histograms are those of averages, which cannot be
// compared, or of nothing, which are time.
func TestSideOutput(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1000, 100)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	served := mapping.Interval{Latency: mapping.NewLatency(h, nil), Requests: mapping.Requests{Completed: 100}}
	for _, c := range []struct {
		name    string
		windows []mapping.Interval
		iops    float64
		want    string // an error
	}{
		{"nothing", nil, 0, "r: no windows to compare: " + nothingInTime},
		{"averages", []mapping.Interval{{Latency: mapping.Latency{Mean: 5}}}, 0, "r: no windows to compare: " + onlyAverages},
		{"a quiet second", []mapping.Interval{served, {}, served, {}}, 50, ""},
	} {
		o := &sideOutput{side: &compareSide{series: map[string][]*compare.Series{}}, part: "r"}
		o.begin("r", false)
		for i, d := range c.windows {
			d.Fio.Direction, d.Window.ElapsedMS, d.Window.MS = "read", int64(i)*1000, 1000
			if err := o.interval(&d); err != nil {
				t.Fatal(err)
			}
		}
		err := o.total(&mapping.Run{Run: mapping.RunInfo{ID: "0123456789", Start: start, End: start.Add(time.Minute)}})
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil {
			continue
		}
		reads := o.side.series["read"]
		if got := compare.Sides(reads, reads, []compare.Metric{compare.IOPS}, 0.95)[0]; got.Base != c.iops || o.side.runs[0].name != "01234567" {
			t.Errorf("%s: %v requests per second of %s, want %v", c.name, got.Base, o.side.runs[0].name, c.iops)
		}
	}
}
