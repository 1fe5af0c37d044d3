package plan

import "time"

// Clock is the evidence for the absolute start of a job, from the best to the weakest.
type Clock uint8

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

// moment is the start of a job and the evidence for it.
type moment struct {
	Start time.Time // absolute; zero if unknown
	Clock Clock
	Error time.Duration // of start, plus or minus
}

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
	ErrorOfZone   = 14 * time.Hour         // if the time zone is unknown
)

// EpochTimes is the smallest time that can be one of log_unix_epoch, in milliseconds since 1970 (1973). No job runs so
// long that a time since its start is as large.
const EpochTimes = 1e11

// nominal returns the interval that people set, in milliseconds, for a measured one: rows and reports come a little late.
func nominal(ms int64) int64 {
	if hundreds := (ms + 50) / 100 * 100; max(ms-hundreds, hundreds-ms)*20 <= ms {
		return hundreds
	}
	return (ms + 5) / 10 * 10
}

// together is the largest difference in reports between the starts of jobs that began together.
const together = 250 * time.Millisecond

// Modulo returns the remainder of a division, from 0 to n-1.
func Modulo(x, n int64) int64 { return (x%n + n) % n }

// Earlier returns the earlier of two times, and ignores a zero time.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
