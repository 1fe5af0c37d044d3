package pipeline

import "time"

// clock is the evidence of the absolute start of a job, the best first.
type clock uint8

const (
	clockNone   clock = iota // unknown
	clockEpoch               // rows with absolute times (log_unix_epoch)
	clockStart               // job_start in fio's JSON, since fio 3.36
	clockReport              // when fio wrote its reports, less the run time
	clockUser                // --start
	clockMtime               // when a file was last written, less the run time
)

var clockNames = [...]string{"unknown", "log_unix_epoch", "job_start", "report", "user", "mtime"}

func (c clock) String() string { return clockNames[c] }

// moment is when a job began, and how that is known.
type moment struct {
	start time.Time // absolute; zero if unknown
	clock clock
	error time.Duration // of start, plus or minus
}

// The errors of the evidence, as measured with fio 3.33: it looks for jobs that have ended a
// few times a second, and writes its report when all have.
const (
	errorOfEpoch  = 20 * time.Millisecond
	errorOfStart  = 2 * time.Millisecond
	errorOfReport = 100 * time.Millisecond
	errorOfMtime  = 150 * time.Millisecond
	betweenStages = 250 * time.Millisecond // from the end of a job to the start of the next behind a stonewall
	errorOfStage  = 300 * time.Millisecond // of each stage that is placed by the next one
	errorOfCoarse = 2 * time.Second        // of times in archives that have whole seconds
	errorOfZone   = 14 * time.Hour         // if the time zone is unknown
)

// epochTimes is the least time that is taken for one of log_unix_epoch, in milliseconds since 1970 (1973). No job runs
// long enough to reach it with times that count from the job's start.
const epochTimes = 1e11
