package chart

import (
	"fmt"
	"math"
)

// rgb is a colour, each part 0 … 255.
type rgb [3]float64

// onPaper is a sequential scale for a light background, and gets evenly darker. So it can be read without colour
// vision and from black-and-white prints. onScreen is for a dark background, and gets evenly lighter.
var (
	onPaper  = []rgb{{174, 226, 205}, {91, 190, 184}, {52, 146, 168}, {55, 101, 158}, {62, 59, 120}, {40, 30, 66}, {11, 4, 14}}
	onScreen = []rgb{{44, 48, 88}, {58, 74, 132}, {55, 101, 158}, {52, 146, 168}, {91, 190, 184}, {174, 226, 205}, {240, 251, 243}}
)

// Shades returns n colours for numbers from low to high, on a light or a dark background, in the form "#aee2cd".
func Shades(n int, isDark bool) []string {
	scale, list := onPaper, make([]string, n)
	if isDark {
		scale = onScreen
	}
	for i := range list {
		c := along(scale, float64(i)/float64(n-1))
		list[i] = fmt.Sprintf("#%02x%02x%02x", int(c[0]), int(c[1]), int(c[2]))
	}
	return list
}

// along returns the colour at a share (0 … 1) of a scale.
func along(scale []rgb, share float64) rgb {
	at := share * float64(len(scale)-1)
	i := min(int(at), len(scale)-2)
	var c rgb
	for k := range c {
		c[k] = math.Round(scale[i][k] + (scale[i+1][k]-scale[i][k])*(at-float64(i)))
	}
	return c
}
