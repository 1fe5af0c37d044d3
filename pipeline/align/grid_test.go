package align

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// grids draws grids as Merge makes them: the tolerance is at most half a window.
func grids() *rapid.Generator[grid] {
	return rapid.Custom(func(t *rapid.T) grid {
		length := rapid.Int64Range(1, 100_000).Draw(t, "length")
		return grid{length, rapid.Int64Range(0, length/2).Draw(t, "tolerance")}
	})
}

func TestSnap(t *testing.T) {
	g := grid{length: 1000, tolerance: 50}
	for _, c := range []struct {
		name    string
		t, want int64
	}{
		{"edge", 3000, 3000},
		{"little late", 3050, 3000},
		{"too late", 3051, 3051},
		{"little early", 2950, 3000},
		{"too early", 2949, 2949},
		{"start of the run", 7, 0},
		{"huge", 4e12 + 3, 4e12},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := g.snap(c.t); got != c.want {
				t.Errorf("snap(%d) = %d, want %d", c.t, got, c.want)
			}
		})
	}
}

func TestSnapKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := grids().Draw(t, "grid")
		at := rapid.Int64Range(0, 1e13).Draw(t, "t")
		later := at + rapid.Int64Range(0, 3*g.length).Draw(t, "step")
		once, after := g.snap(at), g.snap(later)
		if once > after {
			t.Errorf("%d and %d became %d and %d", at, later, once, after)
		}
		if again := g.snap(once); again != once {
			t.Errorf("%d became %d, and that %d", at, once, again)
		}
		if moved := max(once-at, at-once); moved > g.tolerance || moved > 0 && once%g.length != 0 {
			t.Errorf("%d was moved to %d, which is not an edge within %d", at, once, g.tolerance)
		}
	})
}

// TestWindow: completions at an edge belong to the window that ends there.
func TestWindow(t *testing.T) {
	g := grid{length: 1000}
	for _, c := range []struct {
		name    string
		t, want int64
	}{
		{"before the run", -5, 0},
		{"start of the run", 0, 0},
		{"first", 1, 0},
		{"end of the first", 1000, 0},
		{"start of the second", 1001, 1},
		{"end of the second", 2000, 1},
		{"huge", 4e12 + 1, 4e9},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := g.window(c.t); got != c.want {
				t.Errorf("window(%d) = %d, want %d", c.t, got, c.want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		g := grids().Draw(t, "grid")
		at := rapid.Int64Range(1, 1e13).Draw(t, "t")
		if w := g.window(at); at <= w*g.length || at > (w+1)*g.length {
			t.Errorf("%d is not in (%d, %d]", at, w*g.length, (w+1)*g.length)
		}
	})
}

// stay is a request that took life and completed somewhere in (start, end].
type stay struct{ start, end, life float64 }

// stays draws them as rows have them: whole milliseconds, lives up to the last bin's.
func stays() *rapid.Generator[stay] {
	lengths := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 3), rapid.Int64Range(1, 20_000), rapid.Int64Range(1e6, 1e9))
	lives := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-6, 1e-3), rapid.Float64Range(0, 2), rapid.Float64Range(1, 17_180))
	return rapid.Custom(func(t *rapid.T) stay {
		start := rapid.Int64Range(0, 1e6).Draw(t, "start")
		end := start + lengths.Draw(t, "length")
		return stay{float64(start), float64(end), lives.Draw(t, "life")}
	})
}

// moment is one from a little before the request can have begun to a little after
// it must have ended.
func (s stay) moment(t *rapid.T, label string) float64 {
	low, high := s.start-s.life-1, s.end+1
	return low + rapid.Float64Range(0, 1).Draw(t, label)*(high-low)
}

// integrate is presence by its definition: the mean, over moments of completion, of the
// share of the life before t.
func (s stay) integrate(t float64, steps int) float64 {
	sum := 0.0
	for i := range steps {
		completed := s.start + (float64(i)+0.5)/float64(steps)*(s.end-s.start)
		switch {
		case s.life > 0:
			sum += min(max((t-completed+s.life)/s.life, 0), 1)
		case completed <= t:
			sum++
		}
	}
	return sum / float64(steps)
}

func TestPresenceIsWhatItsDefinitionSays(t *testing.T) {
	const steps = 2000
	rapid.Check(t, func(t *rapid.T) {
		s := stays().Draw(t, "stay")
		at := s.moment(t, "t")
		got, want := presence(at, s.start, s.end, s.life), s.integrate(at, steps)
		if math.Abs(got-want) > 1.0/steps+1e-6 {
			t.Errorf("presence(%v) of %+v = %v, integrated %v", at, s, got, want)
		}
	})
}

func TestPresenceIsADistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stays().Draw(t, "stay")
		at, later := s.moment(t, "t"), s.moment(t, "later")
		if at > later {
			at, later = later, at
		}
		p, q := presence(at, s.start, s.end, s.life), presence(later, s.start, s.end, s.life)
		if !(p >= 0 && q <= 1) {
			t.Errorf("presence of %+v: %v and %v, want both in 0 … 1", s, p, q)
		}
		if p > q+1e-9 {
			t.Errorf("presence of %+v falls from %v at %v to %v at %v", s, p, at, q, later)
		}
		if p := presence(s.start-s.life-1, s.start, s.end, s.life); p != 0 {
			t.Errorf("presence of %+v before it began is %v", s, p)
		}
		if p := presence(s.end, s.start, s.end, s.life); p != 1 {
			t.Errorf("presence of %+v at its end is %v", s, p)
		}
	})
}

func TestPresence(t *testing.T) {
	for _, c := range []struct {
		name string
		t    float64
		stay
		want float64
	}{
		{"half a row, no life", 500, stay{0, 1000, 0}, 0.5},
		{"moment, no life", 999, stay{1000, 1000, 0}, 0},
		{"moment, no life, at it", 1000, stay{1000, 1000, 0}, 1},
		{"moment, half a life", 500, stay{1000, 1000, 1000}, 0.5},
		{"moment, before its life", 0, stay{1000, 1000, 500}, 0},
		{"life as long as the row", 1000, stay{1000, 2000, 1000}, 0.5},
		{"triangle's foot", 500, stay{1000, 2000, 1000}, 0.125},
		{"long life, top of the trapezoid", 0, stay{1000, 2000, 4000}, 0.625},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := presence(c.t, c.start, c.end, c.life); math.Abs(got-c.want) > 1e-12 {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// newWorker makes a worker for one slot of reads.
func newWorker(length int64, spreadAll bool) *worker {
	return &worker{grid: grid{length: length}, spreadAll: spreadAll, open: map[int64][]*sum{}, slots: 1}
}

// TestSpreadGivesAll: the windows get all requests of a row, in whole quanta.
func TestSpreadGivesAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorker(rapid.Int64Range(1, 5000).Draw(t, "length"), rapid.Bool().Draw(t, "all"))
		s := stays().Filter(func(s stay) bool { return s.end-s.start < 1e6 }).Draw(t, "stay")
		n := rapid.Uint64Range(1, 1<<33).Draw(t, "n")
		b := hist.Bin{Index: uint32(hist.Layout{}.Index(int64(s.life * 1e6))), Count: n}
		w.add(0, &Row{Start: int64(s.start), End: int64(s.end), Bins: []hist.Bin{b}, Total: n})
		sum, completed := 0.0, 0.0
		for _, slots := range w.open {
			share := slots[0].latencies.Total()
			if quanta := share * (1 << 20); quanta != math.Trunc(quanta) {
				t.Errorf("a window gets %v quanta", quanta)
			}
			sum, completed = sum+share, completed+slots[0].completed
		}
		if sum != float64(n) || completed != float64(n) {
			t.Errorf("%v given and %v completed of %v", sum, completed, n)
		}
	})
}

// TestSpreadByShares compares what windows get with their shares. A bin's middle is within
// 1/128 of the life.
func TestSpreadByShares(t *testing.T) {
	for _, c := range []struct {
		name string
		n    uint64
		stay
		want map[int64]float64
	}{
		{"one window", 7, stay{1000, 2000, 0}, map[int64]float64{1: 7}},
		{"cut in the middle", 10, stay{500, 1500, 0}, map[int64]float64{0: 5, 1: 5}},
		{"cut twice", 10, stay{500, 3000, 0}, map[int64]float64{0: 2, 1: 4, 2: 4}},
		{"a stall of three windows", 4, stay{4000, 4000, 3000}, map[int64]float64{1: 4.0 / 3, 2: 4.0 / 3, 3: 4.0 / 3}},
		{"trapezoid", 8, stay{3000, 4000, 2000}, map[int64]float64{1: 2, 2: 4, 3: 2}},
		{"begun before the run", 6, stay{2000, 2000, 3000}, map[int64]float64{0: 4, 1: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(1000, false)
			b := hist.Bin{Index: uint32(hist.Layout{}.Index(int64(c.life * 1e6))), Count: c.n}
			w.add(0, &Row{Start: int64(c.start), End: int64(c.end), Bins: []hist.Bin{b}, Total: c.n})
			for window := range int64(8) {
				got := 0.0
				if slots := w.open[window]; slots != nil {
					got = slots[0].latencies.Total()
				}
				if math.Abs(got-c.want[window]) > float64(c.n)/100 {
					t.Errorf("window %d gets %v, want %v", window, got, c.want[window])
				}
			}
		})
	}
}
