package assign

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Evidence is what the files of a run show before their rows are read.
type Evidence struct {
	Run     *Run
	Config  map[string]any   // of CBT
	Outputs []*Output        // what fio printed
	Logs    []*JobLog        // of histograms: one for each job, also if a file has several jobs
	Others  []*JobLog        // the same of all other kinds, if NeedsOthers
	Written map[JobKey]int64 // bytes that fio wrote into all logs of a job, about
	Rows    map[Need]Rows    // of whole logs, as far as plans have needed them
	Live    bool             // fio still writes the files
}

// Need is something about all rows of a log that a plan needs to know. Few plans need any before their rows are read.
type Need struct {
	Log  *JobLog
	What What
	Lag  int // for OwnSums: of an [evidence.Undoubler]
}

// What is needed of the rows of a log.
type What uint8

// What may be needed.
const (
	OwnSums      What = iota // the sums of the rows, without what an [evidence.Undoubler] takes away; an error if a row is damaged
	ReadableSums             // the sums of the rows that can be read
	LastRow                  // the time of the last row, as written; rows with impossible times do not count
)

// Rows is what all rows of a log show: that which was needed.
type Rows struct {
	Sums *evidence.Sums
	Last int64
	Err  error
}

// NeedsOthers reports whether logs of completions may be needed. That is so if the user wants them (completions), or if a
// job has no histogram log with rows.
func (ev *Evidence) NeedsOthers(completions bool) bool {
	if completions || len(ev.Logs) == 0 {
		return true
	}
	have := map[JobKey]bool{}
	for _, log := range ev.Logs {
		if !log.HasRows || log.IsZero {
			return true
		}
		have[log.Key()] = true
	}
	return slices.ContainsFunc(ev.Run.Others, func(log Log) bool { return log.Kind == fiolog.Clat && !have[KeyOf(log)] })
}

// Know returns what all rows of a log show. If that is not known, it is added to needs.
func (ev *Evidence) Know(n Need, needs map[Need]bool) Rows {
	rows, ok := ev.Rows[n]
	if !ok {
		rows.Err, needs[n] = errNeeded, true
	}
	return rows
}

// errNeeded means that evidence lacks something.
var errNeeded = errors.New("its rows were not read yet")

// Options are the settings of users that decide which rows are read.
type Options struct {
	Title       string    // of the run, in messages
	Completions bool      // logs of completions come before histogram logs
	Bins        hist.Hint // what the user says about the bins and the unit of logs
	Jobs        bool      // each job is shown, also those of a group
}

// Assignment is which jobs an execution had, and what was found out of what its fios printed.
type Assignment struct {
	Outputs  []*Output
	Entries  []*Entry // of the jobs, in these outputs
	Jobs     []*Job   // in the order of their logs and reports
	Averages []Log    // in place of rows
}

// assigner is an assignment in the making. Its methods are the steps.
type assigner struct {
	*Assignment
	ev       *Evidence
	opt      Options
	problems *Remarks
	needs    map[Need]bool
}

// Remarks are what is said of evidence: what is missing, and what users should know.
type Remarks struct {
	Skipped []error // what is missing in the result, also in totals
	Lacking []error // what is missing in windows alone, because a report has the totals
	Notes   []error // what else the user should know
}

// Skip adds what is missing in the result.
func (r *Remarks) Skip(format string, args ...any) {
	r.Skipped = append(r.Skipped, fmt.Errorf(format, args...))
}

// Lack adds what is missing in windows alone.
func (r *Remarks) Lack(format string, args ...any) {
	r.Lacking = append(r.Lacking, fmt.Errorf(format, args...))
}

// Note adds what else the user should know.
func (r *Remarks) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Errorf(format, args...))
}

// Add adds other remarks.
func (r *Remarks) Add(o *Remarks) {
	r.Skipped, r.Lacking, r.Notes = append(r.Skipped, o.Skipped...), append(r.Lacking, o.Lacking...), append(r.Notes, o.Notes...)
}

// lack is Lack for a job that has an entry of a report, and else Skip.
func (r *Remarks) lack(j *Job, format string, args ...any) {
	if j.Entry == nil {
		r.Skip(format, args...)
		return
	}
	r.Lack(format, args...)
}
