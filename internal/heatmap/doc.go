// Package heatmap draws requests by time and latency: a map of cells, each with the number of requests of its time in
// its band of latency, as SVG or as text.
//
// [Builder] adds up windows, [Map] is the result, and WriteSVG, Fragment and WriteText draw it. The package knows
// neither documents nor files. Latencies are microseconds if their names say so, else nanoseconds.
package heatmap
