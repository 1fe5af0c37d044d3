// Package slo judges service level objectives: rules such as "p99 <= 10ms in 99% of
// windows", of whole runs or window by window. It reads rules and computes from
// histograms; where these come from, and who is told of the verdicts, is for others.
// Latencies are nanoseconds, times milliseconds since the run's start, shares 0 … 1.
//
// # Rules
//
//	p99 <= 10ms                          a percentile of latency; also min, mean, max
//	write.p99.9 <= 20ms                  of one direction: read, write or trim
//	within 100ms >= 99.9%                the share of requests served within a latency
//	iops >= 5000                         requests that completed, per second
//	requests >= 1e6                      requests that completed
//	p99 <= 10ms in 99% of windows        in windows that make up 99 % of the time
//	write.iops >= 5k in every window     in all of them
//
// The grammar, in the notation of the Go specification:
//
//	rule       = [ direction "." ] subject [ "in" windows ] .
//	direction  = "read" | "write" | "trim" .
//	subject    = latency operator number time
//	           | "within" number time operator number "%"
//	           | "iops" operator number [ "k" | "M" ]
//	           | "requests" operator number [ "k" | "M" ] .
//	latency    = "p" percent | "min" | "mean" | "max" .
//	operator   = "<" | "<=" | ">" | ">=" .
//	time       = "ns" | "us" | "µs" | "ms" | "s" .
//	windows    = number "%" "of" "windows" | "every" "window" .
//	number     = digits [ "." digits ] [ "e" [ "+" | "-" ] digits ] .
//	percent    = digits [ ( "." | "_" ) digits ] .
//
// Letters may be of either case. Spaces may stand between any two of these but within a
// number or a name (p99, 5k), and have to only between two words. A percentile has up to
// four decimals, p99.9999; p99_9 is p99.9, as in documents. Requests are counted over the
// whole; in windows, which differ in length, it is iops that can be asked for.
//
// Without a direction a rule is about each one that there is, by itself: reads cannot make
// up for writes.
//
// # Verdicts
//
// A rule without windows is about all requests together, from their merged histogram. It
// is [Unknown], never met, where there is nothing to judge: no requests, or none of the
// direction that it names. The value decides, as a command prints it (latencies in whole
// nanoseconds), but the bins leave it uncertain: where the objective's limit lies between
// the bounds of its error (package hist), so that the raw completions might have led to
// the other verdict, the verdict is [Verdict.Close]. If it is not, it is that of the raw
// completions. A percentile, minimum or maximum in the last bin, which has no upper bound
// (17.05 s and more, unless fio was rebuilt), is unknown if it is for an upper bound to decide; so is the share of
// requests within a latency that lies in it. Its value is the lowest latency of the bin.
//
// # Windows
//
// Windows count by their lengths. A window says nothing of latency if it has no requests;
// then it is left out. Of iops it does: what lies between two windows of a direction,
// three quarters of the shortest window or more, is a gap in which nothing completed, and
// counts with 0. A run's last window is often shorter than the others, and is judged by its own
// length, as all are; unless it is so short (a tenth of the shortest other) that its iops
// say nothing, and unless it reaches beyond the run's end by more than a twentieth, as
// stored windows of old versions do: then it is left out for iops. Windows whose answer is
// unknown are neither met nor broken: the verdict is unknown where they decide.
//
// "in 99% of windows" leaves an error budget of 1 %; so does "within 100ms >= 99.9%", of
// 0.1 % of the requests. Verdicts tell how much of it is used.
package slo
