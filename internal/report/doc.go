// Package report writes one HTML page about runs: numbers with their error bounds, charts over time, heat maps,
// distributions, hosts, comparisons, and how the data was made. The page needs no network and no other program.
//
// A [Page] adds runs one by one. It keeps only what the charts need of their windows. Numbers are those of run
// documents, or of merged histograms. The same runs give the same page, byte for byte. Texts in documents are not
// trusted: html/template or internal/chart escapes them.
//
// Latencies are in microseconds, as in documents. Positions in charts are in pixels.
package report
