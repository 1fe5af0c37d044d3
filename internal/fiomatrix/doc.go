// Package fiomatrix runs real fio in many ordinary ways and compares what fio2es says
// with fio's raw completions. It has tests only.
//
// A way is one manner to run fio, such as jobs behind stonewall. A case is a way with
// numbers drawn from a seed: jobs, intervals, rates, engines, stalls. fio writes its raw
// completions into a folder beside the one that fio2es reads, so that fio2es cannot use
// them. The program is tested from outside, by its commands alone.
//
//	FIO2ES_TEST_FIO=fio go test -v ./internal/fiomatrix
//
//	FIO2ES_TEST_FIO          the fio to run, 3.1 or later; without it the matrix is skipped
//	FIO2ES_TEST_FIO_RUNS     number of cases (default: each way once)
//	FIO2ES_TEST_FIO_SEED     where the drawing begins (default 1)
//	FIO2ES_TEST_FIO_ONLY     WAY, or WAY/SEED for one case again
//	FIO2ES_TEST_FIO_KEEP     folder for the files of cases that failed
//	FIO2ES_TEST_FIO_PARALLEL cases at a time (default 6)
//	FIO2ES_TEST_FIO_TRIES    how often a case is made until it is right (default 1); the
//	                         table has what was wrong before
//	FIO2ES_TEST_PROGRAM      the fio2es to test (default: built from this module)
//
// # How the truth is known
//
// fio runs date right before each job's clock starts (exec_prerun) and right after the job
// ended (exec_postrun). The start lies between the first and the second less the job's
// run time: mostly within 10 ms, more when the machine is busy. Times are accepted when
// they lie within the tolerance of that range. A completion is at the job's start plus
// the time in its raw log, which has milliseconds.
//
// # What is tolerated
//
//   - Totals: nothing.
//   - Starts and ends: 150 ms. Times of files in tar and zip have whole seconds: 1150 ms
//     where nothing else says when a job ran.
//     To this adds what fio itself was late in writing logs and report, beyond 50 ms.
//   - Counts of windows: an edge within 5 % of a row's length of its end follows that row; open is
//     what completed between the two, and 10 ms around because raw logs and starts are
//     not exact. Where an edge cuts a row, all of the row's requests are open.
//     One request for rounding.
//   - Percentiles of a window: two ranks and the width of the bin, and the requests that
//     the counts leave open. Median error over a case's windows: 1 % times 2^coarseness.
package fiomatrix
