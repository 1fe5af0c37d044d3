package methods

import (
	"maps"
	"slices"
	"sort"
)

// place is the number of a window of a direction, from 0.
type place struct {
	direction int
	window    int64
}

// edges are the ends of windows: multiples of their length, or where the rows of logs end.
type edges struct {
	length, shift int64 // as Window and Shift of [Options]
	rows          map[place]int64
}

// end returns the end of a window, in milliseconds since the start of the run. The next window begins there.
func (e *edges) end(of place) int64 {
	if at, ok := e.rows[of]; ok {
		return at
	}
	return (of.window+1)*e.length - e.shift
}

// start returns the begin of a window.
func (e *edges) start(of place) int64 {
	of.window--
	return e.end(of)
}

// span is the requests that completed in one window.
type span struct {
	place
	list    []request
	longest int64 // ms, at most reach
}

// reach is how far back a request counts in flight, in milliseconds, as in fio2es.
const reach = 600_000

// spans divides the requests of a direction into windows by when they completed, in (start, end].
func (c *Comparison) spans(direction int, e *edges) (list []span) {
	for all := c.requests[direction]; len(all) > 0; {
		at := all[0].at()
		of := place{direction, (max(at+e.shift, 1) - 1) / e.length}
		if of.window > 0 && at <= e.start(of) {
			of.window--
		} else if at > e.end(of) {
			of.window++
		}
		end := e.end(of)
		n := max(sort.Search(len(all), func(i int) bool { return all[i].at() > end }), 1)
		s := span{place: of, list: all[:n]}
		for _, r := range s.list {
			s.longest = max(s.longest, min(r.ns/1e6, reach))
		}
		list, all = append(list, s), all[n:]
	}
	return list
}

// numbers returns the windows that may have requests, in order: in flight, also those before a completion.
func (e *edges) numbers(spans []span, inFlight bool) []int64 {
	all := map[int64]bool{}
	for _, s := range spans {
		all[s.window] = true
		for w := s.window - 1; inFlight && w >= 0 && (s.window-w-2)*e.length <= s.longest; w-- {
			all[w] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// part is a request in a window. Its weight is 1, or in flight the share of its life that is in the window.
type part struct {
	ns     int64
	weight float64
	job    int
}

// parts appends the requests of a window to list. spans are those from this window on, and none of their requests
// took longer than longest.
func (c *Comparison) parts(list []part, spans []span, of place, e *edges, longest int64, inFlight bool) []part {
	start, end := float64(e.start(of)), float64(e.end(of))
	for _, s := range spans {
		apart := (s.window - of.window - 2) * e.length // at least this long from the end of the window to the begin of the span
		if s.window > of.window && !inFlight || apart > longest {
			break
		}
		if apart > s.longest {
			continue
		}
		for _, r := range s.list {
			p := part{r.ns, 1, r.job()}
			if inFlight && r.ns > 0 && (c.SpreadAll || r.ns/1e6 >= e.length) {
				took := min(float64(r.ns)/1e6, reach)
				p.weight = share(float64(r.at())-took, float64(r.at()), start, end)
			} else if s.window != of.window {
				continue
			}
			if p.weight > 0 {
				list = append(list, p)
			}
		}
	}
	return list
}

// share returns the share of the time from … to that is between start and end. It is 0 if there is no such time.
func share(from, to, start, end float64) float64 {
	if to <= from {
		return 0
	}
	return max(min(to, end)-max(from, start), 0) / (to - from)
}
