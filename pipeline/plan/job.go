package plan

import (
	"fmt"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Job is one job of fio, and when it ran.
type Job struct {
	assign.Job
	moment       // its start
	Origin int64 // the time, as written, that counts as the start of the job
	Offset int64 // start of the job minus start of the run, milliseconds
	Ran    int64 // run time in milliseconds; 0 if no report has it
}

// before returns the time one interval before the first row was due, as written. fio writes a row with the first
// completion after it was due, so the next rows show how late the first one was.
func (j *Job) before() int64 {
	before := j.First - j.Interval
	for _, times := range j.FirstTimes() {
		if len(times) > 0 && j.Interval > 0 {
			_, latest := align.Began(j.Interval, times)
			before = min(before, latest+j.Origin)
		}
	}
	return before
}

// HasLength reports whether anything shows how long the job took. The only row of a log with absolute times, without a report
// or an interval, shows only when it ended.
func (j *Job) HasLength() bool {
	return j.Entry != nil || j.Source != assign.FromHist || !j.HasRows || j.Interval > 0 || j.rowClock() == sinceStart
}

// FirstTimes returns the times of the first rows of each direction of a histogram log, since the start of the job.
func (j *Job) FirstTimes() (times [fiolog.Directions][]int64) {
	if j.Source == assign.FromHist {
		for _, rec := range j.Log.Rows {
			times[rec.Direction] = append(times[rec.Direction], rec.Time-j.Origin)
		}
	}
	return times
}

// CheckTime returns an error for an impossible time, as written.
func (j *Job) CheckTime(t int64) error {
	if at := t - j.Origin; at < 0 || at > MaxRun {
		return fmt.Errorf("time %d is not of a job that began at %d, want at most ten years later", t, j.Origin)
	}
	return nil
}

// MaxRun is longer than any run: ten years in milliseconds.
const MaxRun = 10 * 366 * 24 * 3600 * 1000

// String returns what is known of a job, in one line.
func (j *Job) String() string {
	text := "job " + j.Name()
	if j.Host != "" {
		text += " of " + j.Host
	}
	text += fmt.Sprintf(": rows from %s %s", j.Source, j.File())
	if report := j.Report(); report != "" {
		text += fmt.Sprintf("; report %s, found %s", report, j.Entry.Out.Found)
	}
	if !j.Start.IsZero() {
		text += fmt.Sprintf("; began %s by %s, ±%v", unit.Time(j.Start, unit.Moment), j.Clock, j.Error)
	}
	if j.Ran > 0 {
		text += fmt.Sprintf(", ran %v", time.Duration(j.Ran)*time.Millisecond)
	}
	return text
}

// rowClock is what the times of a job's rows count from.
type rowClock uint8

const (
	sinceStart rowClock = iota // of the job
	unixClock                  // 1970 (log_unix_epoch)
	otherClock                 // such as the start of the machine (log_alternate_epoch)
)

// rowClock returns what the times of a job's rows count from. Options say that it is another clock, or the first row comes
// long after the job's end.
func (j *Job) rowClock() rowClock {
	const late = 600_000 // ms; without a report, a first row this late is by another clock
	isOther := false
	switch {
	case !j.HasRows || j.Source == assign.FromReports:
		return sinceStart
	case j.First > evidence.EpochTimes:
		return unixClock
	case j.Entry == nil:
		isOther = j.First > late+100*j.Interval
	default:
		id := j.Entry.Option("log_alternate_epoch_clock_id")
		isOther = id != "" && id != "0" && j.Entry.HasOption("log_alternate_epoch") ||
			j.Ran > 0 && j.First > j.Ran+10*max(j.Interval, 1000)
	}
	if isOther {
		return otherClock
	}
	return sinceStart
}
