// Package chart draws SVG: a canvas, axes of times, latencies, rates and percentiles with round ticks, and scales of
// colours. Heat maps, the charts of reports and the list of runs in a browser are made with it.
//
// All charts are as wide, with the axis of time at the same place, so that they can stand one above the other. Places
// are pixels, latencies microseconds. Texts are escaped.
package chart
