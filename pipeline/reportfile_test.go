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

// TestEndByReports: a job that ended before others does not last until later reports, also if these count more of its requests.
func TestEndByReports(t *testing.T) {
	job := func(name string, ran, requests int) string {
		return fmt.Sprintf(`{"jobname": %q, "job_runtime": %d, "read": {"total_ios": %d, "runtime": %[2]d, "clat_ns": {"bins": {"100864": %[3]d}}}}`, name, ran, requests)
	}
	var text strings.Builder
	for i := range 4 {
		fmt.Fprintf(&text, `{"fio version": "fio-3.36", "timestamp_ms": %d, "jobs": [%s, %s]}`+"\n", 1700000001000+1000*i,
			job("a", min(1000+1000*i, 1400), 100*min(i+1, 3)), job("b", 1000+1000*i, 50+50*i))
	}
	file := filepath.Join(t.TempDir(), "out.json")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	docs, res := readRun(t, file, "", pipeline.Options{Levels: []mapping.Level{mapping.Job}})
	got := ""
	for _, d := range docs {
		got += fmt.Sprintf("job %s %d-%d: %d, ", d.Fio.Job, d.Window.ElapsedMS, d.Window.ElapsedMS+d.Window.MS, d.Requests.Completed)
	}
	const want = "job 1 0-1000: 100, job 2 0-1000: 50, job 1 1000-1400: 200, job 2 1000-2000: 50, job 2 2000-3000: 50, job 2 3000-4000: 50, "
	if got != want || len(res.Skipped)+len(res.Notes) > 0 {
		t.Errorf("%s, want %s\n%v %v", got, want, res.Skipped, res.Notes)
	}
}
