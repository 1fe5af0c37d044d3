// Package fiomatrix runs real fio in many ordinary ways, and compares the answers of fio2es with fio's raw completions.
// It has only tests.
//
// A way is one way to run fio, for example with jobs behind stonewall. A case is a way with numbers drawn from a seed:
// jobs, intervals, rates, engines, stalls. fio writes its raw completions to a folder that fio2es does not read. The
// program is tested from outside, through its commands.
//
// TestHang has loads that hang or sleep in the middle, and reads each in several ways: logs, periodic reports, both, live,
// with follow, and through fio2es-fio.
//
// TestRandom draws executions: sections, stages, delays, rates, sizes, syncs, report forms, prefixes, periodic reports, hangs, hosts
// and volumes of CBT, copies and archives. Nothing is expected of fio2es but that what it says is so. A case fails only if
// something is wrong without a word (SILENT). The other outcomes are
//
//	ok           all is right
//	contradicts  right within a bin, but not what fio's report says of all requests
//	noted        something is wrong, and a note says so, with exit code 0
//	said         something is wrong, with exit code 3
//	accused      all is right, with exit code 3
//	busy         fio was late, so the truth is not known
//
//	FIO2ES_TEST_FIO=fio go test -v ./internal/fiomatrix
//
//	FIO2ES_TEST_FIO          the fio to run, 3.1 or later; without it the matrix is skipped
//	FIO2ES_TEST_FIO_RUNS     number of cases (default: each way once)
//	FIO2ES_TEST_FIO_SEED     seed of the first case (default 1)
//	FIO2ES_TEST_FIO_RANDOM   number of random executions (default 8); their seed is RAPID_SEED
//	FIO2ES_TEST_FIO_ONLY     WAY, or WAY/SEED to repeat one case (random/SEED)
//	FIO2ES_TEST_FIO_KEEP     folder for the files of failed cases, and of all random ones
//	FIO2ES_TEST_FIO_KEPT     such a folder: its random executions are judged again, without fio
//	FIO2ES_TEST_FIO_PARALLEL cases at the same time (default 6)
//	FIO2ES_TEST_FIO_TRIES    most attempts of a case (default 1); the table has the failures
//	                         of earlier attempts
//	FIO2ES_TEST_PROGRAM      the fio2es to test (default: built from this module)
//
// # How the truth is known
//
// fio runs date just before each job's clock starts (exec_prerun), and just after the job has ended (exec_postrun). The
// start lies between the first time and the second time less the job's run time. This range is usually within 10 ms, and
// wider if the machine is busy. A time is right if it lies within the tolerance of this range. A completion is at the
// job's start plus the time in its raw log, in milliseconds.
//
// # What is tolerated
//
//   - Totals: no difference.
//   - Starts and ends: 150 ms. Times of files in tar and zip have whole seconds, so it is 1150 ms if no other evidence
//     says when a job ran. If fio was more than 50 ms late in writing logs and report, the rest is added.
//   - Counts of windows: an edge follows a row if it is within 5 % of the row's length of its end. Requests that completed
//     between the two are open, and so are those within 10 ms, because raw logs and starts are not exact. If an edge cuts
//     a row, all requests of the row are open. One request for rounding.
//   - In random executions: a start may be off by as much as the run says, an estimate of a cut row by a tenth of its requests,
//     and the first and the last window by the requests of 150 ms.
//   - Percentiles of a window: two ranks, the width of the bin, and the open requests. Median error over the windows of a
//     case: 1 % times 2^coarseness.
package fiomatrix
