package align

import "math"

// grid has the edges of windows: 0, length, 2*length … milliseconds.
type grid struct {
	length    int64
	tolerance int64 // times within this distance of an edge count as the edge
}

// snap moves a time close to an edge onto the edge. It is monotone, so the order of rows does not change.
func (g grid) snap(t int64) int64 {
	off := t % g.length
	switch {
	case off <= g.tolerance:
		return t - off
	case g.length-off <= g.tolerance:
		return t + g.length - off
	}
	return t
}

// nearest moves the start and the end of a row to the nearest edges, which are not the same.
func (g grid) nearest(start, end int64) (from, to int64) {
	edge := func(t int64) int64 { return max(t+g.length/2, 0) / g.length * g.length }
	return edge(start), max(edge(end), edge(start)+g.length)
}

// window returns the index of the window of completions at time t. Windows are (start, end], like rows. The first
// window includes its start.
func (g grid) window(t int64) int64 {
	if t <= 0 {
		return 0
	}
	return (t - 1) / g.length
}

// windows returns the first and the last window of a row. snap has been applied to its times.
func (g grid) windows(start, end int64) (first, last int64) {
	last = g.window(end)
	return min(g.window(start+1), last), last
}

// presence returns the share of a request's life before time t. All arguments are in milliseconds. The request took
// life and completed somewhere in (start, end], at each moment with the same probability. Let G(y) be the integral of
// min(max(u,0),life) up to y. Then the share is (G(t-start+life) - G(t-end+life)) / (life * (end-start)).
func presence(t, start, end, life float64) float64 {
	if t >= end {
		return 1
	}
	if life <= 0 {
		if end <= start || t <= start {
			return 0
		}
		return (t - start) / (end - start)
	}
	if end <= start {
		return min(max((t-end+life)/life, 0), 1)
	}
	area := ramp(t-start+life, life) - ramp(t-end+life, life)
	return min(max(area/(life*(end-start)), 0), 1)
}

func ramp(y, life float64) float64 {
	switch {
	case y <= 0:
		return 0
	case y <= life:
		return y * y / 2
	}
	return life*life/2 + life*(y-life)
}

// quantum is the unit of fractional weights, 2^-20 of a request. Sums of its multiples are exact in a float64 up to
// 2^33 requests in a bin of a window. So results do not depend on the order in which workers add rows.
const quantum = 1.0 / (1 << 20)

func quantize(x float64) float64 { return math.Round(x/quantum) * quantum }
