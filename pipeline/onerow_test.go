package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestOneRowOfAnEpoch: the only row of a log with absolute times shows when it ends, and not when it began. So without a report or an
// interval neither its windows nor its run have a rate, and jobs that ended together are one stage.
func TestOneRowOfAnEpoch(t *testing.T) {
	const epoch = 1_800_000_000_000
	bins := strings.TrimPrefix(strings.Repeat(", 0", 1856-1), ", ") + ", 0"
	bins = strings.Replace(bins, "0, 0, 0, 0", "0, 0, 0, 300", 1)
	for _, c := range []struct {
		name   string
		ends   []int64 // of jobs, after the epoch
		rows   int     // of each
		stages int
		iops   float64
	}{
		{"one job", []int64{0}, 1, 1, 0},
		{"two jobs", []int64{8, 0}, 1, 1, 0},
		{"three stages", []int64{0, 30, 2_800, 2_810, 6_000}, 1, 3, 0},
		{"two rows show the interval", []int64{0}, 2, 1, 300},
	} {
		dir := t.TempDir()
		for i, end := range c.ends {
			var text strings.Builder
			for row := range c.rows {
				fmt.Fprintf(&text, "%d, 0, 4096, %s\n", epoch+end+int64(row)*1000, bins)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("u_clat_hist.%d.log", i+1)), []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		docs, results := readStages(t, dir, "", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
		if len(results) != c.stages {
			t.Errorf("%s: %d stages, want %d", c.name, len(results), c.stages)
		}
		for i, r := range results {
			for _, of := range docs[i] {
				if of.IOPS != c.iops || of.Requests.Completed == 0 || strings.Contains(string(of.AppendJSON(nil)), `"iops"`) != (c.iops > 0) {
					t.Errorf("%s: a window of %d requests with %v IOPS, want %v", c.name, of.Requests.Completed, of.IOPS, c.iops)
				}
			}
			if r.Run.All.IOPS != c.iops || (r.Run.All.DurationMS > 0) != (c.iops > 0) || r.Run.All.Requests == 0 {
				t.Errorf("%s: %d requests in %d ms, %v IOPS, want %v", c.name, r.Run.All.Requests, r.Run.All.DurationMS, r.Run.All.IOPS, c.iops)
			}
		}
	}
}
