package heatmap

import "math"

// scale is a logarithmic scale from numbers of requests to levels of colour: the lowest number of each level. 1 has
// the lowest level, and the largest number the highest.
type scale []int64

func newScale(most int64, levels int) scale {
	s := make(scale, levels)
	s[0] = 1
	for i := 1; i < levels; i++ {
		s[i] = int64(math.Ceil(math.Pow(float64(most), (float64(i)-0.5)/float64(levels-1))))
	}
	return s
}

// level returns the level of n requests; n is at least 1. Levels for which there is no whole number are never
// returned.
func (s scale) level(n int64) int {
	i := len(s) - 1
	for i > 0 && s[i] > n {
		i--
	}
	return i
}

// has reports whether some number of requests has that level.
func (s scale) has(level int) bool {
	return level == len(s)-1 || s[level] < s[level+1]
}
