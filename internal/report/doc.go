// Package report writes one HTML page of runs: numbers with the bounds of their error, charts over time, heat maps,
// distributions, hosts, comparisons, and how all of it was made. The page needs no network and no other program.
//
// A [Run] takes the windows of a run and keeps what the charts need of them. A [Page] puts runs together. Numbers are
// those of the documents, or of their merged histograms. The same runs give the same page, to the byte. Texts of
// documents are not trusted: html/template or internal/chart escapes them.
//
// Latencies are in microseconds, as in documents. Places in charts are pixels.
package report
