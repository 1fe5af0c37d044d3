package chart

import (
	"fmt"
	"testing"
)

// luminance returns how bright a colour looks, 0 … 1 (relative luminance of WCAG 2.1, with a square in place of the
// sRGB curve).
func luminance(c [3]int) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		x := float64(c[i]) / 255
		sum += weight * x * x
	}
	return sum
}

// TestShades: shades differ in lightness, which falls on paper and rises on dark backgrounds.
func TestShades(t *testing.T) {
	const n = 24
	for isDark, ends := range map[bool][2]string{false: {"#aee2cd", "#0b040e"}, true: {"#2c3058", "#f0fbf3"}} {
		list := Shades(n, isDark)
		if len(list) != n || list[0] != ends[0] || list[n-1] != ends[1] {
			t.Errorf("%v", list)
		}
		for i := range list[1:] {
			var a, b [3]int
			fmt.Sscanf(list[i], "#%02x%02x%02x", &a[0], &a[1], &a[2])
			fmt.Sscanf(list[i+1], "#%02x%02x%02x", &b[0], &b[1], &b[2])
			if rises := luminance(b) > luminance(a); rises != isDark {
				t.Errorf("dark %v: shade %d is %s, the one before %s", isDark, i+1, list[i+1], list[i])
			}
		}
	}
}
