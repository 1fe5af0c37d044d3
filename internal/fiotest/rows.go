package fiotest

import (
	"iter"
	"math/rand/v2"
)

// BinCount is one bin that is not empty: its index at coarseness 0 and the
// number of requests in it.
type BinCount struct {
	Bin   int
	Count uint64
}

// Row is one line of a log before it is text. Bins are ascending and at
// coarseness 0, also if the log's coarseness is another: column j of a log of coarseness k
// is the sum of the bins whose index, shifted right by k, is j.
type Row struct {
	TimeMs    int64
	Direction int
	BlockSize int
	Bins      []BinCount
}

// Rows yields the rows that [LogSpec.Write] writes; a spec that Write would
// refuse yields none. Row.Bins is reused for the next row: copy it to keep it.
// MaxBytes is ignored, since no bytes are made: without Seconds it never ends.
func (s LogSpec) Rows() iter.Seq[Row] {
	s = s.withDefaults()
	return func(yield func(Row) bool) {
		if s.validate() != nil {
			return
		}
		s.MaxBytes = 0
		for g := newRowGen(s, models{}); !g.done(0); {
			if !g.interval(yield) {
				return
			}
		}
	}
}

// rowGen walks a job's run time, interval by interval.
type rowGen struct {
	spec   LogSpec
	axis   axis
	rng    *rand.Rand
	phases [directions][]*phase
	late   int64 // how far behind the full second this job's rows come
	k      int64 // intervals that are over
	now    int64 // time of the interval's first row
	bins   []BinCount
}

// directionScale makes writes slower than reads, and trims faster.
var directionScale = [directions]float64{1, 1.4, 0.6}

func newRowGen(s LogSpec, m models) *rowGen {
	g := &rowGen{spec: s, axis: s.axis(), rng: rand.New(rand.NewPCG(s.Seed, 0x66696f32))}
	for _, d := range s.Directions {
		g.phases[d] = m.get(modelKey{fio2: s.Fio2, groups: s.Groups, steady: s.Steady, iops: s.IOPS, scale: s.Scale * directionScale[d]})
	}
	g.late = 1 + int64(g.rng.IntN(40))
	return g
}

// done reports whether the next interval would be the one that fio never logs.
func (g *rowGen) done(written int64) bool {
	if g.spec.MaxBytes > 0 && written >= g.spec.MaxBytes {
		return true
	}
	return g.spec.Seconds > 0 && g.k+1 >= int64(g.spec.Seconds)
}

// interval yields the rows of the next interval, or of a stall of several, and
// returns false when yield did.
func (g *rowGen) interval(yield func(Row) bool) bool {
	g.k++
	missed := g.stall()
	g.k += missed
	g.tick()
	for i, d := range g.spec.Directions {
		r := g.row(d, int64(i))
		g.bins = g.load(d).draw(g.rng, g.bins[:0])
		if missed > 0 {
			g.hang(missed)
		}
		r.Bins = g.bins
		if !yield(r) {
			return false
		}
		// After a stall fio writes one more row for each interval that it
		// missed, each with the one completion that made it look at the clock.
		for range missed {
			g.bins = addBin(g.bins[:0], g.load(d).common0(), 1)
			r.Bins = g.bins
			if !yield(r) {
				return false
			}
		}
	}
	return true
}

// tail yields what completes after the last row, in rows that no log contains.
func (g *rowGen) tail(yield func(Row) bool) {
	g.k++
	g.tick()
	for i, d := range g.spec.Directions {
		r := g.row(d, int64(i))
		g.bins = g.load(d).draw(g.rng, g.bins[:0])
		r.Bins = g.bins
		if !yield(r) {
			return
		}
	}
}

// runtime is the job's run time in ms; valid after the tail.
func (g *rowGen) runtime() int64 { return g.k * 1000 }

// tick sets the time of the interval that has just ended: most rows of a job
// are equally late, some a little more.
func (g *rowGen) tick() {
	g.now = g.k*1000 + g.late + max(0, int64(g.rng.IntN(16))-12)
}

// row makes the head of the interval's nth row.
func (g *rowGen) row(direction int, nth int64) Row {
	return Row{TimeMs: g.spec.EpochMs + g.now + nth*2, Direction: direction, BlockSize: g.spec.BlockSize}
}

// stall returns how many intervals pass without any completion, mostly none.
func (g *rowGen) stall() int64 {
	if g.spec.StallEvery < 0 || g.rng.IntN(g.spec.StallEvery) != 0 {
		return 0
	}
	missed := 1 + int64(g.rng.IntN(g.spec.LongestStall))
	if g.spec.Seconds > 0 && g.k+missed >= int64(g.spec.Seconds) {
		return 0
	}
	return missed
}

// hang adds the requests that waited through the stall to the row.
func (g *rowGen) hang(missed int64) {
	for range g.spec.QueueDepth {
		ns := uint64((float64(missed) - g.rng.Float64()*0.3) * 1e9)
		g.bins = addBin(g.bins, find(g.axis.edges, ns/g.axis.unit()), 1)
	}
}

// load returns the state of load now: a wave that takes some minutes.
func (g *rowGen) load(direction int) *phase {
	const stay = 15 // intervals on each step
	steps := int64(len(g.phases[direction]))
	at := g.k / stay % max(1, 2*steps-2)
	if at >= steps {
		at = 2*steps - 2 - at
	}
	return g.phases[direction][at]
}

// common0 is a bin that is in use: the middle one of those with a table.
func (p *phase) common0() int {
	if len(p.common) > 0 {
		return p.common[len(p.common)/2]
	}
	return p.rare[len(p.rare)/2]
}
