package plan

import (
	"testing"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// rowsAt are jobs whose first rows have times, and which began later than the run.
func rowsAt(interval int64, first ...int64) (jobs []*Job) {
	for _, at := range first {
		j := &Job{Source: FromHist, Head: Head{HasRows: true, First: at}, Interval: interval}
		j.Log = &Log{Log: cbt.Log{File: &source.File{Path: "out_clat_hist.1.log"}}}
		jobs = append(jobs, j)
	}
	return jobs
}

// windowsOf returns the length of windows of some jobs and how long before the run they begin.
func windowsOf(jobs []*Job, wanted time.Duration) (window, shift int64, err error) {
	p := &planner{&Plan{opt: Options{Window: wanted}, Jobs: jobs}, nil, nil}
	err = p.windows()
	return p.Window, p.Shift, err
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
		{"a job without rows", append(rowsAt(1000, 1400), &Job{}), 1000, 600},
	} {
		if _, got, err := windowsOf(c.jobs, time.Duration(c.window)*time.Millisecond); got != c.want || err != nil {
			t.Errorf("%s: %d ms, want %d", c.name, got, c.want)
		}
	}
}
