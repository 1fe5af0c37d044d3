// Package report writes what there is to know of runs as one HTML page that needs nothing
// else, neither a network nor a program: numbers with the bounds of their error, charts
// over time, heat maps, distributions, hosts, comparisons, and how all of it was made.
//
// A [Run] takes the windows of a run as they come and keeps what is drawn of them; [Page]
// puts runs together. Numbers are those of the documents, or of their merged histograms.
// What is in a page depends on the runs alone: the same runs give the same bytes. Texts of
// documents are not to be trusted, and pass html/template or escape on their way.
//
// Latencies are microseconds, as in documents; places in charts are pixels.
package report
