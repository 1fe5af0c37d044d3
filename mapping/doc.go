// Package mapping is the schema: the documents that fio2es stores, as Go types, with their JSON,
// their ids and the names of their indices: the pipeline, stores and readers of the history all use
// these types. No other package writes the name of a field: queries take the constants here, and
// conditions (internal/where) the names of the fields of the types. It does no I/O and imports
// nothing of the module but hist.
//
// There are two kinds of documents. An [Interval] is one window of time of one series: a
// cluster, a host, a job or a section, in one direction. A [Run] is one run of a benchmark with all its
// metadata and its totals.
//
// # Units
//
// Latencies in documents are microseconds with at most four decimals, because middles of bins
// are multiples of half a nanosecond. Durations are whole milliseconds, named …_ms. Times are
// UTC with milliseconds; a document is written without finer parts. Sizes are bytes. iops and
// bandwidth are per second.
//
// # Histograms
//
// latency.histogram is Elasticsearch's histogram field: ascending values (the middles of the
// bins, [Bins]) and integer counts, without empty bins. latency.layout names the layout of the
// bins, so that [Latency.Hist] returns the same histogram, and answers from stored documents
// equal answers from the logs.
//
// # Encoding
//
// AppendJSON writes the same bytes for the same document, always; a document that was
// read back writes the bytes it was read from. The struct tags say how; package encoding/json
// reads by them.
package mapping
