package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestDirectionThatEndsEarly: in a group one job trims for 2.25 s, and another reads for 4 s. The last window of trims ends with the job that
// trims.
func TestDirectionThatEndsEarly(t *testing.T) {
	const report = `{"fio version": "fio-3.33", "timestamp_ms": 1700000000000, "jobs": [{"jobname": "a", "groupid": 0, "elapsed": 5, "job_runtime": 6250,
"job options": {"log_hist_msec": "1000", "group_reporting": "1"}, "read": {"total_ios": 400, "runtime": 4000, "clat_ns": {"N": 400, "bins": {"100": 400}}},
"trim": {"total_ios": 225, "runtime": 2250, "clat_ns": {"N": 225, "bins": {"100": 225}}}}]}`
	dir := t.TempDir()
	row := func(ms, direction int) string {
		return fmt.Sprintf("%d, %d, 4096%s, 100%s\n", ms, direction, strings.Repeat(", 0", 100), strings.Repeat(", 0", 1856-101))
	}
	for name, text := range map[string]string{
		"out.json": report, "out_clat_hist.1.log": row(1000, 2) + row(2000, 2), "out_clat_hist.2.log": row(1000, 0) + row(2000, 0) + row(3000, 0),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	docs, _ := readRun(t, dir, "", pipeline.Options{Window: time.Second, Levels: []mapping.Level{mapping.Cluster}})
	last := map[string]string{}
	for _, w := range docs {
		last[w.Fio.Direction] = fmt.Sprintf("%d in %v: %v IOPS", w.Requests.Completed, time.Duration(w.Window.MS)*time.Millisecond, w.IOPS)
	}
	if want := "map[read:100 in 1s: 100 IOPS trim:25 in 250ms: 100 IOPS]"; fmt.Sprint(last) != want {
		t.Errorf("last windows: %v, want %s", last, want)
	}
}
