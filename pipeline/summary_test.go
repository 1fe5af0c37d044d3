package pipeline

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
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
