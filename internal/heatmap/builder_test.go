package heatmap

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
	"github.com/fio2es/fio2es/internal/window"
)

var began = time.Date(2026, 11, 21, 3, 13, 2, 0, time.UTC)

type given struct {
	window.Window
	requests *hist.Histogram
}

// windowAt returns a window with n requests of one latency. start and end are in milliseconds.
func windowAt(elapsed, start, end int64, us float64, n int) given {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(int64(us*1000), float64(n))
	at := func(ms int64) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	return given{window.Window{ElapsedMS: elapsed, Start: at(start), End: at(end)}, h}
}

func mapOf(columns int, windows ...given) *Map {
	b := NewBuilder(columns)
	for _, w := range windows {
		b.Add(&w.Window, w.requests)
	}
	return b.Map()
}

// windowsOf returns windows as runs have them, in any order: on a grid, with gaps, with edges that follow rows,
// several at one time, in several layouts, and sometimes with a cut first window.
func windowsOf(t *rapid.T) []given {
	length := rapid.SampledFrom([]int64{100, 1000, 10_000}).Draw(t, "length")
	cut := rapid.Int64Range(0, length-length/50-1).Draw(t, "cut")
	var all []given
	for i, n := range rapid.SliceOfN(rapid.IntRange(0, 3), 1, 300).Draw(t, "windows") {
		for range n {
			h := hist.New(hist.Fio3(rapid.IntRange(0, 3).Draw(t, "coarseness")))
			for _, bin := range rapid.SliceOfN(rapid.IntRange(0, h.Layout().Len()-1), 0, 3).Draw(t, "bins") {
				h.AddAt(bin, float64(rapid.IntRange(1, 1000).Draw(t, "requests")))
			}
			elapsed := max(int64(i)*length-cut, 0)
			start := elapsed + rapid.Int64Range(0, length/50).Draw(t, "late")
			at := began.Add(time.Duration(start) * time.Millisecond)
			end := began.Add(time.Duration(int64(i+1)*length-cut+length/50) * time.Millisecond)
			all = append(all, given{window.Window{ElapsedMS: elapsed, Start: at, End: end}, h})
		}
	}
	return rapid.Permutation(all).Draw(t, "order")
}

// TestMap: each column has exactly the requests of the windows that begin in its time. No request is lost or counted
// twice, even if columns are joined many times.
func TestMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		windows, limit := windowsOf(t), rapid.IntRange(1, 20).Draw(t, "columns")
		m := mapOf(limit, windows...)
		if len(m.Columns) > limit || m.Slots > limit {
			t.Fatalf("%d columns in %d slots, more than %d", len(m.Columns), m.Slots, limit)
		}
		total, slot := int64(0), 0
		for i := range m.Columns {
			c := &m.Columns[i]
			if c.First < slot || c.Last <= c.First || c.Last > m.Slots {
				t.Fatalf("column %d is in slots %d … %d of %d", i, c.First, c.Last, m.Slots)
			}
			slot = c.Last
			var want [bands]int64
			requests := 0.0
			for _, w := range windows {
				if w.Start.Before(c.Start) || i+1 < len(m.Columns) && !w.Start.Before(m.Columns[i+1].Start) {
					continue
				}
				of := bandsOf(w.requests.Layout())
				for bin, n := range w.requests.All() {
					want[of[bin]] += int64(n)
					requests += n
				}
			}
			if c.Counts != want || c.Requests.Total() != requests {
				t.Fatalf("column %d has %v, want %v", i, c.Counts, want)
			}
			total += int64(requests)
		}
		all := 0.0
		for _, w := range windows {
			all += w.requests.Total()
		}
		if m.Total != total || float64(total) != all {
			t.Fatalf("%d requests in the map, %d in its columns, %v in all", m.Total, total, all)
		}
	})
}

// TestColumnsAreEven: windows without gaps fill all slots. All columns but the last have the same number of windows,
// and there are more than half as many columns as allowed.
func TestColumnsAreEven(t *testing.T) {
	for _, c := range []struct{ windows, limit, each int }{
		{1, 10, 1}, {10, 10, 1}, {11, 10, 2}, {80, 10, 8}, {81, 10, 10}, {1000, 240, 5}, {20_000, 240, 96},
	} {
		b := NewBuilder(c.limit)
		for i := range int64(c.windows) {
			w := windowAt(i*1000, i*1000+3, i*1000+1003, 50, 1)
			b.Add(&w.Window, w.requests)
		}
		m := b.Map()
		want := (c.windows + c.each - 1) / c.each
		if len(m.Columns) != want || m.Slots != want || m.Width.Round(time.Second) != time.Duration(c.each)*time.Second {
			t.Errorf("%d windows: %d columns, %d slots of %v, want %d of %ds", c.windows, len(m.Columns), m.Slots, m.Width, want, c.each)
		}
		for i := range m.Columns[:len(m.Columns)-1] {
			if n := m.Columns[i].Requests.Total(); int(n) != c.each {
				t.Errorf("%d windows: column %d has %v, want %d", c.windows, i, n, c.each)
				break
			}
		}
	}
}

// TestSlots: the slots of columns.
func TestSlots(t *testing.T) {
	plain := func(at int64) given { return windowAt(at, at, at+1000, 50, 1) }
	for _, c := range []struct {
		name    string
		windows []given
		want    [][2]int
	}{
		{"a gap", []given{plain(0), plain(1000), plain(5000)}, [][2]int{{0, 1}, {1, 2}, {5, 6}}},
		{"nothing but a gap", []given{plain(0), plain(4000)}, [][2]int{{0, 1}, {4, 5}}},
		{"the first is cut", []given{windowAt(0, 0, 300, 50, 1), plain(300), plain(1300), plain(2300)}, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}}},
		{"the last is short", []given{plain(0), plain(1000), windowAt(2000, 2000, 2004, 50, 1)}, [][2]int{{0, 1}, {1, 2}, {2, 3}}},
		{"of several lengths", []given{windowAt(0, 0, 2003, 50, 1), windowAt(2000, 2003, 7003, 50, 1), windowAt(7000, 7003, 10_000, 50, 1), windowAt(10_000, 10_003, 12_000, 50, 1)},
			[][2]int{{0, 2}, {2, 7}, {7, 10}, {10, 12}}},
		{"edges far from the grid", []given{plain(0), windowAt(1000, 400, 2000, 50, 1), plain(2000)}, [][2]int{{0, 1}, {1, 2}, {2, 3}}},
		{"later rows", []given{windowAt(0, 0, 1003, 50, 1), windowAt(0, 0, 1005, 50, 1), windowAt(1000, 1003, 2003, 50, 1), windowAt(1000, 1005, 2005, 50, 1)},
			[][2]int{{0, 1}, {1, 2}}},
	} {
		m := mapOf(100, c.windows...)
		var got [][2]int
		for _, column := range m.Columns {
			got = append(got, [2]int{column.First, column.Last})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: slots %v, want %v", c.name, got, c.want)
		}
	}
}

// TestEnds: a column ends where the next one begins, but not later than its windows.
func TestEnds(t *testing.T) {
	m := mapOf(10, windowAt(0, 0, 1005, 50, 1), windowAt(1000, 1003, 2003, 50, 1), windowAt(3000, 3000, 4000, 50, 1))
	for i, want := range []int64{1003, 2003, 4000} {
		if got := m.Columns[i].End.Sub(began).Milliseconds(); got != want {
			t.Errorf("column %d ends after %d ms, want %d", i, got, want)
		}
	}
}

func TestNothing(t *testing.T) {
	if m := mapOf(10, windowAt(0, 0, 1000, 50, 0)); m.Total != 0 || len(m.Columns) != 0 {
		t.Errorf("a map of nothing is %+v", m)
	}
}

// TestShownAs: cells of a window that the run's end cuts are shown by their rate, as SVG and as text.
func TestShownAs(t *testing.T) {
	m := mapOf(10, windowAt(0, 0, 1000, 50, 100), windowAt(1000, 1000, 2000, 50, 100), windowAt(2000, 2000, 2200, 50, 20), windowAt(3000, 3000, 3001, 50, 3))
	for i, want := range []int64{100, 100, 100, 30} {
		c := &m.Columns[i]
		if n := m.shownAs(c, int64(c.Requests.Total())); n != want {
			t.Errorf("column %d is shown as %d, want %d", i, n, want)
		}
	}
	var text, picture strings.Builder
	m = mapOf(10, windowAt(0, 0, 1000, 50, 100), windowAt(1000, 1000, 2000, 50, 100), windowAt(2000, 2000, 2250, 50, 25))
	if err := m.WriteText(&text, Text{Columns: 12, Lines: 5}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "█████████   ") { // two slots of four characters, and one of one
		t.Errorf("not shown by its rate, or too long:\n%s", &text)
	}
	if err := m.WriteSVG(&picture, Picture{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(picture.String(), `class="level23" d="M76 116h426.7v24h-426.7zM502.7 116h426.6v24h-426.6zM929.3 116h106.7`); n != 1 {
		t.Errorf("not of one colour, or of the wrong width:\n%s", &picture)
	}
}

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
	for i := range Grounds[1:] {
		if luminance(cube(Grounds[i+1])) <= luminance(cube(Grounds[i])) {
			t.Errorf("ground %d is no lighter than the one before", i+1)
		}
	}
}
