package align

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// grids draws grids as Merge makes them: the tolerance is at most half a window.
func grids() *rapid.Generator[grid] {
	return rapid.Custom(func(t *rapid.T) grid {
		length := rapid.Int64Range(1, 100_000).Draw(t, "length")
		return grid{length, rapid.Int64Range(0, length/2).Draw(t, "tolerance")}
	})
}

// TestSnap: what is as near to an edge as the tolerance moves there, and nothing else does.
func TestSnap(t *testing.T) {
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
		edge := rapid.Int64Range(1, 1e6).Draw(t, "edge") * g.length
		for _, at := range []int64{at, edge, edge - g.tolerance, edge + g.tolerance, edge - g.tolerance - 1, edge + g.tolerance + 1} {
			below := at / g.length * g.length
			isNear, snapped := at-below <= g.tolerance || below+g.length-at <= g.tolerance, g.snap(at)
			if moved := max(snapped-at, at-snapped); moved > g.tolerance || (snapped%g.length == 0) != isNear || !isNear && moved > 0 {
				t.Errorf("%d was moved to %d; the tolerance is %d of %d", at, snapped, g.tolerance, g.length)
			}
		}
	})
}

// TestWindow: completions at an edge belong to the window that ends there, and those before the run to the first.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := grids().Draw(t, "grid")
		edge := rapid.Int64Range(-1, 1e8).Draw(t, "edge") * g.length
		at := edge + rapid.OneOf(rapid.Int64Range(0, 1), rapid.Int64Range(0, g.length)).Draw(t, "after")
		if w := g.window(at); at > 0 && (at <= w*g.length || at > (w+1)*g.length) || at <= 0 && w != 0 {
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

// TestSlots: sections take the memory of a host each, however many hosts there are.
func TestSlots(t *testing.T) {
	var streams []*Stream
	for host := range 3 {
		for section := range 2 {
			streams = append(streams, &Stream{Host: fmt.Sprint(host), Job: fmt.Sprint(section), Section: fmt.Sprint(section)})
		}
	}
	for _, tt := range []struct {
		levels []Level
		want   int
	}{
		{nil, 1},
		{[]Level{Host, Cluster}, 3},
		{[]Level{Cluster, Host, Section}, 3 + 2},
		{Levels[:], 6 + 2},
		{[]Level{Section}, 2},
	} {
		m := newMerger(streams, Options{Window: 1000, Levels: tt.levels})
		if got := m.workers[0].slots; got != tt.want*fiolog.WithSync {
			t.Errorf("levels %v: %d slots, want %d for each direction", tt.levels, got, tt.want)
		}
	}
}
