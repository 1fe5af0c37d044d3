// Package export writes windows of requests in formats that other tools read. It knows
// neither documents nor files: it takes histograms, and writes text. Counts are those of
// the histograms, whole and exact, in all formats; what a format cannot hold is said here.
//
// # HdrHistogram log
//
// [NewHDRLog] writes the interval log of HdrHistogram, version 1.3: a line for each window,
// with a compressed histogram (V2: ZigZag LEB128 counts, DEFLATE, base64) and a tag, the
// direction, before it the host, and the job, if there are: "client01/write". In tags all
// but letters, digits and "-._~:+@" of names is written as in URLs (%2C), since a tag can
// have neither commas nor spaces. Source: HistogramLogWriter and AbstractHistogram of
// github.com/HdrHistogram/HdrHistogram 2.2.
//
// Values are nanoseconds, 1 … 2^34-1 (of a fio that was rebuilt with more groups of bins, up
// to the end of these) with 3 significant digits: slots of 1 ns up to 2 µs,
// above of 1/2048 to 1/1024 of the latency. All requests of a fio bin stand in the slot that
// holds its middle. The slot lies within the bin, for each layout of fio: whatever value a
// reader takes for it adds less than 1 ns, or 1/1024 of the latency where that is more, to
// the error of a bin's middle, which is 1/128 at coarseness 0. What is lost is where bins
// begin and end, hence the places of requests within them: percentiles are within a bin of
// those of package hist, not the same. Requests of the last bin, which is open, have the
// middle of its nominal width. A log holds one run.
//
// # OpenMetrics
//
// [NewOpenMetrics] writes the text format of OpenMetrics 1.0: one histogram,
// fio_latency_seconds, with labels run, archive, direction, and host and job if there are.
// Names that are no UTF-8 have U+FFFD in place of what is none.
//
// A bin that a bucket's bound cuts could not be shared out exactly. So bounds are chosen
// among the bins' own, those next to the 1-2-5 steps from 1 µs to 10 s (further where bins
// reach further) or to others that are asked for ([ParseBuckets]): what a bucket counts is exact. A bound is the highest latency
// of its bin, as le means "or equal" and fio counts whole nanoseconds: le="0.000999423".
// Lost are the bins between the bounds. The sum is the mean of the bins' middles times the
// count: right within half a bin.
//
// A whole run is one point at its end, with the time of its start as _created. Windows are a
// counter's points, one at the end of each: it counts all requests since the first window,
// so that rate() and increase() give those of any time. A point at the start of the first
// window is 0; another tells, after a gap, that nothing came meanwhile. So the last point is
// the whole. A series' points stand together, in order of time, as backfilling wants them
// (promtool tsdb create-blocks-from openmetrics).
//
// # CSV and JSON
//
// [NewCSV] writes a line for each window and bin that has requests, [NewJSON] an object for
// each window with arrays: low_ns and high_ns are the edges of the bin, [low, high), high of
// the open last bin is empty or null. Nothing is lost but the layout's name.
package export
