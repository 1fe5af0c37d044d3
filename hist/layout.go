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

// Numbers of groups that a rebuilt fio may have (FIO_IO_U_PLAT_GROUP_NR). More than 64 are useless, because a 64-bit
// number has only 64 magnitudes.
const (
	MinGroups = 17
	MaxGroups = 64
)

// MaxColumns is the largest number of bins that a row of a histogram log can have.
const MaxColumns = MaxGroups * groupBins

// sameReach is the number of groups of nanoseconds that have to be added to end at about the same latency as groups of
// microseconds. The difference is 2 %, because 2^10 is 1,024 and not 1,000.
const sameReach = 10

// Unit is the unit in which fio counts the latencies of its bins.
type Unit uint8

// The units of fio's bins.
const (
	UnknownUnit  Unit = iota
	Nanoseconds       // fio 3
	Microseconds      // fio 2
)

// String returns "ns", "us" or "unknown".
func (u Unit) String() string {
	switch u {
	case Nanoseconds:
		return "ns"
	case Microseconds:
		return "us"
	}
	return "unknown"
}

// Layout is the geometry of the bins of a histogram. Layouts can be compared with ==. The zero value is fio 3's finest
// layout, which is the default of logs.
type Layout struct {
	fio2       bool
	coarseness uint8
	more       int8 // groups beyond 29
}

// Fio3 returns the layout of fio 3, in nanoseconds, with 2^coarseness bins joined. It panics if coarseness is not in 0
// … 6.
func Fio3(coarseness int) Layout { return mustLayout(Nanoseconds, fio3Groups, coarseness) }

// Fio2 returns the layout of fio 2, in microseconds, with 2^coarseness bins joined. It panics if coarseness is not in 0
// … 6.
func Fio2(coarseness int) Layout { return mustLayout(Microseconds, fio2Groups, coarseness) }

func mustLayout(unit Unit, groups, coarseness int) Layout {
	l, err := NewLayout(unit, groups, coarseness)
	if err != nil {
		panic("hist: " + err.Error())
	}
	return l
}

// NewLayout returns the layout of a fio that was built with the given number of groups of 64 bins, [MinGroups] …
// [MaxGroups]. 2^coarseness bins are joined, with coarseness in 0 … 6. It fails with [ErrLayout].
func NewLayout(unit Unit, groups, coarseness int) (Layout, error) {
	switch {
	case unit != Nanoseconds && unit != Microseconds:
		return Layout{}, fmt.Errorf("unit %d is not ns or us: %w", unit, ErrLayout)
	case groups < MinGroups || groups > MaxGroups:
		return Layout{}, fmt.Errorf("%d groups are not in %d … %d: %w", groups, MinGroups, MaxGroups, ErrLayout)
	case coarseness < 0 || coarseness > maxCoarseness:
		return Layout{}, fmt.Errorf("coarseness %d is not in 0 … %d: %w", coarseness, maxCoarseness, ErrLayout)
	}
	return Layout{fio2: unit == Microseconds, coarseness: uint8(coarseness), more: int8(groups - fio3Groups)}, nil
}

// Len returns the number of bins.
func (l Layout) Len() int { return l.Groups() * groupBins >> l.coarseness }

// Half returns the first bin that contains bins of the second half of coarseness 0.
func (l Layout) Half() int { return l.Groups() * groupBins / 2 >> l.coarseness }

// Groups returns the number of groups of 64 bins: 29 in fio 3 and 19 in fio 2, unless fio was rebuilt with another
// number.
func (l Layout) Groups() int { return fio3Groups + int(l.more) }

// Coarseness returns fio's log_hist_coarseness: 2^Coarseness fine bins are joined.
func (l Layout) Coarseness() int { return int(l.coarseness) }

// Coarser returns the layout of the same fio whose coarseness is at least c, in 0 … 6. Its bins are unions of the bins
// of l, so [Histogram.To] it is exact.
func (l Layout) Coarser(c int) Layout {
	l.coarseness = max(l.coarseness, uint8(min(max(c, 0), maxCoarseness)))
	return l
}

// CoarsenessFor returns the largest coarseness whose [Layout.RelativeError] is at most bound. It returns false if that
// of the finest bins, 1/128, is larger, or if bound is NaN.
func CoarsenessFor(bound float64) (coarseness int, ok bool) {
	for c := maxCoarseness; c >= 0; c-- {
		if Fio3(c).RelativeError() <= bound {
			return c, true
		}
	}
	return 0, false
}

// Unit returns the unit of the bins: nanoseconds in fio 3, microseconds in fio 2. All other methods with
// latencies take and return nanoseconds.
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

// String describes the layout for people, such as "fio 3, coarseness 2" or "fio 2 with 24 groups, coarseness 0".
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

// Bounds returns the lowest latency of bin i and of the next bin, in nanoseconds. For the last bin, high is the end of
// its nominal width. Edges beyond 2^63-1 ns (292 years) become 2^63-1: see [Layout.Real].
func (l Layout) Bounds(i int) (low, high int64) {
	e := l.edges()
	return e[i], e[i+1]
}

// Middle returns the middle of the latencies of bin i, in nanoseconds. It is the single value with the least bias.
func (l Layout) Middle(i int) float64 {
	return middle(l.Bounds(i))
}

// middle returns the middle of the whole numbers in [low, high). It does not add the edges, because their sum may
// exceed an int64.
func middle(low, high int64) float64 { return float64(low) + float64(high-1-low)/2 }

// Open reports whether bin i is the last bin. That bin also has all slower requests.
func (l Layout) Open(i int) bool { return i == l.Len()-1 }

// Reach returns the nominal end of the last bin in nanoseconds: 17.18 s in fio 3.
func (l Layout) Reach() int64 {
	_, high := l.Bounds(l.Len() - 1)
	return high
}

// Real returns the number of bins that can have requests. In layouts of more than 58 groups of nanoseconds or 48 of
// microseconds the last bins begin above 2^63 ns. A count in these bins is an error of the file or of the layout.
func (l Layout) Real() int { return l.Index(math.MaxInt64) + 1 }

// Index returns the bin of a latency of ns nanoseconds. Negative latencies count as 0.
func (l Layout) Index(ns int64) int {
	v := max(ns, 0)
	if l.fio2 {
		v /= 1000
	}
	// This is plat_val_to_idx (stat.c). The highest bit of v selects the group, the six bits below it select the bin.
	fine := int(v)
	if v >= 2*groupBins {
		shift := bits.Len64(uint64(v)) - 1 - groupBits
		fine = (shift+1)<<groupBits + int(v>>shift)&(groupBins-1)
	}
	return min(fine, l.Groups()*groupBins-1) >> l.coarseness
}

// RelativeError returns the largest distance of a latency from the middle of its bin, relative to the latency. It is
// 1/128 at coarseness 0 and doubles with each step. Below 64 of the layout's units, bins of coarseness 0 have no error,
// and those of others may have a larger one.
func (l Layout) RelativeError() float64 { return float64(int(1)<<l.coarseness) / (2 * groupBins) }

// Representative returns the latency that fio prints for bin i, in nanoseconds. This is plat_idx_to_val (stat.c) of the
// fine bin in the middle of a coarse bin.
func (l Layout) Representative(i int) int64 {
	fine := i << l.coarseness
	if l.coarseness > 0 {
		fine += 1 << (l.coarseness - 1)
	}
	low := fineLow(fine)
	return l.nanoseconds(low + (fineLow(fine+1)-low)/2)
}

// nanoseconds converts a latency in the layout's own unit. The result is at most 2^63-1.
func (l Layout) nanoseconds(n int64) int64 {
	switch {
	case !l.fio2:
		return n
	case n > math.MaxInt64/1000:
		return math.MaxInt64
	}
	return n * 1000
}

// fineLow returns the lowest value of fine bin i, in the layout's own unit, at most 2^63-1. If i is the number of bins,
// it returns the end of the last bin.
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

// edgeTables has the edges of all bins in nanoseconds, computed once for each layout. The indices are the unit, the
// groups beyond 29 modulo 64, and the coarseness. The sizes are powers of two, so the look-up is fast.
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
			t.edges[i] = l.nanoseconds(fineLow(i << l.coarseness))
		}
	})
	return t.edges
}

// Merged returns the layout to which histograms of both layouts can be added. It has the larger coarseness and the
// smaller number of groups. For different fio versions it counts nanoseconds and ends where the shorter layout ends.
// See the package comment.
func (l Layout) Merged(m Layout) Layout {
	if l == m {
		return l
	}
	if l.fio2 && !m.fio2 {
		return m.Merged(l)
	}
	more := m.more
	if m.fio2 && !l.fio2 {
		more += sameReach
	}
	return Layout{fio2: l.fio2, more: min(l.more, more), coarseness: max(l.coarseness, m.coarseness)}
}
