// Package heatmap draws requests by time and latency. A map has cells; a cell is the number of requests in a stretch
// of time and in a band of latency. It is drawn as SVG or as text.
//
// A [Builder] adds up windows to a [Map], which WriteSVG, Fragment and WriteText draw. The package does not know
// documents or files. Latencies are in microseconds if their names say so, and otherwise in nanoseconds.
package heatmap
