package report

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
)

// TestCurve: each point is a percentile of the histogram, from the fastest request to the slowest, and the latencies
// ascend.
func TestCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hist.New(hist.Fio3(rapid.IntRange(0, 3).Draw(t, "coarseness")))
		for _, bin := range rapid.SliceOfN(rapid.IntRange(0, h.Layout().Len()-1), 1, 50).Draw(t, "bins") {
			h.AddAt(bin, float64(rapid.IntRange(1, 100_000).Draw(t, "requests")))
		}
		c := newCurve("read", "read", h)
		for _, points := range [][]curvePoint{c.points, c.marks} {
			for i, p := range points {
				if want := math.Round(h.Percentile(p.q).Value) / 1000; p.us != want {
					t.Fatalf("p%v is %v, want %v", p.q*100, p.us, want)
				}
				if i > 0 && (p.q <= points[i-1].q || p.us < points[i-1].us) {
					t.Fatalf("point %d: %+v after %+v", i, p, points[i-1])
				}
			}
			if last := points[len(points)-1]; last.us != math.Round(h.Max().Value)/1000 {
				t.Fatalf("the last is %v, the maximum %v", last.us, h.Max().Value/1000)
			}
		}
		if c.points[0].q != 0 {
			t.Fatalf("the first is p%v", c.points[0].q*100)
		}
	})
}

// TestKeys: the legend shows all names, shortened.
func TestKeys(t *testing.T) {
	var curves []*curve
	for range maxCurves {
		one := newCurve(strings.Repeat("long/", 40), "run1", histOf(10, 50, 70))
		curves = append(curves, one)
	}
	svg := string(drawCurves(curves, "label").SVG)
	if n := strings.Count(svg, "</svg>long/"); n != maxCurves || strings.Count(svg, "…") != maxCurves {
		t.Errorf("the legend has %d names", n)
	}
}
