package plan

import (
	"time"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

// moment is the start of a job and the evidence for it.
type moment struct {
	Start time.Time // absolute; zero if unknown
	Clock Clock
	Error time.Duration // of start, plus or minus
}

// Clock is the evidence for the absolute start of a job, from the best to the weakest.
type Clock uint8

// The clocks.
const (
	clockNone   Clock = iota // unknown
	clockEpoch               // rows with absolute times (log_unix_epoch)
	clockStart               // job_start in fio's JSON, since fio 3.36
	clockReport              // time at which fio wrote its reports, minus run time
	clockUser                // the setting start
	clockMtime               // time at which a file was last written, minus run time
)

var clockNames = [...]string{"unknown", "log_unix_epoch", "job_start", "report", "user", "mtime"}

func (c Clock) String() string { return clockNames[c] }

// Errors of the evidence, as measured with fio 3.33 and 3.42 on an idle and on a busy machine. A few times a second fio
// looks for jobs that have ended. It writes its report when all have ended.
const (
	errorOfEpoch  = 100 * time.Millisecond // rows with absolute times, of many quick requests
	errorOfOneRow = 10 * time.Second       // rows with absolute times, of unknown length
	errorOfNoRow  = time.Minute            // times of files, if no log has a row
	errorOfStart  = 10 * time.Millisecond
	errorOfReport = 100 * time.Millisecond // periodic reports
	errorOfEnd    = 150 * time.Millisecond // from the end of the last job until fio writes its report
	errorOfForks  = 100 * time.Millisecond // between jobs that were started together
	errorOfMtime  = 100 * time.Millisecond
	betweenStages = 250 * time.Millisecond // from the end of a job to the start of the next behind a stonewall
	errorOfStage  = 300 * time.Millisecond // of each stage, if its place follows from the next stage
	errorOfLast   = 500 * time.Millisecond // the same, in the times of files
	ErrorOfCoarse = 2 * time.Second        // of times in whole or even seconds
	ErrorOfZone   = evidence.LongestZone   // if the time zone is unknown
)

// together is the largest difference in reports between the starts of jobs that began together.
const together = evidence.Together

// isPossible reports whether a time can be evidence. fio did not exist before 1970, and a [time.Duration] covers 292 years.
func isPossible(t time.Time) bool { return t.Unix() >= 0 && t.UTC().Year() < 2200 }

// step returns how finely the times of files are recorded. Many archives, programs that copy, and file systems keep
// whole or even seconds.
func step(files ...*evidence.File) (step time.Duration) {
	even := true
	for _, f := range files {
		if f.ModTime.Nanosecond() == 0 {
			step, even = max(step, f.ModStep, time.Second), even && f.ModTime.Unix()%2 == 0
		}
	}
	if step > 0 && even {
		step = 2 * time.Second
	}
	return step
}

// writtenAt returns when the last report of an output was written.
func writtenAt(out *assign.Output) (time.Time, Clock) {
	at, byFile := out.Written()
	if byFile {
		return at, clockMtime
	}
	return at, clockReport
}
