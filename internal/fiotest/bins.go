package fiotest

import "sort"

// Bins2 is the number of columns that fio 2 wrote at coarseness 0.
const Bins2 = usualGroups2 * binsPerGroup

const (
	binsPerGroup              = 64
	usualGroups, usualGroups2 = 29, 19

	// maxGroups is the limit for a rebuilt fio. With it the highest edge is 2^63, which fits into 64 bits.
	maxGroups = 58
)

// edges3 and edges2 are the lower edges of all bins, and the upper edge of the last one. They are never changed.
var (
	edges3 = walkEdges(usualGroups)
	edges2 = walkEdges(usualGroups2)
)

// axis is the layout of a fio, at coarseness 0.
type axis struct {
	edges []uint64 // from walkEdges
	fio2  bool     // the edges are in microseconds
}

// newAxis returns the axis of a fio with this number of groups; 0 means the usual number.
func newAxis(fio2 bool, groups int) axis {
	switch {
	case groups != 0:
		return axis{walkEdges(groups), fio2}
	case fio2:
		return axis{edges2, true}
	}
	return axis{edges3, false}
}

// unit returns the unit of the edges, in nanoseconds.
func (a axis) unit() uint64 {
	if a.fio2 {
		return 1000
	}
	return 1
}

// bins returns the number of columns at coarseness 0.
func (a axis) bins() int { return len(a.edges) - 1 }

// walkEdges places the bins one after another: two groups of width one, then groups whose bins are each twice as
// wide as those before.
func walkEdges(groups int) []uint64 {
	edges := make([]uint64, 0, groups*binsPerGroup+1)
	var low, width uint64 = 0, 1
	for g := range groups {
		if g >= 2 {
			width += width
		}
		for range binsPerGroup {
			edges = append(edges, low)
			low += width
		}
	}
	return append(edges, low)
}

// BinBounds2 returns the range [lo, hi) of column i of fio 2 in microseconds, at coarseness 0. The last column also has
// all longer latencies. For a column that does not exist, it returns 0, 0.
func BinBounds2(i int) (lo, hi uint64) { return bounds(edges2, i) }

// find searches instead of computing. This is slow, but obviously the inverse of bounds.
func find(edges []uint64, v uint64) int {
	last := len(edges) - 2
	return sort.Search(last, func(i int) bool { return edges[i+1] > v })
}

func bounds(edges []uint64, i int) (lo, hi uint64) {
	if i < 0 || i >= len(edges)-1 {
		return 0, 0
	}
	return edges[i], edges[i+1]
}

// middle returns the value by which fio's reports name a bin.
func middle(edges []uint64, i int) uint64 {
	lo, hi := bounds(edges, i)
	return lo + (hi-lo)/2
}
