package fiotest

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// BinCount is a bin that is not empty: its index at coarseness 0 and its number of requests.
type BinCount struct {
	Bin   int
	Count uint64
}

// Row is a line of a log before it becomes text. Bins are ascending and at coarseness 0, for any coarseness of the
// log. Column j of a log of coarseness k is the sum of the bins whose index, shifted right by k, is j.
type Row struct {
	TimeMs    int64
	Direction int
	BlockSize int
	Bins      []BinCount
}

// rowGen produces the rows of a job, interval by interval.
type rowGen struct {
	spec   LogSpec
	axis   axis
	rng    *rand.Rand
	phases [directions][]*phase
	late   int64 // delay of this job's rows after the full second, in ms
	k      int64 // number of intervals that are over
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

// next returns the rows of the next interval, or of a stall of several. The last interval is one that fio never logs: its
// requests are in no row of a log, and it has no stall.
func (g *rowGen) next(isLast bool) []Row {
	g.k++
	missed := int64(0)
	if !isLast {
		missed = g.stall()
	}
	g.k += missed
	// Most rows of a job have the same delay, and some a larger one.
	now := g.k*1000 + g.late + max(0, int64(g.rng.IntN(16))-12)
	var rows []Row
	for i, d := range g.spec.Directions {
		load := g.load(d)
		r := Row{TimeMs: now + int64(i)*2, Direction: d, BlockSize: g.spec.BlockSize}
		r.Bins = load.draw(g.rng, make([]BinCount, 0, 256))
		if missed > 0 { // the requests that waited
			for range g.spec.QueueDepth {
				ns := uint64((float64(missed) - g.rng.Float64()*0.3) * 1e9)
				r.Bins = addBin(r.Bins, find(g.axis.edges, ns/g.axis.unit()), 1)
			}
		}
		rows = append(rows, r)
		// After a stall fio writes one more row for each missed interval, each with the completion after which fio
		// checked the time.
		for range missed {
			r.Bins = []BinCount{{load.common0(), 1}}
			rows = append(rows, r)
		}
	}
	return rows
}

// stall returns how many intervals pass without a completion, usually 0.
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

// load returns the present load. It is a wave of some minutes.
func (g *rowGen) load(direction int) *phase {
	const stay = 15 // intervals in each step
	steps := int64(len(g.phases[direction]))
	at := g.k / stay % max(1, 2*steps-2)
	if at >= steps {
		at = 2*steps - 2 - at
	}
	return g.phases[direction][at]
}

// common0 returns a used bin: the middle one of those with a table.
func (p *phase) common0() int {
	if len(p.common) > 0 {
		return p.common[len(p.common)/2]
	}
	return p.rare[len(p.rare)/2]
}

var (
	// zeros are more empty columns than any row has; parts of it are copied.
	zeros = strings.Repeat("0, ", maxGroups*binsPerGroup)
	// small are the texts of small counts with separators.
	small = smallNumbers(1000)
)

func smallNumbers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i) + ", "
	}
	return out
}

// appendRow appends a row as fio prints it, with newline. Its bins are merged into columns of the given coarseness.
func appendRow(dst []byte, r Row, columns, coarseness int) []byte {
	dst = strconv.AppendInt(dst, r.TimeMs, 10)
	dst = append(dst, ", "...)
	dst = append(dst, small[r.Direction]...)
	dst = strconv.AppendInt(dst, int64(r.BlockSize), 10)
	dst = append(dst, ", "...)
	next := 0
	for i := 0; i < len(r.Bins); {
		column := r.Bins[i].Bin >> coarseness
		var count uint64
		for ; i < len(r.Bins) && r.Bins[i].Bin>>coarseness == column; i++ {
			count += r.Bins[i].Count
		}
		dst = append(dst, zeros[:(column-next)*3]...)
		dst = appendCount(dst, count)
		next = column + 1
	}
	dst = append(dst, zeros[:(columns-next)*3]...)
	dst = dst[:len(dst)-1] // replace ", " by a newline
	dst[len(dst)-1] = '\n'
	return dst
}

func appendCount(dst []byte, n uint64) []byte {
	if n < uint64(len(small)) {
		return append(dst, small[n]...)
	}
	dst = strconv.AppendUint(dst, n, 10)
	return append(dst, ", "...)
}
