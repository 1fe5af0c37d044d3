package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/pipeline/cbt"
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

// Reports of very many jobs of next to no text are refused by name, after work in
// proportion to the budget and not to their number. Those beside them, as fio writes them, are read.
func TestManyJobs(t *testing.T) {
	tiny, many := tinyJobs(30_000), memtest.Scale(5, 300)
	byHost := func(i int) string { return fmt.Sprintf("results/00000000/id-7c1f03ab/json_output.0.h%d", i) }
	byFolder := func(i int) string { return fmt.Sprintf("%d/out.json", i) }
	type test struct {
		name    string
		in      io.Reader
		runs    int
		refused int // runs with a report that is not read
	}
	tests := []test{
		{"in one file", tarred(1, byHost, func(int) string { return strings.Repeat(tiny, many) }), 1, 1},
		{"in reports of one job", tarred(1, byHost, func(int) string { return strings.Repeat(tinyJobs(0), 300_000) }), 1, 1},
		{"reports that are damaged", tarred(1, byHost, func(int) string { return strings.Repeat("{\"a\": }\n", 1_000_000) + fullJob(0) }), 1, 1},
		{"as fio writes them", tarred(200, byFolder, fullJob), 200, 0},
	}
	tests = append(tests, memtest.Scale(nil, []test{
		{"as fio writes them, and one that is not", tarred(200, byFolder, func(i int) string {
			if i == 0 {
				return tinyJobs(35_000) + tinyJobs(35_000)
			}
			return fullJob(i)
		}), 200, 1},
		{"in the files of one run", tarred(many, byHost, func(int) string { return tiny }), 1, 1},
		{"in as many runs", tarred(many, byFolder, func(int) string { return tiny }), many, many - 2},
	})...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs, refused, jobs := 0, 0, int64(0)
			used := memtest.Measure(t, func() {
				a, err := Open(t.Context(), []string{"-"}, tt.in, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				for _, run := range a.Runs {
					runs++
					if isRefused(t.Context(), run) {
						refused++
					}
				}
				jobs = a.Runs[0].Budget.Jobs()
			})
			t.Logf("%d MB, %v: %d of %d runs refused, %d jobs read", used.Peak>>20, used.Time, refused, runs, jobs)
			const most = 10 * 64_000 // twice the budget, read for five purposes
			if runs != tt.runs || refused != tt.refused || jobs > most || used.Peak > 400<<20 {
				t.Errorf("%d runs, %d refused, %d jobs read, %d bytes", runs, refused, jobs, used.Peak)
			}
		})
	}
}

// isRefused looks a run up and plans it, and reports whether a report was not read.
func isRefused(ctx context.Context, run *cbt.Run) bool {
	if _, err := Look(ctx, run, Options{}); err != nil {
		return true
	}
	var problems Problems
	p, err := makePlan(ctx, run, Options{}, false, nil, &problems)
	if err == nil {
		p.close()
	}
	for _, lost := range problems.Skipped() {
		if errors.Is(lost, cbt.ErrBudget) {
			return true
		}
	}
	return false
}
