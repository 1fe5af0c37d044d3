package hist

import (
	"fmt"
	"math/bits"
	"sync"
)

const (
	groupBins     = 64 // FIO_IO_U_PLAT_VAL
	groupBits     = 6  // FIO_IO_U_PLAT_BITS
	fio3Groups    = 29 // FIO_IO_U_PLAT_GROUP_NR since fio 3.0
	fio2Groups    = 19 // the same in fio 2
	maxCoarseness = 6  // one bin a group; fio allows no more
)

// MaxColumns is the largest number of bins that a row of a histogram log can have.
const MaxColumns = fio3Groups * groupBins

// Layout is the geometry of a histogram's bins. It is comparable; the zero value is
// fio 3's finest layout, the one that logs have by default.
type Layout struct {
	fio2       bool
	coarseness uint8
}

// Fio3 is the layout of fio 3, in nanoseconds, with 2^coarseness bins joined.
// It panics when coarseness is not in 0 … 6: that is for the caller to know.
func Fio3(coarseness int) Layout { return layout(false, coarseness) }

// Fio2 is the layout of fio 2, in microseconds, with 2^coarseness bins joined.
func Fio2(coarseness int) Layout { return layout(true, coarseness) }

func layout(fio2 bool, coarseness int) Layout {
	if coarseness < 0 || coarseness > maxCoarseness {
		panic(fmt.Sprintf("hist: coarseness %d is not in 0 … %d", coarseness, maxCoarseness))
	}
	return Layout{fio2, uint8(coarseness)}
}

// ForColumns tells the layout of a log whose rows have n bins: 1856 (fio 3) or 1216
// (fio 2) divided by a power of two. The two never collide.
func ForColumns(n int) (Layout, error) {
	for c := range maxCoarseness + 1 {
		switch n {
		case fio3Groups * groupBins >> c:
			return Fio3(c), nil
		case fio2Groups * groupBins >> c:
			return Fio2(c), nil
		}
	}
	return Layout{}, fmt.Errorf("%d bins: %w", n, ErrColumns)
}

// Len is the number of bins.
func (l Layout) Len() int { return l.groups() * groupBins >> l.coarseness }

// Coarseness is fio's log_hist_coarseness: 2^Coarseness fine bins were joined.
func (l Layout) Coarseness() int { return int(l.coarseness) }

// Fio2 tells whether the bins are those of fio 2: wider, in microseconds.
func (l Layout) Fio2() bool { return l.fio2 }

// String is short and for people, such as "fio 3, coarseness 2".
func (l Layout) String() string {
	if l.fio2 {
		return fmt.Sprintf("fio 2, coarseness %d", l.coarseness)
	}
	return fmt.Sprintf("fio 3, coarseness %d", l.coarseness)
}

// Bounds are the lowest latency of bin i and the lowest of the next one, in
// nanoseconds. The last bin is given the end of its nominal width.
func (l Layout) Bounds(i int) (low, high int64) {
	e := l.edges()
	return e[i], e[i+1]
}

// Middle is the middle of the latencies (whole nanoseconds) that bin i can hold: the
// least biased single value for it.
func (l Layout) Middle(i int) float64 {
	return middle(l.Bounds(i))
}

// middle is that of the whole numbers from low up to, but without, high.
func middle(low, high int64) float64 { return float64(low+high-1) / 2 }

// Open tells whether bin i is the last one, which holds all that is slower, too.
func (l Layout) Open(i int) bool { return i == l.Len()-1 }

// Index is the bin of a latency of ns nanoseconds; negative ones count as 0.
func (l Layout) Index(ns int64) int {
	if ns < 0 {
		ns = 0
	}
	if l.fio2 {
		ns /= 1000
	}
	return min(fineIndex(uint64(ns)), l.groups()*groupBins-1) >> l.coarseness
}

// RelativeError bounds, for latencies above the exact first bins, how far a bin's
// middle is from any latency in it, relative to that latency: 1/128 at coarseness 0,
// doubling with each step.
func (l Layout) RelativeError() float64 { return float64(int(1)<<l.coarseness) / (2 * groupBins) }

// Representative is fio's own value for bin i, in nanoseconds: plat_idx_to_val for
// the first fine bin in the middle of a coarse one, which is what fio prints.
func (l Layout) Representative(i int) int64 {
	fine := i << l.coarseness
	if l.coarseness > 0 {
		fine += 1 << (l.coarseness - 1)
	}
	v := int64(fine)
	if fine >= 2*groupBins {
		shift := fine>>groupBits - 1
		v = int64(1)<<(shift+groupBits) + int64(fine&(groupBins-1))<<shift + int64(1)<<shift/2
	}
	return v * l.unit()
}

func (l Layout) groups() int {
	if l.fio2 {
		return fio2Groups
	}
	return fio3Groups
}

func (l Layout) unit() int64 {
	if l.fio2 {
		return 1000
	}
	return 1
}

// fineIndex is plat_val_to_idx without its clamp: the position of the highest bit
// picks the group, the six bits below it the bin.
func fineIndex(v uint64) int {
	if v < 2*groupBins {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - groupBits
	return (shift+1)<<groupBits + int(v>>shift)&(groupBins-1)
}

// fineLow is the lowest value of fine bin i in the layout's own unit; for i = number
// of bins, the end of the last one.
func fineLow(i int) int64 {
	if i < 2*groupBins {
		return int64(i)
	}
	shift := i>>groupBits - 1
	return int64(1)<<(shift+groupBits) + int64(i&(groupBins-1))<<shift
}

// edgeTables holds the edges of all bins, in nanoseconds, computed once a layout.
var edgeTables [2][maxCoarseness + 1]struct {
	once  sync.Once
	edges []int64
}

func (l Layout) edges() []int64 {
	family := 0
	if l.fio2 {
		family = 1
	}
	t := &edgeTables[family][l.coarseness]
	t.once.Do(func() {
		t.edges = make([]int64, l.Len()+1)
		for i := range t.edges {
			t.edges[i] = fineLow(i<<l.coarseness) * l.unit()
		}
	})
	return t.edges
}

// Merged is the layout in which histograms of both layouts can be added: the coarser
// one; across fio versions that of fio 3, whose unit is the finer.
func (l Layout) Merged(m Layout) Layout {
	return Layout{fio2: l.fio2 && m.fio2, coarseness: max(l.coarseness, m.coarseness)}
}
