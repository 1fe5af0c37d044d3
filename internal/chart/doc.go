// Package chart draws SVG: a canvas, axes of times, latencies, rates and percentiles with round ticks, and scales of
// colours. Heat maps, the charts of reports and those in lists of runs use it.
//
// All charts have the same width and the same position of the time axis, so that they can be placed below one
// another. Positions are in pixels, and latencies in microseconds. Texts are escaped.
package chart
