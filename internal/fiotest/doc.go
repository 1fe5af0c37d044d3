// Package fiotest makes synthetic latency logs of fio and whole CBT archives whose contents are known exactly. It
// also computes exact answers from raw completion logs. Tests compare the readers, the alignment and the commands
// with it. The program in the folder generate makes large sets for measurements.
//
// The package imports nothing of this module. It places bins one after another, following fio's description. The
// readers compute them with bit arithmetic, so the same mistake cannot be in both.
//
// Units: latencies of fio 3 are nanoseconds, and of fio 2 microseconds. Times of rows are milliseconds since the
// job's start, and mark the end of a row's interval, as in fio's logs. The package does not model a disk. The shapes
// are those of real logs: size of rows, number of used bins, late rows, stalls, and the last interval that fio never
// logs. The numbers are invented.
package fiotest

// Directions in the second column of a log.
const (
	Read  = 0
	Write = 1
	Trim  = 2
)

// directions is the number of directions of fio.
const directions = 3
