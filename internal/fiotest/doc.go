// Package fiotest makes synthetic fio latency logs and whole CBT archives whose
// content is known to the last request, and computes exact answers from raw
// completion logs. Tests compare the readers, the time math and the commands
// with it. The program in the folder generate makes large sets for timing.
//
// It imports nothing of this module. Its bins are walked out one after another
// from fio's description instead of being computed with the bit arithmetic the
// readers use, so that one mistake cannot be made twice.
//
// Units: latencies of fio 3 are nanoseconds, of fio 2 microseconds; times of
// rows are milliseconds since the job's start and mark the END of a row's
// interval, as in fio's own logs. The package is no model of a disk: the shapes
// are those of real logs (row size, number of bins in use, late rows, stalls,
// the last interval that fio never logs), the numbers are invented.
package fiotest

// Directions as they stand in the second column of a log.
const (
	Read  = 0
	Write = 1
	Trim  = 2
)

// directions is the number of directions that fio knows.
const directions = 3
