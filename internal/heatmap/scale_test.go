package heatmap

import (
	"testing"

	"pgregory.net/rapid"
)

// TestScale: more requests never have a lower level. The first number of a level in the legend has that level, and
// the number before does not.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.OneOf(rapid.Int64Range(1, 50), rapid.Int64Range(1, 1<<50)).Draw(t, "most")
		s := newScale(most, rapid.IntRange(2, 30).Draw(t, "levels"))
		if s.level(most) != len(s)-1 || most > 1 && s.level(1) != 0 {
			t.Fatalf("1 has level %d, %d has %d", s.level(1), most, s.level(most))
		}
		for level, from := range s {
			if !s.has(level) {
				continue
			}
			if s.level(from) != level || from > most || from > 1 && s.level(from-1) >= level {
				t.Fatalf("level %d begins at %d, which has %d; the number before has %d", level, from, s.level(from), s.level(from-1))
			}
		}
	})
}

// luminance returns how bright a colour looks, 0 … 1 (relative luminance of WCAG 2.1, with a square in place of the
// sRGB curve).
func luminance(c [3]float64) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		x := c[i] / 255
		sum += weight * x * x
	}
	return sum
}

// TestGrounds: colours of terminals get lighter with more requests.
func TestGrounds(t *testing.T) {
	cube := func(n int) [3]float64 { // of the 256 colours, 16 … 231 are a cube
		steps := []float64{0, 95, 135, 175, 215, 255}
		n -= 16
		return [3]float64{steps[n/36], steps[n/6%6], steps[n%6]}
	}
	for i := range grounds[1:] {
		if luminance(cube(grounds[i+1])) <= luminance(cube(grounds[i])) {
			t.Errorf("ground %d is no lighter than the one before", i+1)
		}
	}
}
