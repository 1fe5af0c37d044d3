package pipeline

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestLacksReport: with the report of one of two hosts, the bytes and bandwidth of the run are unknown, not those of the
// one host.
func TestLacksReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results", "00000001")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "corpus", "cbt-archive", "results", "00000001"))); err != nil {
		t.Fatal(err)
	}
	for _, isWhole := range []bool{true, false} {
		result, err := Read(t.Context(), onlyRun(t, filepath.Dir(dir)), Options{}, func(*window.Window) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []*mapping.Totals{result.Run.All, result.Run.Write} {
			if of.Requests == 0 || (of.Bytes > 0) != isWhole || (of.Bandwidth > 0) != isWhole || (of.Sums != mapping.Sums{}) != isWhole {
				t.Errorf("whole %v: %+v", isWhole, of)
			}
		}
		for _, name := range []string{"json_output.0.hostB.gz", "output.0.hostB.gz"} {
			if err := os.Remove(filepath.Join(dir, "id-7c1f03ab", name)); isWhole && err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFioLatency: what fio computed of several entries can be joined but for percentiles.
func TestFioLatency(t *testing.T) {
	of := func(n uint64, least, most int64, mean, deviation float64, p50 int64) *fiolog.DirectionStats {
		return &fiolog.DirectionStats{TotalIOs: n, Clat: fiolog.Latency{
			Min: least, Max: most, Mean: mean, StdDev: deviation, Percentiles: []fiolog.Percentile{{Rank: 50, Value: p50}},
		}}
	}
	binned := of(1, 1, 2, 1, 0, 1)
	binned.Clat.Bins = []hist.Bin{{Index: 1, Count: 1}}
	total := &fiolog.DirectionStats{TotalIOs: 5, Lat: of(5, 4000, 6000, 5000, 1, 5000).Clat}
	one := of(300, 1000, 9000, 4000, 1000, 3000)
	for _, c := range []struct {
		name string
		list []*fiolog.DirectionStats
		want *mapping.FioLatency
	}{
		{"nothing", nil, nil},
		{"bins", []*fiolog.DirectionStats{one, binned}, &mapping.FioLatency{Min: 0.001, Mean: 3.987, Max: 9, StdDev: 1.025}},
		{"latencies are disabled", []*fiolog.DirectionStats{{TotalIOs: 7}}, nil},
		{"one", []*fiolog.DirectionStats{one}, &mapping.FioLatency{Min: 1, Max: 9, Mean: 4, StdDev: 1, Percentiles: []mapping.FioPercentile{{Rank: 50, Value: 3}}}},
		{"from submission", []*fiolog.DirectionStats{total}, &mapping.FioLatency{Min: 4, Max: 6, Mean: 5, StdDev: 0.001, Percentiles: []mapping.FioPercentile{{Rank: 50, Value: 5}}}},
		{"two", []*fiolog.DirectionStats{one, of(100, 500, 8000, 8000, 1000, 7000)}, &mapping.FioLatency{Min: 0.5, Max: 9, Mean: 5, StdDev: 2}},
	} {
		if diff := cmp.Diff(c.want, fioLatency(c.list)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestBoundsOf: a percentile of several jobs lies between those of the jobs, and only where each lists it.
func TestBoundsOf(t *testing.T) {
	of := func(p50, p99 int64, more ...fiolog.Percentile) *fiolog.DirectionStats {
		return &fiolog.DirectionStats{TotalIOs: 5, Clat: fiolog.Latency{Mean: 1, Percentiles: append([]fiolog.Percentile{{Rank: 50, Value: p50}, {Rank: 99, Value: p99}}, more...)}}
	}
	got := boundsOf([]*fiolog.DirectionStats{of(100_000, 800_000), of(128_000, 640_000, fiolog.Percentile{Rank: 75, Value: 1})})
	want := &mapping.Bounds{Confidence: 1, P50: mapping.Between{Low: 99.219, High: 129}, P99: mapping.Between{Low: 635, High: 806.25}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := boundsOf([]*fiolog.DirectionStats{of(1, 2), {TotalIOs: 5, Clat: fiolog.Latency{Mean: 1}}}); got != nil {
		t.Errorf("one job lists none: %v", got)
	}
	totals := &mapping.Totals{}
	setLatencies(totals, &hist.Histogram{}, 10, []*fiolog.DirectionStats{of(100_000, 800_000), of(128_000, 640_000)}, false)
	if diff := cmp.Diff(want, totals.Bounds); diff != "" {
		t.Error(diff)
	}
}

// TestAveragedTotals: a window whose rate is not known does not count in it, and one without requests does.
func TestAveragedTotals(t *testing.T) {
	of := &averagedTotals{}
	if of.totals() != nil {
		t.Error("totals of nothing")
	}
	start := time.UnixMilli(0)
	for _, w := range []struct {
		from, to              int64
		iops, bandwidth, mean float64
	}{{1000, 2000, 100, 400, 10}, {2000, 3000, 300, 0, 30}, {3000, 4000, 0, 0, 50}} {
		run := &mapping.RunInfo{Start: start}
		of.add(&window.Window{Run: run, Start: start.Add(time.Duration(w.from) * time.Millisecond), End: start.Add(time.Duration(w.to) * time.Millisecond),
			IOPS: w.iops, Bandwidth: w.bandwidth, Latency: mapping.Latency{Mean: w.mean}})
	}
	want := &mapping.Totals{DurationMS: 4000, IOPS: 133.333, Bandwidth: 200, Latency: mapping.Latency{Mean: 25}}
	if diff := cmp.Diff(want, of.totals()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
