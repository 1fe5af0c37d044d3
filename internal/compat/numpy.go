package compat

import (
	"slices"
	"sort"
	"strconv"
	"strings"
)

// pairwise adds numbers in the order of NumPy's sum: of up to 128 eight sums of every eighth one, of more both halves.
// The order decides the last digits.
func pairwise(list []float64) float64 {
	const block, lanes = 128, 8
	n := len(list)
	switch {
	case n < lanes:
		sum := 0.0
		for _, v := range list {
			sum += v
		}
		return sum
	case n > block:
		half := n / 2
		half -= half % lanes
		return pairwise(list[:half]) + pairwise(list[half:])
	}
	var r [lanes]float64
	copy(r[:], list)
	i := lanes
	for ; i < n-n%lanes; i += lanes {
		for j := range r {
			r[j] += list[i+j]
		}
	}
	sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for _, v := range list[i:] {
		sum += v
	}
	return sum
}

// interpolate returns the value at x between the points (xs, ys), as NumPy's interp: xs ascend and may be equal. Beyond
// the ends it is that of the end.
func interpolate(x float64, xs, ys []float64) float64 {
	at := sort.Search(len(xs), func(i int) bool { return xs[i] > x }) - 1 // the last one that is not above x
	switch {
	case at < 0:
		return ys[0]
	case at == len(xs)-1 || xs[at] == x:
		return ys[at]
	}
	slope := (ys[at+1] - ys[at]) / (xs[at+1] - xs[at])
	return float64(slope*(x-xs[at])) + ys[at]
}

// python writes a number as Python does: as few digits as identify it, and whole numbers with a decimal point.
func python(v float64) string {
	s := strconv.FormatFloat(v, 'e', -1, 64)
	if exponent, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:]); exponent < -4 || exponent >= 16 {
		return s
	}
	if s = strconv.FormatFloat(v, 'f', -1, 64); !slices.Contains([]byte(s), '.') {
		s += ".0"
	}
	return s
}
