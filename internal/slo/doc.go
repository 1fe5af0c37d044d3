// Package slo checks runs against service level objectives: rules such as "p99 <= 10ms in 99% of windows". It parses
// rules, and computes verdicts from windows ([window.Window]) and from run documents. Latencies are in nanoseconds,
// times in milliseconds since the run's start, and shares are 0 … 1.
//
// # Rules
//
//	p99 <= 10ms                          a percentile of latency; also min, mean, max
//	write.p99.9 <= 20ms                  of one direction: read, write, trim or sync
//	within 100ms >= 99.9%                the share of requests served within a latency
//	iops >= 5000                         requests that completed, per second
//	requests >= 1e6                      requests that completed
//	p99 <= 10ms in 99% of windows        in windows that make up 99 % of the time
//	write.iops >= 5k in every window     in all of them
//	p99 <= 10ms for 30s                  it may be broken in windows, but not in all of 30 s
//	iops > 0 for 5s                      something completes at least every 5 s
//
// The grammar, in the notation of the Go specification (package expr has operators and quantities):
//
//	rule    = [ direction "." ] metric operator quantity [ "in" windows ] [ "for" duration ] .
//	metric  = "p" percent | "min" | "mean" | "max" | "within" latency | "iops" | "requests" .
//	windows = share "of" "windows" | "every" "window" .
//
// p99_9 is p99.9, as in documents. Windows differ in length, so a rule about windows can be about iops, but not about
// requests. "for" says how long every window breaks the rule before it is broken, so it goes with "in every window",
// which it means by itself.
//
// A rule without a direction is checked separately for each direction of the run, so good reads cannot hide bad
// writes. Rules about latency are checked for syncs, too, and rules about iops and requests only for what else was done.
// Logs do not have syncs. If no window has them, a rule about windows or about a part of the run is met if the slowest
// sync of the run meets it, and unknown otherwise.
//
// # Verdicts
//
// A rule without windows is about all requests together, from their merged histogram. If there are no requests of
// its direction, it is [Unknown] and never met. Otherwise the value decides, as a command prints it (latencies in
// whole nanoseconds). Bins make the value uncertain. If the limit lies between the bounds of its error (package
// hist), the raw completions might lead to the other verdict. Then the verdict is [Verdict.Close]. If it is not
// close, the raw completions lead to the same verdict. The last bin has no upper bound (17.05 s and more, unless fio
// was rebuilt). If a percentile, minimum or maximum lies in it, and only an upper bound could decide, the verdict is
// unknown. The same is true for the share of requests within a latency of that bin. The value is then the lowest
// latency of the bin.
//
// # Windows
//
// Windows count by their lengths. A window without requests has no latency, so rules about latency skip it. For iops
// it counts with 0. A gap counts in the same way: it is the time between two windows of a direction, if that is at
// least three quarters of the shortest window. The last window of a run is often shorter than the others, and counts
// by its own length. Rules about iops skip it if it is shorter than a tenth of the shortest other window. They
// also skip it if more than a twentieth of it lies after the run's end, as in stored windows of old versions. A
// window whose result is unknown is neither met nor broken. The verdict is unknown if such windows decide.
//
// "in 99% of windows" leaves an error budget of 1 % of the time, and "within 100ms >= 99.9%" one of 0.1 % of the
// requests. Verdicts say how much of the budget is used.
//
// A rule with "for" is broken if windows break it for that time, without one between them that meets it. Windows without
// requests do neither, if it is about latency. Its verdict has the longest such time.
//
// # Live runs
//
// [Live] checks the windows of a live run as they come. A rule about the whole run, or about a share of the windows, is
// checked against the run so far; one about every window against the latest window.
package slo
