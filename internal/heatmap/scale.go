package heatmap

import "math"

// scale is the colours of cells: levels on a logarithmic scale, by the least number of requests of
// each. One request has the lowest level, the most requests of a cell the highest.
type scale []int64

func newScale(most int64, levels int) scale {
	s := make(scale, levels)
	s[0] = 1
	for i := 1; i < levels; i++ {
		s[i] = int64(math.Ceil(math.Pow(float64(most), (float64(i)-0.5)/float64(levels-1))))
	}
	return s
}

// level is that of n requests, of 1 or more. Levels that no whole number has are left out.
func (s scale) level(n int64) int {
	i := len(s) - 1
	for i > 0 && s[i] > n {
		i--
	}
	return i
}

// has reports whether some number has the level.
func (s scale) has(level int) bool {
	return level == len(s)-1 || s[level] < s[level+1]
}
