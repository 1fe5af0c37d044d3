package heatmap

import (
	"testing"

	"github.com/fio2es/fio2es/hist"
)

func TestBandOf(t *testing.T) {
	for _, c := range []struct {
		us        float64
		low, high float64
	}{
		{0, 0.001, 0.00112202}, {0.001, 0.001, 0.00112202}, {1, 1, 1.12202}, {0.9999, 0.891251, 1},
		{1.12202, 1.12202, 1.25893}, {1.12201, 1, 1.12202}, {1000, 1000, 1122.02}, {17.18e6, 15848900, 17782800},
		{5.4e8, 501187000, 562341000},
	} {
		if i := bandOf(c.us); Bound(i) != c.low || Bound(i+1) != c.high {
			t.Errorf("%v µs is in %v … %v, not in %v … %v", c.us, Bound(i), Bound(i+1), c.low, c.high)
		}
	}
	if i := bandOf(1e13); i != bands-1 {
		t.Errorf("what is above all bands is in band %d", i)
	}
}

// TestBandsOf: in all layouts, a bin is in the band of its middle.
func TestBandsOf(t *testing.T) {
	for c := range 7 {
		layouts := []hist.Layout{hist.Fio3(c), hist.Fio2(c)}
		for unit, groups := range map[hist.Unit]int{hist.Nanoseconds: 43, hist.Microseconds: 33} {
			l, err := hist.NewLayout(unit, groups, c)
			if err != nil {
				t.Fatal(err)
			}
			layouts = append(layouts, l)
		}
		for _, l := range layouts {
			for bin, band := range bandsOf(l) {
				middle := l.Middle(bin) / 1000
				if (middle < Bound(band) && band > 0) || middle >= Bound(band+1) {
					t.Fatalf("%v: bin %d, of %v µs, is in band %d, from %v µs", l, bin, middle, band, Bound(band))
				}
			}
		}
	}
}
