package assign

import (
	"errors"
	"slices"

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
		have[KeyOf(log.Log)] = true
		if log.Segment > 0 {
			have[JobKey{log.Host, log.Volume, log.Segment + 1}] = true
		}
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
