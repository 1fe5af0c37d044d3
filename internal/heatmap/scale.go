package heatmap

import (
	"fmt"
	"math"
)

// scale tells how strong a cell is drawn: numbers of requests on a logarithmic scale, in
// levels, the least number of each. 1 has the lowest level, the most the highest.
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

// has tells whether there is a number of that level.
func (s scale) has(level int) bool {
	return level == len(s)-1 || s[level] < s[level+1]
}

// rgb is a colour, 0 … 255 each.
type rgb [3]float64

// paper is a sequential colour scale for a white ground: evenly darker with each step, so
// that it needs no eye for colours and comes out of any printer.
var paper = []rgb{{174, 226, 205}, {91, 190, 184}, {52, 146, 168}, {55, 101, 158}, {62, 59, 120}, {40, 30, 66}, {11, 4, 14}}

// screen is one for a dark ground: evenly lighter with each step.
var screen = []rgb{{44, 48, 88}, {58, 74, 132}, {55, 101, 158}, {52, 146, 168}, {91, 190, 184}, {174, 226, 205}, {240, 251, 243}}

// String is the colour as style sheets have it: "#aee2cd".
func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", int(c[0]), int(c[1]), int(c[2])) }

// along is the colour at a share (0 … 1) of a scale.
func along(list []rgb, share float64) rgb {
	at := min(max(share, 0), 1) * float64(len(list)-1)
	i := min(int(at), len(list)-2)
	var c rgb
	for k := range c {
		c[k] = math.Round(list[i][k] + (list[i+1][k]-list[i][k])*(at-float64(i)))
	}
	return c
}
