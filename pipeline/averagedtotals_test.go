package pipeline

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

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
