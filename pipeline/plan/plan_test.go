package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// TestLate: the first row is late by as much as it is behind the due times of the next ones.
func TestLate(t *testing.T) {
	for _, c := range []struct {
		name   string
		times  []int64
		writes []int64
		want   int64
	}{
		{"on time", []int64{9403, 9802, 10203, 10604, 11002}, nil, 1},
		{"one row", []int64{9403}, nil, 0},
		{"a slow request", []int64{9403, 9573, 9973, 10373, 10773}, nil, 230},
		{"a slow one later", []int64{9403, 9802, 10350, 10602, 11002}, nil, 1},
		{"others a little later", []int64{9400, 9801, 10201, 10609, 11006, 11406, 11804, 12204}, nil, 0},
		{"two directions", []int64{9632, 9801, 10201}, []int64{9640, 9802, 10205}, 231},
		{"a row is missing", []int64{9403, 10203, 10602, 11001}, nil, 0},
	} {
		var rows evidence.FirstRows
		for _, at := range c.times {
			rows = append(rows, &fiolog.Record{Time: at})
		}
		for _, at := range c.writes {
			rows = append(rows, &fiolog.Record{Time: at, Direction: fiolog.Write})
		}
		j := &Job{Job: assign.Job{Source: assign.FromHist, Log: &assign.JobLog{Opening: evidence.Opening{Rows: rows}}, Head: evidence.Head{First: rows[0].Time}, Interval: 400}}
		if got := j.First - j.Interval - j.before(); got != c.want {
			t.Errorf("%s: %d ms, want %d", c.name, got, c.want)
		}
		if j.Interval = 0; j.before() != j.First {
			t.Errorf("%s, without an interval: %d", c.name, j.before())
		}
	}
}

// rowsAt are jobs whose first rows have times, and which began later than the run.
func rowsAt(interval int64, first ...int64) (jobs []*Job) {
	for _, at := range first {
		j := &Job{Job: assign.Job{Source: assign.FromHist, Head: evidence.Head{HasRows: true, First: at}, Interval: interval}}
		j.Log = &assign.JobLog{Log: assign.Log{File: evidence.Of(&source.File{Path: "out_clat_hist.1.log"})}}
		jobs = append(jobs, j)
	}
	return jobs
}

// planning is a planner of a plan of some jobs.
func planning(p *Plan, ev *assign.Evidence) *planner {
	p.JobsOf = map[*assign.Entry][]*Job{}
	for _, j := range p.Jobs {
		p.JobsOf[j.Entry] = append(p.JobsOf[j.Entry], j)
	}
	return &planner{p, ev, &assign.Remarks{}, map[assign.Need]bool{}, map[*assign.Output]bool{}}
}

// windowsOf returns the length of windows of some jobs and how long before the run they begin.
func windowsOf(jobs []*Job, wanted time.Duration) (window, shift int64, err error) {
	p := planning(&Plan{opt: Options{Window: wanted}, Jobs: jobs}, &assign.Evidence{})
	err = p.windows()
	return p.Window, p.Shift, err
}

// TestCut: where several fios began apart, windows have several rows of them, if the run is long enough. Else their percentiles are
// estimates.
func TestCut(t *testing.T) {
	type fio struct {
		host, volume  string
		rows, offset  int64
		seconds       int64
		isFromReports bool
	}
	for _, c := range []struct {
		name   string
		fios   []fio
		wanted time.Duration
		live   bool
		window int64
		cut    bool
	}{
		{"hosts", []fio{{host: "a", rows: 1000, seconds: 60}, {host: "b", rows: 1000, offset: 600, seconds: 60}}, 0, false, 5000, false},
		{"volumes", []fio{{volume: "0", rows: 1000, seconds: 60}, {volume: "1", rows: 1000, offset: 600, seconds: 60}}, 0, false, 5000, false},
		{"a minute to the last end", []fio{{host: "a", rows: 1000, seconds: 58}, {host: "b", rows: 1000, offset: 2600, seconds: 58}}, 0, false, 5000, false},
		{"short", []fio{{host: "a", rows: 1000, seconds: 50}, {host: "b", rows: 1000, offset: 600, seconds: 50}}, 0, false, 1000, true},
		{"of an unknown length", []fio{{host: "a", rows: 1000}, {host: "b", rows: 1000, offset: 600}}, 0, false, 1000, true},
		{"wanted", []fio{{host: "a", rows: 1000, seconds: 60}, {host: "b", rows: 1000, offset: 600, seconds: 60}}, time.Second, false, 1000, true},
		{"wanted longer", []fio{{host: "a", rows: 1000, seconds: 60}, {host: "b", rows: 1000, offset: 600, seconds: 60}}, 10 * time.Second, false, 10_000, false},
		{"whole rows apart", []fio{{host: "a", rows: 1000, seconds: 60}, {host: "b", rows: 1000, offset: 2000, seconds: 60}}, 0, false, 1000, false},
		{"50 ms apart", []fio{{host: "a", rows: 1000, seconds: 60}, {host: "b", rows: 1000, offset: 2950, seconds: 60}}, 0, false, 1000, false},
		{"long rows", []fio{{host: "a", rows: 4000, seconds: 300}, {host: "b", rows: 4000, offset: 1000, seconds: 300}}, 0, false, 20_000, false},
		{"short rows", []fio{{host: "a", rows: 500, seconds: 60}, {host: "b", rows: 500, offset: 200, seconds: 60}}, 0, false, 1000, false},
		{"one fio", []fio{{host: "a", rows: 1000, seconds: 60}, {host: "a", rows: 1000, offset: 600, seconds: 60}}, 0, false, 1000, false},
		{"reports", []fio{{"a", "", 1000, 0, 60, true}, {"b", "", 1000, 600, 60, true}}, 0, false, 1000, false},
		{"while it runs", []fio{{host: "a", rows: 1000, seconds: 60}, {host: "b", rows: 1000, offset: 600, seconds: 60}}, 0, true, 1000, false},
	} {
		var jobs []*Job
		for _, f := range c.fios {
			j := rowsAt(f.rows, f.rows)[0]
			j.Host, j.Volume, j.Offset, j.Ran = f.host, f.volume, f.offset, f.seconds*1000
			if f.isFromReports {
				j.Source, j.Entry = assign.FromReports, &assign.Entry{Out: &assign.Output{Report: assign.Report{File: j.Log.File}, Execution: evidence.Execution{Times: []int64{1000, 2000}}}}
			}
			jobs = append(jobs, j)
		}
		p := planning(&Plan{opt: Options{Window: c.wanted}, Jobs: jobs}, &assign.Evidence{Live: c.live})
		said := p.problems
		if err := p.windows(); err != nil || p.Window != c.window || p.IsEstimate() != c.cut || len(said.Notes) > 0 != (c.window >= 5000 && c.wanted == 0) {
			t.Errorf("%s: windows of %d, cut %v, notes %v, %v", c.name, p.Window, p.Cut, said.Notes, err)
		}
	}
}

// TestWindowLength: windows are whole rows, at least a second, and never shorter than rows.
func TestWindowLength(t *testing.T) {
	for _, c := range []struct {
		interval int64
		wanted   time.Duration
		want     int64
		fails    bool
	}{
		{0, 0, 1000, false},
		{1000, 0, 1000, false},
		{400, 0, 1200, false},
		{1500, 0, 1500, false},
		{1000, 1300 * time.Millisecond, 1300, false},
		{1000, 960 * time.Millisecond, 960, false}, // rows are some milliseconds off
		{1000, 900 * time.Millisecond, 0, true},
		{0, time.Nanosecond, 1, false},
	} {
		got, _, err := windowsOf(rowsAt(c.interval, 0, 0), c.wanted)
		if err == nil && got != c.want || (err != nil) != c.fails {
			t.Errorf("rows of %d ms, wanted %v: %d, %v; want %d", c.interval, c.wanted, got, err, c.want)
		}
	}
	if got, _, err := windowsOf(rowsAt(0, 5002, 3000), 0); got != 5000 || err != nil {
		t.Errorf("logs of one row, up to 5 s: windows of %d ms, %v", got, err)
	}
	if _, _, err := windowsOf(rowsAt(0, 5002), time.Second); err == nil {
		t.Error("windows of 1 s of a log with a row of 5 s")
	}
}

// TestShift: windows follow rows that come at the same moments, but not at multiples of their
// length.
func TestShift(t *testing.T) {
	for _, c := range []struct {
		name   string
		jobs   []*Job
		window int64
		want   int64
	}{
		{"no jobs", nil, 1000, 0},
		{"at multiples", rowsAt(1000, 1000, 2000), 1000, 0},
		{"a little late", rowsAt(1000, 1040, 1030), 1000, 0},
		{"all at one moment", rowsAt(1000, 1400, 3420), 1000, 600},
		{"windows of several rows", rowsAt(500, 700), 1000, 800},
		{"at different moments", rowsAt(1000, 1400, 1900), 1000, 0},
		{"windows that cut rows", rowsAt(1000, 1400), 1300, 0},
		{"an unknown interval", rowsAt(0, 1400), 1500, 0},
		{"a job without rows", append(rowsAt(1000, 1400), &Job{Job: assign.Job{Source: assign.FromNothing}}), 1000, 600},
	} {
		if _, got, err := windowsOf(c.jobs, time.Duration(c.window)*time.Millisecond); got != c.want || err != nil {
			t.Errorf("%s: %d ms, want %d", c.name, got, c.want)
		}
	}
}

// TestUnusedName: no two sections or stages have one name, also if users give names with such numbers.
func TestUnusedName(t *testing.T) {
	used := map[string]bool{}
	var got []string
	for _, name := range []string{"x", "x", "x #2", "x", "", "1", ""} {
		got = append(got, unusedName(used, name, " #"))
	}
	if want := []string{"x", "x #2", "x #2 #2", "x #3", "1", "1 #2", "2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
