package pipeline

import (
	"testing"
	"time"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// TestEndOf: a job that ended before others does not last until later reports.
func TestEndOf(t *testing.T) {
	out := &assign.Output{Report: assign.Report{File: &evidence.File{File: &source.File{Path: "out.json"}}}}
	r := &reportJob{file: &reportFile{out: out}, job: &plan.Job{Job: assign.Job{Entry: &assign.Entry{}}}}
	written := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r.job.Start, r.job.Ran, r.job.Interval = written, 400, 1000
	for i, c := range []struct{ at, ran, want int64 }{{-200, 1017, 0}, {800, 400, 400}, {1800, 400, 400}, {2800, 400, 400}, {3010, 400, 400}} {
		at := written.UnixMilli() + c.at
		if r.until = r.endOf(&fiolog.Report{Timestamp: at}, at, c.ran); r.until != c.want {
			t.Errorf("report %d: its rows end at %d, want %d", i, r.until, c.want)
		}
	}
}
