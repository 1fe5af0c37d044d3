// Package mapping is the schema: the documents that fio2es stores, as Go types, with
// their JSON, their ids and the names of their indices. It is the only place that
// knows the names of fields; stores, sinks and readers of the history all speak these
// types. It does no I/O and imports nothing of the module but hist.
//
// There are two kinds of documents. An [Interval] is what one series (a whole
// cluster, a host, or a job, in one direction) did in one window of time. A [Run] is
// one run of a benchmark with all its metadata and the totals of the whole run.
//
// # Units
//
// Latencies in documents are microseconds, with the fraction that the bins' middles
// need (half a nanosecond: four decimals at most); durations are whole milliseconds,
// named …_ms; instants are UTC with milliseconds, and a finer part is cut off when a
// document is written; sizes are bytes; iops and bandwidth are per second.
//
// # Histograms
//
// latency.histogram is Elasticsearch's histogram field: ascending values (the middles
// of the bins, [Bins]) and whole counts, without empty bins. latency.layout names
// the geometry of the bins, so that [Latency.Hist] gives back the very histogram and
// answers computed from stored documents are those computed from the logs.
//
// # Encoding
//
// AppendJSON writes the same bytes for the same document, always; a document that was
// read back writes the bytes it was read from. The struct tags say how; package encoding/json
// reads by them.
package mapping
