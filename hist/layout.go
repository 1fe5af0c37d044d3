package hist

import (
	"fmt"
	"math"
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

// The numbers of groups of a fio that was rebuilt with another FIO_IO_U_PLAT_GROUP_NR.
// More than 64 are of no use: a number of 64 bits has no more magnitudes.
const (
	MinGroups = 17
	MaxGroups = 64
)

// MaxColumns is the largest number of bins that a row of a histogram log can have.
const MaxColumns = MaxGroups * groupBins

// sameReach is how many more groups of nanoseconds reach as far as groups of microseconds,
// to within 2 %: 2^10 is a little more than 1,000.
const sameReach = 10

// Unit is what a histogram counts latencies in.
type Unit uint8

// The units of fio's bins.
const (
	UnknownUnit  Unit = iota
	Nanoseconds       // fio 3
	Microseconds      // fio 2
)

// String is "ns", "us" or "unknown".
func (u Unit) String() string {
	switch u {
	case Nanoseconds:
		return "ns"
	case Microseconds:
		return "us"
	}
	return "unknown"
}

// Layout is the geometry of a histogram's bins. It is comparable; the zero value is
// fio 3's finest layout, the one that logs have by default.
type Layout struct {
	fio2       bool
	coarseness uint8
	more       int8 // groups beyond 29
}

// Fio3 is the layout of fio 3, in nanoseconds, with 2^coarseness bins joined.
// It panics if coarseness is not in 0 … 6.
func Fio3(coarseness int) Layout { return mustLayout(Nanoseconds, fio3Groups, coarseness) }

// Fio2 is the layout of fio 2, in microseconds, with 2^coarseness bins joined.
func Fio2(coarseness int) Layout { return mustLayout(Microseconds, fio2Groups, coarseness) }

func mustLayout(unit Unit, groups, coarseness int) Layout {
	l, err := NewLayout(unit, groups, coarseness)
	if err != nil {
		panic("hist: " + err.Error())
	}
	return l
}

// NewLayout returns the layout of a fio that was built with some number of groups of 64 bins, [MinGroups] …
// [MaxGroups], with 2^coarseness bins joined, 0 … 6. It fails with [ErrLayout].
func NewLayout(unit Unit, groups, coarseness int) (Layout, error) {
	switch {
	case unit != Nanoseconds && unit != Microseconds:
		return Layout{}, fmt.Errorf("unit %d is not ns or us: %w", unit, ErrLayout)
	case groups < MinGroups || groups > MaxGroups:
		return Layout{}, fmt.Errorf("%d groups are not in %d … %d: %w", groups, MinGroups, MaxGroups, ErrLayout)
	case coarseness < 0 || coarseness > maxCoarseness:
		return Layout{}, fmt.Errorf("coarseness %d is not in 0 … %d: %w", coarseness, maxCoarseness, ErrLayout)
	}
	return layout(unit == Microseconds, groups, coarseness), nil
}

// layout is NewLayout for numbers that are right.
func layout(fio2 bool, groups, coarseness int) Layout {
	return Layout{fio2: fio2, coarseness: uint8(coarseness), more: int8(groups - fio3Groups)}
}

// Len is the number of bins.
func (l Layout) Len() int { return l.Groups() * groupBins >> l.coarseness }

// Half is the first bin that has some of the second half of the bins of coarseness 0.
func (l Layout) Half() int { return l.Groups() * groupBins / 2 >> l.coarseness }

// Groups is the number of groups of 64 bins: 29 in fio 3 and 19 in fio 2, unless fio was
// rebuilt with another number.
func (l Layout) Groups() int { return fio3Groups + int(l.more) }

// Coarseness is fio's log_hist_coarseness: 2^Coarseness fine bins were joined.
func (l Layout) Coarseness() int { return int(l.coarseness) }

// Fio2 reports whether the bins are the bins of fio 2: wider, in microseconds.
func (l Layout) Fio2() bool { return l.fio2 }

// Unit is what the bins count: nanoseconds in fio 3, microseconds in fio 2. All methods
// of a layout take and return nanoseconds.
func (l Layout) Unit() Unit {
	if l.fio2 {
		return Microseconds
	}
	return Nanoseconds
}

// IsUsual reports whether a released fio writes the layout.
func (l Layout) IsUsual() bool {
	return l.Groups() == fio3Groups && !l.fio2 || l.Groups() == fio2Groups && l.fio2
}

// String is short and for people, such as "fio 3, coarseness 2" or "fio 2 with 24 groups,
// coarseness 0".
func (l Layout) String() string {
	version, groups := 3, ""
	if l.fio2 {
		version = 2
	}
	if !l.IsUsual() {
		groups = fmt.Sprintf(" with %d groups", l.Groups())
	}
	return fmt.Sprintf("fio %d%s, coarseness %d", version, groups, l.coarseness)
}

// Bounds are the lowest latency of bin i and the lowest of the next one, in
// nanoseconds. The last bin is given the end of its nominal width. Edges beyond 2^63-1 ns,
// which is 292 years, are taken as 2^63-1: see [Layout.Real].
func (l Layout) Bounds(i int) (low, high int64) {
	e := l.edges()
	return e[i], e[i+1]
}

// Middle is the middle of the latencies of bin i in whole nanoseconds: the least biased
// single value for it.
func (l Layout) Middle(i int) float64 {
	return middle(l.Bounds(i))
}

// middle is the middle of the whole numbers from low up to, but without, high. Their sum
// may be above 2^63.
func middle(low, high int64) float64 { return float64(low) + float64(high-1-low)/2 }

// Open reports whether bin i is the last one, which has all slower requests.
func (l Layout) Open(i int) bool { return i == l.Len()-1 }

// Reach is the nominal end of the last bin in nanoseconds: 17.18 s in fio 3.
func (l Layout) Reach() int64 {
	_, high := l.Bounds(l.Len() - 1)
	return high
}

// Real is the number of bins that can have requests. In layouts of more than 58 groups of
// nanoseconds or 48 of microseconds the last bins begin above 2^63 ns. A count there is an
// error of the file or of the layout.
func (l Layout) Real() int { return l.Index(math.MaxInt64) + 1 }

// Index is the bin of a latency of ns nanoseconds; negative ones count as 0.
func (l Layout) Index(ns int64) int {
	if ns < 0 {
		ns = 0
	}
	if l.fio2 {
		ns /= 1000
	}
	return min(fineIndex(uint64(ns)), l.Groups()*groupBins-1) >> l.coarseness
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
	low := fineLow(fine)
	return times(low+(fineLow(fine+1)-low)/2, l.scale())
}

// scale is how many nanoseconds the bins count.
func (l Layout) scale() int64 {
	if l.fio2 {
		return 1000
	}
	return 1
}

// fineIndex is plat_val_to_idx without its clamp: the position of the highest bit
// selects the group, the six bits below it the bin.
func fineIndex(v uint64) int {
	if v < 2*groupBins {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - groupBits
	return (shift+1)<<groupBits + int(v>>shift)&(groupBins-1)
}

// fineLow is the lowest value of fine bin i in the layout's own unit, at most 2^63-1; for
// i = number of bins, the end of the last one.
func fineLow(i int) int64 {
	if i < 2*groupBins {
		return int64(i)
	}
	shift := i>>groupBits - 1
	if shift > 63-groupBits-1 {
		return math.MaxInt64
	}
	return int64(groupBins+i&(groupBins-1)) << shift
}

// times is the product of two numbers, at most 2^63-1.
func times(n, by int64) int64 {
	if n > math.MaxInt64/by {
		return math.MaxInt64
	}
	return n * by
}

// edgeTables are the edges of all bins in nanoseconds, computed once a layout: by unit, by
// the groups beyond 29 modulo 64, and by coarseness. The sizes are powers of two to make the
// look-up fast.
var edgeTables [2][64][8]struct {
	once  sync.Once
	edges []int64
}

func (l Layout) edges() []int64 {
	family := 0
	if l.fio2 {
		family = 1
	}
	t := &edgeTables[family][uint8(l.more)%64][l.coarseness%8]
	t.once.Do(func() {
		t.edges = make([]int64, l.Len()+1)
		for i := range t.edges {
			t.edges[i] = times(fineLow(i<<l.coarseness), l.scale())
		}
	})
	return t.edges
}

// Merged is the layout to which histograms of both layouts can be added: the coarser one
// with the smaller number of groups. Across fio versions it counts nanoseconds and reaches
// as far as the layout that reaches less far. See the package comment.
func (l Layout) Merged(m Layout) Layout {
	if l == m {
		return l
	}
	fio2, groups := l.fio2 && m.fio2, min(l.reaching(), m.reaching())
	if fio2 {
		groups -= sameReach
	}
	return layout(fio2, groups, max(l.Coarseness(), m.Coarseness()))
}

// NestsIn reports whether each bin of l lies within one bin of m. Its index there is its
// index divided by 2^n, at most the last one, where m is coarser by n.
func (l Layout) NestsIn(m Layout) bool {
	return l.fio2 == m.fio2 && l.coarseness <= m.coarseness && l.more >= m.more
}

// reaching is the number of groups of nanoseconds that reach as far.
func (l Layout) reaching() int {
	if l.fio2 {
		return l.Groups() + sameReach
	}
	return l.Groups()
}
