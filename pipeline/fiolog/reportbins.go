package fiolog

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/hist"
)

// indexMarker is a key among the bins of fio 2 up to version 2.19, in which the other keys
// are indexes of bins. Later versions write fio's own value for the bin. The value of the
// marker is how many bins fio was built with.
const indexMarker = "FIO_IO_U_PLAT_NR"

// binsOf are the bins of a json+ report, and their layout: of as many groups as they take, at
// least the usual number. A key that is no bin's, or a count that is no whole number, is an
// error, because a histogram that lacks requests is worse than none.
func binsOf(ps []pair, unit hist.Unit, scale int64) (hist.Layout, []hist.Bin, error) {
	layout := usual(unit)
	marker := slices.IndexFunc(ps, func(p pair) bool { return string(p.key) == indexMarker })
	find := findByValue(unit, scale)
	if marker >= 0 {
		find = findByIndex
	}
	var out []hist.Bin
	for _, p := range ps {
		key, err := strconv.ParseInt(string(p.key), 10, 64)
		if err != nil && marker >= 0 {
			continue // a marker
		}
		bin := find(key)
		switch {
		case err != nil || bin < 0:
			return layout, nil, fmt.Errorf("bin %q is none of %s", p.key, layout)
		case !p.value.isCount:
			return layout, nil, fmt.Errorf("the count of bin %q is no whole number", p.key)
		case p.value.count > 0:
			out = append(out, hist.Bin{Index: uint32(bin), Count: p.value.count})
		}
	}
	slices.SortFunc(out, func(a, b hist.Bin) int { return cmp.Compare(a.Index, b.Index) })
	for i := 1; i < len(out); i++ {
		if out[i].Index == out[i-1].Index {
			return layout, nil, fmt.Errorf("bin %d comes twice", out[i].Index)
		}
	}
	groups := layout.Groups()
	if marker >= 0 {
		groups = builtWith(ps[marker].value, groups)
	}
	if len(out) > 0 {
		groups = max(groups, int(out[len(out)-1].Index)/groupBins+1)
	}
	return withGroups(unit, groups), out, nil
}

// findByIndex returns the bin of an index, or -1.
func findByIndex(key int64) int {
	if key < 0 || key >= hist.MaxColumns {
		return -1
	}
	return int(key)
}

// findByValue returns a function from fio's own value for a bin to the bin, or -1. The values are in units of scale
// nanoseconds.
func findByValue(unit hist.Unit, scale int64) func(key int64) int {
	widest := withGroups(unit, hist.MaxGroups)
	return func(key int64) int {
		if key < 0 || key > math.MaxInt64/scale {
			return -1
		}
		if bin := widest.Index(key * scale); widest.Representative(bin) == key*scale {
			return bin
		}
		return -1
	}
}

const groupBins = 64

// builtWith is the number of groups of a number of bins, or the usual one.
func builtWith(bins number, usual int) int {
	n := bins.whole() / groupBins
	if n < hist.MinGroups || n > hist.MaxGroups {
		return usual
	}
	return int(n)
}

// usual is the finest layout of a released fio.
func usual(unit hist.Unit) hist.Layout {
	if unit == hist.Microseconds {
		return hist.Fio2(0)
	}
	return hist.Fio3(0)
}

// withGroups is the finest layout of a number of groups, or the usual one.
func withGroups(unit hist.Unit, groups int) hist.Layout {
	l, err := hist.NewLayout(unit, groups, 0)
	if err != nil {
		return usual(unit)
	}
	return l
}

// Histogram makes a histogram of Bins. groups is how many groups fio was built with, by other
// evidence such as the columns of a log of the same fio, or 0. Requests beyond these groups
// are in the open bin.
func (l *Latency) Histogram(groups int) *hist.Histogram {
	from, to := l.Layout, l.Layout
	if known, err := hist.NewLayout(l.Layout.Unit(), groups, 0); err == nil {
		to = known
	}
	if to.Groups() > from.Groups() {
		from = to // the first bins of both are the same
	}
	h := hist.New(to)
	h.AddBins(from, l.Bins)
	return h
}
