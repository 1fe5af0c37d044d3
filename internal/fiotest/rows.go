package fiotest

import (
	"fmt"
	"io"
	"iter"
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

// Rows yields the rows that [LogSpec.Write] writes. Row.Bins is reused for
// the next row, so copy it to keep it. MaxBytes is ignored, so without Seconds Rows does not end.
func (s LogSpec) Rows() iter.Seq[Row] {
	s = s.withDefaults()
	return func(yield func(Row) bool) {
		s.MaxBytes = 0
		for g := newRowGen(s, models{}); !g.done(0); {
			if !g.interval(yield) {
				return
			}
		}
	}
}

// rowGen produces the rows of a job, interval by interval.
type rowGen struct {
	spec   LogSpec
	axis   axis
	rng    *rand.Rand
	phases [directions][]*phase
	late   int64 // delay of this job's rows after the full second, in ms
	k      int64 // number of intervals that are over
	now    int64 // time of the interval's first row, in ms
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

// done reports whether the next interval is the one that fio never logs.
func (g *rowGen) done(written int64) bool {
	if g.spec.MaxBytes > 0 && written >= g.spec.MaxBytes {
		return true
	}
	return g.spec.Seconds > 0 && g.k+1 >= int64(g.spec.Seconds)
}

// interval yields the rows of the next interval, or of a stall of several. It returns false if yield did.
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
		// After a stall fio writes one more row for each missed interval, each with the completion after which fio
		// checked the time.
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

// tail yields the requests after the last row, in rows that no log contains.
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

// runtime returns the job's run time in ms. It is valid after tail.
func (g *rowGen) runtime() int64 { return g.k * 1000 }

// tick sets the time of the interval that has just ended. Most rows of a job have the same delay, and some a larger
// one.
func (g *rowGen) tick() {
	g.now = g.k*1000 + g.late + max(0, int64(g.rng.IntN(16))-12)
}

// row returns the n-th row of the interval, without bins.
func (g *rowGen) row(direction int, nth int64) Row {
	return Row{TimeMs: g.spec.EpochMs + g.now + nth*2, Direction: direction, BlockSize: g.spec.BlockSize}
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

// hang adds the requests that waited during the stall to the row.
func (g *rowGen) hang(missed int64) {
	for range g.spec.QueueDepth {
		ns := uint64((float64(missed) - g.rng.Float64()*0.3) * 1e9)
		g.bins = addBin(g.bins, find(g.axis.edges, ns/g.axis.unit()), 1)
	}
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

// flushAt is how many bytes of text are collected for a call of Write.
const flushAt = 256 << 10

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

// rowWriter turns rows into text. After its first error it does nothing.
type rowWriter struct {
	w          io.Writer
	buf        []byte
	columns    int
	coarseness int
	n          int64 // bytes so far, including those in buf
	err        error
}

func newRowWriter(w io.Writer, s LogSpec) *rowWriter {
	return &rowWriter{w: w, columns: s.Columns(), coarseness: s.Coarseness}
}

func (o *rowWriter) row(r Row) {
	before := len(o.buf)
	o.buf = AppendRow(o.buf, r, o.columns, o.coarseness)
	o.n += int64(len(o.buf) - before)
	if len(o.buf) >= flushAt {
		o.flush()
	}
}

func (o *rowWriter) flush() {
	if o.err != nil || len(o.buf) == 0 {
		return
	}
	n, err := o.w.Write(o.buf)
	if err != nil {
		o.n -= int64(len(o.buf) - n)
		o.err = fmt.Errorf("write log: %w", err)
	}
	o.buf = o.buf[:0]
}

// AppendRow appends a row as fio prints it, with newline. Its bins are merged into columns of the given coarseness.
func AppendRow(dst []byte, r Row, columns, coarseness int) []byte {
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
