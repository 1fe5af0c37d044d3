package evidence_test

import (
	"testing"

	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

const epoch = 1_700_000_000_000

// TestAnotherExecution: a report appended to that of an earlier run (>>) is not a later one of the same run.
func TestAnotherExecution(t *testing.T) {
	rep := func(ms, elapsed int64, names ...string) *fiolog.Report {
		r := &fiolog.Report{Timestamp: epoch + ms}
		for _, n := range names {
			r.Jobs = append(r.Jobs, fiolog.Job{Name: n, Elapsed: elapsed})
		}
		return r
	}
	served := func(ms, elapsed, ran int64) *fiolog.Report {
		r := rep(ms, elapsed, "a")
		r.Jobs[0].Runtime, r.Jobs[0].Directions[fiolog.Read] = ran, fiolog.DirectionStats{TotalIOs: 100, Runtime: ran}
		return r
	}
	begins := served(1000, 3563, 0) // in the moment in which it began, an hour after the machine was started
	begins.Jobs[0].Runtime = 3562272
	text := func() *fiolog.Report { return &fiolog.Report{Format: fiolog.Normal, Jobs: []fiolog.Job{{Name: "a"}}} }
	for _, c := range []struct {
		name          string
		before, after *fiolog.Report
		isOther       bool
		executions    int // another one without requests replaces the first
	}{
		{"a second later", rep(0, 4, "a"), rep(1000, 5, "a"), false, 1},
		{"a second later, rounded", rep(0, 4, "a"), rep(1990, 5, "a"), false, 1},
		{"the last one", rep(0, 4, "a"), rep(60, 4, "a"), false, 1},
		{"the same job at once", rep(0, 5, "a"), rep(5100, 6, "a"), true, 1},
		{"the same job for longer", rep(0, 5, "a"), rep(9500, 10, "a"), true, 1},
		{"the same job for less", rep(0, 5, "a"), rep(3000, 3, "a"), true, 1},
		{"other jobs", rep(0, 5, "a"), rep(1000, 6, "b"), true, 2},
		{"fewer jobs", rep(0, 5, "a", "a"), rep(1000, 6, "a"), true, 2},
		{"without times", rep(0, 0, "a"), rep(0, 0, "a"), false, 1},
		{"the report before", served(1000, 1, 1000), served(2000, 2, 2000), false, 1},
		{"the moment in which it began", begins, served(2000, 2, 1000), true, 1},
		{"a run of an hour before", served(1000, 3563, 3562272), served(2000, 2, 1000), true, 2},
		{"a run of a second, long before", served(-90_000, 1, 1000), served(2000, 2, 1000), true, 2},
		{"text", text(), text(), true, 2},
	} {
		all := evidence.Join(evidence.Join(nil, c.before, source.Modified{}, 0), c.after, source.Modified{}, 0)
		last := all[len(all)-1]
		if got := last.Skip == 1; got != c.isOther || len(all) != c.executions || last.Before != len(all)-1 || len(last.Times) != 2-last.Skip || last.Fio != c.after {
			t.Errorf("%s: %d executions, before the last one %d, and %d reports; %d of its own", c.name, len(all), last.Before, last.Skip, len(last.Times))
		}
	}
}

// TestBegunOnGrid: fio took the run times of a report when it was asked for it, at an edge of the grid, and wrote it 746 ms later, because
// a job slept. Times are of fio 3.33.
func TestBegunOnGrid(t *testing.T) {
	type report struct{ at, ran int64 }
	sleeps := []report{{2746, 173}, {3646, 1173}, {4546, 2173}, {4600, 2250}}
	for _, c := range []struct {
		grid, want int64
		reports    []report
	}{
		{0, 2350, sleeps}, {1000, 1827, sleeps},
		{1000, 1827, []report{{2603, 680}, {3005, 1173}, {4005, 2173}}},               // asked half a second late
		{1000, 1827, []report{{2746, 173}, {5450, 1173}, {5452, 3620}, {6003, 4173}}}, // two edges were missed
	} {
		var all []*evidence.Execution
		for _, r := range c.reports {
			j := fiolog.Job{Name: "a", Runtime: r.ran, Elapsed: r.at/1000 - 1}
			j.Directions[fiolog.Read] = fiolog.DirectionStats{TotalIOs: uint64(r.ran), Runtime: r.ran}
			all = evidence.Join(all, &fiolog.Report{Timestamp: epoch + r.at, Jobs: []fiolog.Job{j}}, source.Modified{}, c.grid)
		}
		if got := all[0].Begun[0].Start.UnixMilli() - epoch; got != c.want || all[0].Grid != c.grid {
			t.Errorf("grid of %d ms: it began at %d, want %d", c.grid, got, c.want)
		}
	}
}
