package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestCuts: windows are cut to the time in which their jobs ran, by their rows and the report, and a time without rows is a fault only
// in a log of one job.
func TestCuts(t *testing.T) {
	log := func(requests int, times ...int) string {
		var text strings.Builder
		for _, at := range times {
			fmt.Fprintf(&text, "%d, 0, 4096%s, %d%s\n", at, strings.Repeat(", 0", 1000), requests, strings.Repeat(", 0", 855))
		}
		return text.String()
	}
	report := func(ran, requests int) string {
		return fmt.Sprintf(`{"fio version": "fio-3.36", "timestamp_ms": 1700000000000, "jobs": [{"jobname": "a", "job_runtime": %d, `+
			`"read": {"total_ios": %d, "runtime": %[1]d}}]}`, ran, requests)
	}
	const missing = "rows are missing before this one"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // requests of windows, from and to in milliseconds since the run's start
		said  string
		never string // is not said
	}{
		{"one job", map[string]string{"a_clat_hist.1.log": log(100, 1000, 2000, 3000)}, "0-1000: 100, 1000-2000: 100, 2000-3000: 100", "", missing},
		{
			"the job that began first ends last", map[string]string{"a_clat_hist.1.log": log(100, 1000, 2000, 3000), "a_clat_hist.2.log": log(50, 1000, 1500)},
			"0-1000: 150, 1000-2000: 150, 2000-3000: 100", "", missing,
		},
		{
			"the job that began first is not the first one", map[string]string{
				"a_clat_hist.1.log": log(100, 1800000001500, 1800000002500), "a_clat_hist.2.log": log(100, 1800000001000, 1800000002000, 1800000003000),
			},
			"0-1000: 150, 1000-2000: 200, 2000-3000: 150", "", missing,
		},
		{
			"a report that was written before the last rows", map[string]string{"a_clat_hist.1.log": log(100, 1000, 2000, 3000), "a.json": report(1400, 140)},
			"0-1000: 100, 1000-2000: 100, 2000-3000: 100", "killed", missing,
		},
		{
			"a late row of one job", map[string]string{"a_clat_hist.1.log": log(100, 1000, 2000, 4100, 5100)},
			"0-1000: 100, 1000-2000: 100, 3000-4000: 99, 4000-5000: 100, 5000-5100: 1", missing, "",
		},
		{
			"a late row of a log of all jobs may begin another job", map[string]string{"a_clat_hist.log": log(100, 1000, 2000, 4100, 5100)},
			"0-1000: 100, 1000-2000: 100, 2000-3000: 99, 4000-5000: 91, 5000-5100: 10", "", missing,
		},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		archive, err := pipeline.Open(t.Context(), []string{dir}, nil, nil)
		if err != nil || len(archive.Runs) != 1 {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []string
		var said strings.Builder
		for stage, err := range pipeline.Stages(t.Context(), archive.Runs[0], pipeline.Options{}, false) {
			var r *pipeline.Result
			if err == nil {
				r, err = stage.Read(t.Context(), []mapping.Level{mapping.Cluster}, func(w *window.Window) error {
					got = append(got, fmt.Sprintf("%d-%d: %d", w.StartMS(), w.EndMS(), w.Completed))
					return nil
				})
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			fmt.Fprint(&said, r.Skipped, r.Notes)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if text := said.String(); !strings.Contains(text, c.said) || c.never != "" && strings.Contains(text, c.never) {
			t.Errorf("%s: %s", c.name, text)
		}
		archive.Close()
	}
}
