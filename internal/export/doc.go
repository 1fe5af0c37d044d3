// Package export writes windows and their histograms in formats of other tools. Counts are whole and
// exact in all formats. What a format loses is listed here.
//
// # HdrHistogram log
//
// [NewHDRLog] writes the interval log of HdrHistogram, version 1.3: a line for each window,
// with a compressed histogram (V2: ZigZag LEB128 counts, DEFLATE, base64) and a tag: the
// host and the job, where they are known, and the direction: "client01/write". Tags have neither
// commas nor spaces, so all but letters, digits and "-._~:+@" of names is written as in URLs (%2C). Source: HistogramLogWriter and AbstractHistogram of
// github.com/HdrHistogram/HdrHistogram 2.2.
//
// Values are nanoseconds, 1 … 2^34-1 (of a fio that was rebuilt with more groups of bins, up
// to the end of these) with 3 significant digits: slots of 1 ns up to 2 µs,
// above of 1/2048 to 1/1024 of the latency. All requests of a fio bin are in the slot of its
// middle. The slot lies within the bin in each layout of fio. The value that a reader takes for the
// slot adds less than 1 ns, or 1/1024 of the latency if that is more, to the error of the bin's
// middle, which is 1/128 at coarseness 0. The format loses where bins begin and end, so percentiles
// are within a bin of those of package hist, but not the same. Requests of the open last bin have
// the middle of its nominal width. A log has one run.
//
// # OpenMetrics
//
// [NewOpenMetrics] writes the text format of OpenMetrics 1.0: one histogram,
// fio_latency_seconds, with labels run, archive, direction, and host and job if there are.
// In names, U+FFFD replaces bytes that are not UTF-8.
//
// The bounds of buckets are edges of bins, so that the counts are exact: the edges next to the 1-2-5
// steps from 1 µs to 10 s (further where bins reach further), or next to other bounds
// ([ParseBuckets]). A bound is the highest latency of its bin, because le means "or equal" and fio
// counts whole nanoseconds: le="0.000999423". The format loses the bins between the bounds. The sum
// is the mean of the bins' middles times the count: right within half a bin.
//
// A whole run is one point at its end, with the time of its start as _created. Windows are points of
// a counter, one at the end of each window: it counts all requests since the first window, so that
// rate() and increase() work for any time. The point at the start of the first window is 0, and a
// point after a gap repeats the last count. The last point is the total. The points of a series
// follow one another in order of time, as backfilling needs them
// (promtool tsdb create-blocks-from openmetrics).
//
// # CSV and JSON
//
// [NewBins] writes a line for each window and bin that has requests, or an object for each window
// with arrays: low_ns and high_ns are the edges of the bin, [low, high). The high of the
// open last bin is empty or null. Only the name of the layout is lost.
package export
