package query

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// TestAround: changes are found in brief runs. What changed in the configuration there is found, too, for any number
// of changes, unless one of the runs was removed in the meantime.
func TestAround(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	check(t, err)
	t.Cleanup(func() { store.Close() })
	const workloads, removed = 101, 7
	for w := range workloads {
		for i := range 6 {
			run := &mapping.Run{IntervalMS: 1000, CBT: mapping.CBT{Mode: "read", IODepth: int64(w + 1)}, Config: map[string]any{"osds": float64(i / 3)}}
			run.Run = mapping.RunInfo{ID: fmt.Sprintf("%08x%08x", w, i), Ingest: "1", Start: day.AddDate(0, 0, i), Complete: true}
			run.Read = &mapping.Totals{Requests: 1, IOPS: float64(100 + i%2 + 100*(i/3))}
			check(t, store.Finish(t.Context(), run))
		}
	}
	iops, err := workload.NumbersOf("iops")
	check(t, err)
	for _, most := range []int{3, workloads} {
		var runs []*mapping.Run
		for run, err := range store.Runs(t.Context(), history.RunFilter{Brief: true}) {
			check(t, err)
			if run.CBT.IODepth <= int64(most) {
				runs = append(runs, run)
			}
		}
		var series []*workload.Series
		for _, w := range workload.Group(runs) {
			series = append(series, w.Series(iops, 0.1)...)
		}
		gone := ""
		if most > removed {
			gone = series[removed].Changes[0].Before.Run.ID
			check(t, store.Delete(t.Context(), gone))
		}
		skipped, err := Around(t.Context(), store, series)
		if err != nil || len(skipped) > 0 || len(series) != most {
			t.Fatal(err, skipped, len(series))
		}
		for i, s := range series {
			c, want := s.Changes[0], "config.osds 1, was 0"
			if c.Before.Run.ID == gone {
				want = ""
			}
			if got := strings.Join(workload.Differences(c.Before, c.After), "; "); len(s.Changes) != 1 || got != want {
				t.Errorf("%d of %d: %d changes, %q, want %q", i, most, len(s.Changes), got, want)
			}
		}
	}
}
