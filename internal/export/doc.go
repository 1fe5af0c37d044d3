// Package export writes windows and their histograms in formats of other tools. It reads HdrHistogram logs, CSV and JSON
// again ([Read]), also those of other programs. Counts are whole and exact in all formats. This comment lists what each
// format loses.
//
// # Reading
//
// What fio2es wrote comes back into the bins that it was in. Bins of other programs come into fio's
// finest bins, of a layout that reaches to six days: nanoseconds, or microseconds for values in microseconds. Bins of
// HdrHistogram with 2 to 5 digits lie within these, so nothing changes but the width. A bin that overlaps several bins
// of fio is divided in proportion, into whole requests ([hist.Histogram.AddBetween]): then an answer may be off by the
// bin and the two bins of fio at its ends. No request is lost. All windows of a file are in memory.
//
// # HdrHistogram log
//
// [NewHDRLog] writes the interval log of HdrHistogram, version 1.3. It has a line for each window, with a compressed
// histogram (V2: ZigZag LEB128 counts, DEFLATE, base64) and a tag. The tag is the host and the job, if they are
// known, and the direction: "client01/write". Tags must not contain commas or spaces. So in names, all characters
// except letters, digits and "-._~:+@" are escaped as in URLs (%2C). Source: HistogramLogWriter and
// AbstractHistogram of github.com/HdrHistogram/HdrHistogram 2.2.
//
// Values are nanoseconds, 1 … 2^34-1, with 3 significant digits. (For a fio that was rebuilt with more groups of
// bins, the range ends with these.) Slots are 1 ns wide up to 2 µs, and 1/2048 to 1/1024 of the latency above. All
// requests of a fio bin are in the slot of the bin's middle. This slot lies within the bin in each layout of fio.
// Readers take one value for all requests of a slot. This adds less than 1 ns, or 1/1024 of the latency if that is
// more, to the error of the bin's middle, which is 1/128 at coarseness 0. The format loses the edges of bins, which a
// comment of fio2es ("bins fio3/0") keeps. So percentiles of others differ from those of package hist by less than a
// bin. Requests of the last bin, which is open, are at the middle of its nominal width. A log has one run.
//
// # OpenMetrics
//
// [NewOpenMetrics] writes the text format of OpenMetrics 1.0: one histogram, fio_latency_seconds, with the labels
// run, archive, direction, and host and job if there are any. In names, U+FFFD replaces bytes that are not UTF-8.
//
// The bounds of buckets are edges of bins, so that the counts are exact. They are the edges nearest to 1-2-5 steps
// from 1 µs to 10 s (or further, if bins reach further), or to other bounds ([ParseBuckets]). A bound is the highest
// latency of its bin, because le means "or equal" and fio counts whole nanoseconds: le="0.000999423". The format
// loses the bins between the bounds. The sum is the mean of the bins' middles times the count, so its error is at
// most half a bin.
//
// A whole run is one point at its end, and _created is its start. Windows are points of a counter, one at the end of
// each window. The counter has all requests since the first window, so that rate() and increase() work for any time.
// The point at the start of the first window is 0, and a point after a gap repeats the last count. The last point is
// the total. The points of a series are sorted by time, because backfilling needs this (promtool tsdb
// create-blocks-from openmetrics).
//
// # DDSketch
//
// [NewDDSketch] writes an object on a line for each window, as JSON below, with sketch_ns in place of the bins: in base64 the
// protobuf of a DDSketch (ddsketch.proto of github.com/DataDog/sketches-go) of nanoseconds, with a logarithmic mapping of
// 0.1 % relative accuracy and sparse bins. All requests of a fio bin are in the bin of its middle, as in an HdrHistogram log;
// the layout beside it names the edges.
//
// # CSV and JSON
//
// [NewBins] writes a line for each window and bin with requests, or an object for each window with arrays. low_ns
// and high_ns are the edges of the bin, [low, high). The high of the last bin, which is open, is empty or null. layout
// is the layout of the bins; files without it may have any edges. Nothing is lost.
package export
