package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// tailOf reads rows of a second each, of ten requests, of the jobs of an entry: the times at which they end. It returns the
// rows that fio did not log, and what is said of them.
func tailOf(e *plan.Entry, d fiolog.Direction, ends ...[]int64) ([]align.Row, string) {
	return tailOfCounts(e, d, []uint64{10}, ends...)
}

// tailOfCounts is tailOf for rows that have these numbers of requests in turn.
func tailOfCounts(e *plan.Entry, d fiolog.Direction, counts []uint64, ends ...[]int64) ([]align.Row, string) {
	return tailOfLater(e, d, counts, 0, ends...)
}

// tailOfLater is tailOfCounts for jobs that began so many milliseconds after one another.
func tailOfLater(e *plan.Entry, d fiolog.Direction, counts []uint64, later int64, ends ...[]int64) ([]align.Row, string) {
	for i, times := range ends {
		j := plan.NewJob(&plan.Log{Log: cbt.Log{File: evidence.Of(&source.File{Path: fmt.Sprintf("out_clat_hist.%d.log", i+1)}), Job: i + 1}, Segment: -1})
		j.Entry, j.Interval, j.Source, j.HasRows, j.Offset = e, 1000, plan.FromHist, len(times) > 0, int64(i)*later
		e.Jobs = append(e.Jobs, j)
	}
	said := &problems{}
	r := newRunReader(&input{Plan: &plan.Plan{Run: &cbt.Run{}, Jobs: e.Jobs, Entries: []*plan.Entry{e}}}, said)
	for i, times := range ends {
		of := r.rows[e.Jobs[i]]
		for k, at := range times {
			row := rowWith([]uint64{counts[k%len(counts)]})
			for _, row := range of.split.Split(at, d, hist.Layout{}, row.Bins, row.Total) {
				of.add(&row)
			}
		}
	}
	rows := r.tail(e)
	skipped, notes := said.all()
	return rows, fmt.Sprint(notes, skipped)
}

// reported is an entry that ran for some milliseconds and reports requests of each direction.
func reported(ran int64, requests ...uint64) *plan.Entry {
	out, entries := reportOf(ran)
	out.File = evidence.Of(&source.File{Path: "out.json"})
	for d, n := range requests {
		rec := rowWith([]uint64{n})
		s := &entries[0].Directions[d]
		*s = fiolog.DirectionStats{TotalIOs: n, Runtime: ran}
		s.Clat.Bins, s.Clat.N = rec.Bins, n
	}
	return entries[0]
}

// TestShortPhase: reads that verify what was written, in less than an interval, have no row. Nothing is missing from the log
// then, unless it ends long before.
func TestShortPhase(t *testing.T) {
	for ran, want := range map[int64]string{2400: "in no row of its log: fio writes the first row of a direction 1000 ms after", 9000: "5000 requests of the report are not in its log, which ends at 0 ms of 9000"} {
		e := reported(ran, 5000, 20)
		if rows, said := tailOf(e, fiolog.Write, []int64{1000, 2000}); len(rows) > 0 || !strings.Contains(said, want) {
			t.Errorf("%d ms: %d rows, %s", ran, len(rows), said)
		}
	}
}

// TestEndsApart: jobs of a group whose logs ended apart have an end each, whose requests are divided in proportion to their rates.
func TestEndsApart(t *testing.T) {
	e := reported(4000, 50+14)
	e.Size = 2
	rows, said := tailOfLater(e, fiolog.Read, []uint64{10}, 2000, []int64{1000, 2000, 3000}, []int64{1000, 2000})
	got := ""
	for _, row := range rows {
		got += fmt.Sprintf("%d-%d: %d; ", row.Start, row.End, row.Total)
	}
	if got != "3000-4000: 7; 4000-5000: 7; " || !strings.Contains(said, "the 14 requests at their ends are divided") {
		t.Error(got, said)
	}
	if rows, _ := tailOfLater(reported(4000, 30+5), fiolog.Read, []uint64{10}, -9000, nil, []int64{1000, 2000, 3000}); len(rows) != 1 || rows[0].Start != -6000 || rows[0].End != -5000 {
		t.Error("the second began before the first: ", rows)
	}
	for ran, want := range map[int64]string{4400: "the 20 requests at their ends are divided", 9000: "ends at 1000 ms of 9000"} {
		if _, said := tailOf(reported(ran, 40), fiolog.Read, []int64{1000}, []int64{4000}); !strings.Contains(said, want) {
			t.Errorf("%d ms: %s", ran, said)
		}
	}
}

// TestCutByChance: requests that come by chance (rate_process=poisson) are not as many in each second. What is not in the log
// may be some more than the largest row; twice as many is a lost row.
func TestCutByChance(t *testing.T) {
	rows := []uint64{380, 401, 391, 370}
	for rest, cut := range map[uint64]bool{300: false, 431: false, 800: true} {
		e := reported(5108, 380+401+391+370+rest)
		if _, said := tailOfCounts(e, fiolog.Read, rows, []int64{1000, 2000, 3000, 4002}); strings.Contains(said, "requests of the report are not in its log") != cut {
			t.Errorf("%d requests: %s", rest, said)
		}
	}
}

// TestBurstAfterStall: after a stall fio makes up for a fixed rate, so the last part of an interval may have the requests of several.
func TestBurstAfterStall(t *testing.T) {
	for _, c := range []struct {
		ran  int64
		rest uint64
		ends []int64 // of rows of ten requests each
		cut  bool
	}{
		{4990, 25, []int64{1000, 2000, 4500, 4500}, false}, {4990, 300, []int64{1000, 2000, 4500, 4500}, false},
		{5600, 35, []int64{1000, 2000, 4500, 4500}, false}, {5600, 300, []int64{1000, 2000, 4500, 4500}, true}, {4990, 100, []int64{1000, 2000, 3000, 4000}, true},
	} {
		e := reported(c.ran, uint64(10*len(c.ends))+c.rest)
		if rows, said := tailOf(e, fiolog.Read, c.ends); strings.Contains(said, "requests of the report are not in its log") != c.cut || len(rows) == 0 != c.cut {
			t.Errorf("%d after %v until %d: %d rows, %s", c.rest, c.ends, c.ran, len(rows), said)
		}
	}
}

// TestNoTimeForTheRest: what the report has beyond the log is more than the time after the log has room for.
func TestNoTimeForTheRest(t *testing.T) {
	for _, c := range []struct {
		ran  int64
		rest uint64
		want string
	}{
		{3000, 319, "319 requests of the report are not in its log, which ends at 3000 ms, and the job ran for 3000 ms: they are in its last window, whose rate is too high"},
		{3040, 319, "the job ran for 3040 ms"}, {3000, 30, ""}, {3500, 319, ""},
	} {
		e := reported(c.ran, 1500+c.rest)
		rows, said := tailOfCounts(e, fiolog.Read, []uint64{500, 500, 500}, []int64{1000, 2000, 3000})
		if c.want == "" != (said == "[] []") || !strings.Contains(said, c.want) || len(rows) != 1 || rows[0].Total != c.rest {
			t.Errorf("%d requests in %d ms: %d rows, %s", c.rest, c.ran-3000, len(rows), said)
		}
	}
}

// TestTailWithoutLogs: where logs of some jobs of a group are missing, the rest has all of their requests, from any time.
func TestTailWithoutLogs(t *testing.T) {
	for size, want := range map[int]int{1: 1, 2: 0} {
		e := reported(1500, 30)
		e.Size = size
		if rows, said := tailOf(e, fiolog.Read, []int64{1000}); len(rows) != want || said != "[] []" {
			t.Errorf("%d jobs: %d rows, %s", size, len(rows), said)
		}
	}
}

// TestCut: what rows are missing at the begin or the end of a log, by when fio would have written them and by the number of
// requests.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		name     string
		ran      int64
		reported uint64
		rows     [][]int64 // of ten requests each
		cut      bool
		want     string // the row of the rest
	}{
		{"all there", 3950, 39, [][]int64{{1000, 2000, 3000}}, false, "3000-3950: 9"},
		{"the last row", 3950, 39, [][]int64{{1000, 2000}}, true, "2000-3950: 19"},
		{"the last rows of two logs", 3950, 78, [][]int64{{1000, 2000}, {1000, 2000}}, true, "2000-3950: 38"},
		{"the last row of one of two logs", 3950, 78, [][]int64{{1000, 2000, 3000}, {1000, 2000}}, true, "3000-3950: 9; 2000-3950: 19"},
		{"the last row, and more than usual behind it", 3950, 60, [][]int64{{1000, 2000}}, true, ""},
		{"nothing completed in the last second", 3950, 30, [][]int64{{1000, 2000}}, false, "2000-3000: 10"},
		{"the first row", 3950, 39, [][]int64{{2000, 3000}}, true, ""},
		{"the first row, with a short end", 3250, 32, [][]int64{{2000, 3000}}, true, ""},
		{"a direction that began late", 3950, 29, [][]int64{{2000, 3000}}, false, "3000-3950: 9"},
		{"the last two rows of one of two logs", 3950, 78, [][]int64{{1000, 2000, 3000}, {1000}}, true, ""},
	} {
		e := reported(c.ran, c.reported)
		e.Size = len(c.rows)
		rows, said := tailOf(e, fiolog.Read, c.rows...)
		var got []string
		for _, row := range rows {
			got = append(got, fmt.Sprintf("%d-%d: %d", row.Start, row.End, row.Total))
		}
		if strings.Contains(said, "requests of the report are not in its log") != c.cut || strings.Join(got, "; ") != c.want ||
			c.cut && strings.Contains(said, "in windows they are spread evenly") != (c.want != "") {
			t.Errorf("%s: %v, %s", c.name, got, said)
		}
		e = reported(c.ran, c.reported) // a report without bins
		e.Size, e.Directions[0].Clat.Bins, e.Directions[0].Clat.Mean = len(c.rows), nil, 1
		if _, said := tailOf(e, fiolog.Read, c.rows...); strings.Contains(said, "requests of the report are not in its log") != c.cut {
			t.Errorf("%s, without bins: %s", c.name, said)
		}
	}
}

// TestStagesInOneLog: the requests at the end of each stage are not logged. A report counts them together, so when they
// completed is unknown, also if they are few.
func TestStagesInOneLog(t *testing.T) {
	e := reported(5400, 45)
	e.Several = true
	rows, said := tailOf(e, fiolog.Read, []int64{1000, 2000, 4000, 5000})
	if len(rows) > 0 || !strings.Contains(said, "5 requests of the report are not in its log: those at the ends of its stages") {
		t.Errorf("%d rows, %s", len(rows), said)
	}
}

// TestTail: what a report counts beyond two rows of a second each is between the last row and the end,
// unless that is too long, too much, or not the only part that is missing.
func TestTail(t *testing.T) {
	for _, c := range []struct {
		name       string
		reported   []uint64 // requests in each bin
		ran        int64    // milliseconds
		torn       bool     // rows in the middle were skipped
		cut        bool     // the end of the log was
		want       string   // the row
		missing    int64
		skipped    int
		noBins     bool
		wrongTotal bool
	}{
		{name: "nothing is missing", reported: []uint64{20, 2}, ran: 2000, want: "[]"},
		{name: "the part of an interval", reported: []uint64{23, 2}, ran: 2400, want: "[2000-2400: 3]"},
		{name: "the log was cut", reported: []uint64{30, 2}, ran: 3500, cut: true, want: "[2000-3500: 10]"},
		{name: "the last row is missing", reported: []uint64{40, 2}, ran: 3900, want: "[2000-3900: 20]", skipped: 1},
		{name: "nothing in the last second", reported: []uint64{28, 2}, ran: 3900, want: "[2000-3000: 8]"},
		{name: "the log ends long before", reported: []uint64{70, 2}, ran: 9000, want: "[]", missing: 50, skipped: 1},
		{name: "too many for the time", reported: []uint64{900, 2}, ran: 2400, want: "[]", missing: 880, skipped: 1},
		{name: "rows in the middle are missing", reported: []uint64{23, 2}, ran: 2400, torn: true, want: "[]", missing: 3},
		{name: "more rows than requests", reported: []uint64{10, 2}, ran: 2400, want: "[]", skipped: 1},
		{name: "other bins", reported: []uint64{23, 1}, ran: 2400, want: "[]", missing: 2, skipped: 1},
		{name: "a report without bins", reported: []uint64{23, 2}, ran: 2400, noBins: true, want: "[]", missing: 3},
		{name: "a damaged report", reported: []uint64{23, 2}, ran: 2400, wrongTotal: true, want: "[]", missing: 4, skipped: 1},
	} {
		out, entries := reportOf(c.ran)
		out.File = evidence.Of(&source.File{Path: "out.json"})
		e, rec := entries[0], rowWith(c.reported)
		e.Directions[0] = fiolog.DirectionStats{TotalIOs: rec.Total, Runtime: c.ran}
		if !c.noBins {
			e.Directions[0].Clat.Bins, e.Directions[0].Clat.N = rec.Bins, rec.Total
		}
		if c.wrongTotal {
			e.Directions[0].TotalIOs, e.Directions[0].Clat.N = rec.Total+1, 0
		}
		j := plan.NewJob(&plan.Log{Log: cbt.Log{File: evidence.Of(&source.File{Path: "out_clat_hist.1.log"}), Job: 1}, Segment: -1})
		j.Entry, j.Interval, j.Source, j.HasRows = e, 1000, plan.FromHist, true
		e.Jobs = []*plan.Job{j}
		said := &problems{}
		r := newRunReader(&input{Plan: &plan.Plan{Run: &cbt.Run{}, Jobs: e.Jobs, Entries: entries}}, said)
		of := r.rows[j]
		for _, at := range []int64{1000, 2000} {
			row := rowWith([]uint64{10, 1})
			for _, row := range of.split.Split(at, fiolog.Read, hist.Layout{}, row.Bins, row.Total) {
				of.add(&row)
			}
		}
		of.damaged, of.cut = c.torn || c.cut, c.cut
		got := []string{}
		recovered := int64(0)
		for _, row := range r.tail(e) {
			got = append(got, fmt.Sprintf("%d-%d: %d", row.Start, row.End, row.Total))
			recovered += int64(row.Total)
		}
		sum, missing := r.unlogged()
		skipped, _ := said.all()
		if fmt.Sprint(got) != c.want || sum != recovered || missing[0] != c.missing || len(skipped) != c.skipped {
			t.Errorf("%s: %v, want %s; %d recovered, %d missing, %v", c.name, got, c.want, sum, missing[0], skipped)
		}
	}
}

// reportOf is the report of a job that ran for some milliseconds.
func reportOf(ran int64) (*plan.Output, []*plan.Entry) {
	of := fiolog.Job{Name: "job0", Elapsed: ran/1000 + 1}
	of.Directions[0] = fiolog.DirectionStats{TotalIOs: 100, Runtime: ran}
	out := &plan.Output{Report: cbt.Report{File: evidence.Of(&source.File{Path: "out.json"})}, Execution: evidence.Execution{Fio: &fiolog.Report{Timestamp: 1_764_000_000_000, Jobs: []fiolog.Job{of}}}}
	return out, plan.NewEntries(out)
}

// rowWith is a row with some counts in its first bins.
func rowWith(counts []uint64) *fiolog.Record {
	rec := &fiolog.Record{}
	for i, n := range counts {
		if n > 0 {
			rec.Bins = append(rec.Bins, hist.Bin{Index: uint32(i), Count: n})
			rec.Total += n
		}
	}
	return rec
}

// TestInFlightAtRamp: requests in flight when ramp_time ended are in the logs and not in total_ios, at most iodepth of each job.
func TestInFlightAtRamp(t *testing.T) {
	for _, c := range []struct {
		options map[string]string
		jobs    int
		wrong   bool
	}{
		{map[string]string{"ramp_time": "2", "iodepth": "3"}, 1, false},
		{map[string]string{"ramp_time": "2", "iodepth": "2"}, 1, true},
		{map[string]string{"ramp_time": "2", "iodepth": "2"}, 2, false},
		{map[string]string{"ramp_time": "2"}, 1, true},
		{map[string]string{"iodepth": "3"}, 1, true},
	} {
		out, _ := reportOf(2990)
		out.File, out.Fio.Jobs[0].Options = evidence.Of(&source.File{Path: "out.json"}), c.options
		e := plan.NewEntries(out)[0]
		e.Size = c.jobs
		ends := [][]int64{{1000, 2000}, {1000, 2000}}[:c.jobs]
		e.Directions[0] = fiolog.DirectionStats{TotalIOs: uint64(20*c.jobs - 3), Runtime: 2990, Clat: fiolog.Latency{Mean: 1}}
		if _, said := tailOf(e, fiolog.Read, ends...); strings.Contains(said, "some rows are of another run") != c.wrong {
			t.Errorf("%v, %d jobs: %s", c.options, c.jobs, said)
		}
	}
}

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
	docs, _ := readRun(t, dir, "", Options{Window: time.Second, Levels: []mapping.Level{mapping.Cluster}})
	last := map[string]string{}
	for _, w := range docs {
		last[w.Fio.Direction] = fmt.Sprintf("%d in %v: %v IOPS", w.Requests.Completed, time.Duration(w.Window.MS)*time.Millisecond, w.IOPS)
	}
	if want := "map[read:100 in 1s: 100 IOPS trim:25 in 250ms: 100 IOPS]"; fmt.Sprint(last) != want {
		t.Errorf("last windows: %v, want %s", last, want)
	}
}
