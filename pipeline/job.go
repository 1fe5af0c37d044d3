package pipeline

import (
	"fmt"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// job is one job of fio with the rows that it logged, which are read once, in order.
type job struct {
	run     *reader
	log     cbt.Log
	segment int // which job of a log of several (per_job_logs=0), from 0; -1 if it has one
	entry   *entry
	source  rowSource // nil if nothing was logged

	hasRows     bool
	knowsLayout bool        // the log's columns show it
	first       int64       // time of the first row, as written
	layout      hist.Layout // of the rows; the zero value, fio 3's, for completions
	interval    int64       // log_hist_msec, or what corresponds to it; 0 if nothing tells

	start  time.Time // absolute; zero if unknown
	clock  clock
	origin int64 // what the log's times count from: 0, or the start for epoch times
	offset int64 // the job's start, milliseconds after the run's

	rows     []align.Row // waiting to be given out
	splitter *align.Splitter
	damaged  bool // rows were left out somewhere
	cut      bool // the log ends too early
	ended    bool

	sums     [fiolog.Directions]hist.Histogram // of all rows, if the run keeps them
	requests [fiolog.Directions]uint64         // in all rows
	last     int64                             // end of the last row since the job's start
}

// rowSource is where the rows of a job come from: a log of histograms or of
// completions, or reports that fio wrote while it ran.
type rowSource interface {
	// open begins reading, and sets what the first row tells: how times count.
	open()
	// measure is the time between rows in milliseconds, where nothing else tells.
	measure() int64
	// more gives the job further rows, at least one; false at the end.
	more() bool
	// close ends reading, at the end or before.
	close()
}

// number is the job's among fio's, from 1.
func (j *job) number() int {
	if j.segment >= 0 {
		return j.segment + 1
	}
	return max(j.log.Job, 1)
}

// name is the job's at level Job: volume and number.
func (j *job) name() string {
	if j.log.Volume == "" {
		return strconv.Itoa(j.number())
	}
	return j.log.Volume + "." + strconv.Itoa(j.number())
}

// next is the job's stream of rows, in the run's time.
func (j *job) next() (align.Row, bool) {
	for len(j.rows) == 0 && !j.ended {
		if j.source != nil && j.source.more() {
			continue
		}
		j.ended = true
		if j.source != nil {
			j.source.close()
		}
		if j.entry != nil && len(j.entry.logs) == 1 && j.source != nil {
			j.rows = append(j.rows, j.entry.tail()...)
		}
	}
	if len(j.rows) == 0 {
		return align.Row{}, false
	}
	row := j.rows[0]
	j.rows = j.rows[1:]
	return j.inRun(row), true
}

// inRun is a row of the job in the time of the windows.
func (j *job) inRun(row align.Row) align.Row {
	row.Start += j.offset + j.run.shift
	row.End += j.offset + j.run.shift
	return row
}

// maxRun is longer than any run: ten years of milliseconds.
const maxRun = 10 * 366 * 24 * 3600 * 1000

// checkTime tells what is wrong with a time, as written.
func (j *job) checkTime(t int64) error {
	if at := t - j.origin; at < 0 || at > maxRun {
		return fmt.Errorf("time %d is no time of a job that began at %d, want at most ten years later", t, j.origin)
	}
	return nil
}

// leaveOut reports a row that is well written but cannot be true.
func (j *job) leaveOut(line int, err error) {
	j.run.problems.lose(fmt.Errorf("%s:%d:1: %w", j.log.File.Name(), line, err))
	j.damaged = true
}
