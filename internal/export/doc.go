// Package export writes windows and their histograms in formats of other tools. Counts are whole and exact in all
// formats. This comment lists what each format loses.
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
// more, to the error of the bin's middle, which is 1/128 at coarseness 0. The format loses the edges of bins. So
// percentiles differ from those of package hist by less than a bin. Requests of the last bin, which is open, are at
// the middle of its nominal width. A log has one run.
//
// # CSV and JSON
//
// [NewBins] writes a line for each window and bin with requests, or an object for each window with arrays. low_ns
// and high_ns are the edges of the bin, [low, high). The high of the last bin, which is open, is empty or null. Only
// the name of the layout is lost.
package export
