// Package slo checks runs against service level objectives: rules such as "p99 <= 10ms in 99%
// of windows". It parses rules, and computes verdicts from windows ([window.Window]) and from
// the documents of runs. Latencies are nanoseconds, times milliseconds since the run's start,
// shares 0 … 1.
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
// Letters may be of either case. Spaces may stand between any two of these, but not within a
// number or a name (p99, 5k), and are needed only between two words. A percentile has up to
// four decimals, p99.9999; p99_9 is p99.9, as in documents. Windows differ in length, so a rule
// in windows can be about iops, but not about requests.
//
// A rule without a direction is checked separately for each direction of the run: reads cannot
// make up for writes.
//
// # Verdicts
//
// A rule without windows is about all requests together, from their merged histogram. It
// is [Unknown], never met, where there are no requests, or none of its direction. The value
// decides, as a command prints it (latencies in whole nanoseconds). The bins leave the value
// uncertain: if the limit lies between the bounds of its error (package hist), the raw
// completions might lead to the other verdict, and the verdict is [Verdict.Close]. If it is
// not close, the raw completions lead to the same verdict. The last bin has no upper bound
// (17.05 s and more, unless fio was rebuilt). A percentile, minimum or maximum in it is
// unknown if only an upper bound could decide, and so is the share of requests within a
// latency of that bin. Its value is the lowest latency of the bin.
//
// # Windows
//
// Windows count by their lengths. A window without requests has no latency, and rules about
// latency skip it. For iops it counts with 0, and so does a gap: the time between two windows
// of a direction, if it is at least three quarters of the shortest window. A run's last window
// is often shorter than the others, and counts by its own length. Rules about iops skip it if it
// is a tenth of the shortest other window or less, or if it reaches beyond the run's end by more
// than a twentieth, as stored windows of old versions do. A window whose answer is unknown is
// neither met nor broken: the verdict is unknown if such windows decide.
//
// "in 99% of windows" leaves an error budget of 1 % of the time, and "within 100ms >= 99.9%"
// one of 0.1 % of the requests. Verdicts say how much of it is used.
package slo
