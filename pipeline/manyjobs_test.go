package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/source"
)

// tinyJobs makes a report of n jobs with hardly any text.
func tinyJobs(n int) string {
	return "{\"fio version\": \"fio-3.33\", \"timestamp_ms\": 1700000000000, \"jobs\": [\n" + strings.Repeat("{\"jobname\": \"a\"},\n", n) + "{}]\n}\n"
}

// fullJob is a report of one job, with as much text as fio writes.
func fullJob(int) string {
	return `{"fio version": "fio-3.33", "timestamp_ms": 1700000000000, "jobs": [{"jobname": "a", "job_runtime": 1000, "read": {"total_ios": 1}, "x": "` +
		strings.Repeat("x", 5000) + `"}]}`
}

// Reports of very many jobs of next to no text are left out, after work in proportion to their budgets and not to their
// number. Reports as fio writes them are read.
func TestManyJobs(t *testing.T) {
	tiny, many := tinyJobs(memtest.Scale(10_000, 30_000)), memtest.Scale(5, 300)
	byHost := func(i int) string { return fmt.Sprintf("results/00000000/id-7c1f03ab/json_output.0.h%d", i) }
	byFolder := func(i int) string { return fmt.Sprintf("%d/out.json", i) }
	for _, tt := range []struct {
		name string
		in   io.Reader
		runs int // that are read; 0: refused
	}{
		{"in one file", tarred(1, byHost, func(int) string { return strings.Repeat(tiny, many) }), 0},
		{"in reports of one job", tarred(1, byHost, func(int) string { return strings.Repeat(tinyJobs(0), memtest.Scale(10_000, 300_000)) }), 0},
		{"reports that are damaged", tarred(1, byHost, func(int) string { return strings.Repeat("{\"a\": }\n", memtest.Scale(30_000, 1_000_000)) + fullJob(0) }), 0},
		{"in the files of one run", tarred(many, byHost, func(int) string { return tiny }), 0},
		{"in as many runs", tarred(many, byFolder, func(int) string { return tiny }), 0},
		{"as fio writes them", tarred(200, byFolder, fullJob), 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			runs := 0
			used := memtest.Measure(t, func() { runs, err = readAll(t.Context(), tt.in) })
			t.Logf("%d MB, %v: %d runs, %v", used.Peak>>20, used.Time, runs, err)
			if errors.Is(err, source.ErrTooMuch) != (tt.runs == 0) || runs != tt.runs && (tt.runs > 0 || runs > 1) || used.Peak > 400<<20 || used.Time > time.Minute {
				t.Errorf("%d runs, %v, %d bytes", runs, err, used.Peak)
			}
		})
	}
}

// readAll reads all runs of standard input. The error has all that was left out.
func readAll(ctx context.Context, in io.Reader) (runs int, err error) {
	a, err := pipeline.Open(ctx, []string{"-"}, in, nil)
	if err != nil {
		return 0, err
	}
	defer a.Close()
	for _, p := range a.Problems {
		err = errors.Join(err, p)
	}
	for _, run := range a.Runs {
		result, failed := Read(ctx, run, pipeline.Options{}, func(*window.Window) error { return nil })
		if failed != nil {
			return runs, failed
		}
		if err = errors.Join(err, errors.Join(result.Skipped...)); result.Run != nil {
			runs++
		}
	}
	return runs, err
}
