// Package heatmap draws requests by time and latency: a map of cells, each with the
// number of requests of its time in its band of latency, as SVG or as text.
//
// The grid comes first, the ink later: [Builder] adds up windows, [Map] is what came of
// them, and WriteSVG and WriteText draw it. It knows neither documents nor files.
// Latencies are microseconds where they have a name that says so, else nanoseconds.
package heatmap
