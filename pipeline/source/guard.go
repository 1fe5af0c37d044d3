package source

import (
	"context"
	"fmt"
	"io"
)

// guard reads from a decoder, and fails when the decoder returns too much.
type guard struct {
	r      io.Reader
	limits *Limits
	total  *int64       // unpacked bytes so far, of the whole scan or of this reader
	packed func() int64 // stored bytes taken so far; nil when there is no ratio to watch
	out    int64
	err    error
}

// Read returns ErrTooLarge or ErrRatio once a limit is passed, and again with each further
// call. Other errors of the decoder wrap ErrDamaged.
func (g *guard) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.r.Read(p)
	g.out += int64(n)
	*g.total += int64(n)
	switch {
	case *g.total > g.limits.Bytes:
		g.err = fmt.Errorf("%w: more than %d", ErrTooLarge, g.limits.Bytes)
	case g.packed != nil && g.out > g.limits.RatioAfter && g.out/g.limits.Ratio > g.packed():
		g.err = fmt.Errorf("%w: %d bytes out of %d: unpack it first", ErrRatio, g.out, g.packed())
	case err != nil && err != io.EOF:
		g.err = damage(err)
	default:
		return n, err
	}
	return n, g.err
}

// tally counts what passes and remembers how many zero bytes came last: the end mark of a
// tar is zeros.
type tally struct {
	r        io.Reader
	n, zeros int64
}

func (t *tally) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	i := n
	for i > 0 && p[i-1] == 0 {
		i--
	}
	if i > 0 {
		t.zeros = 0
	}
	t.zeros += int64(n - i)
	return n, err
}

func (t *tally) count() int64 { return t.n }

// meter counts what a scan reads.
type meter struct {
	ctx      context.Context
	limits   *Limits
	progress func(Progress)
	done     Progress
	reported int64 // done.Bytes when it was last reported
	unpacked int64 // bytes
	packed   int64 // see [File.PackedFrom]
}

// guard counts unpacked bytes against the limits of the scan.
func (m *meter) guard(r io.Reader, packed func() int64) io.Reader {
	return &guard{r: r, limits: m.limits, total: &m.unpacked, packed: packed}
}

// input reads stored bytes: it ends with the context and reports progress.
func (m *meter) input(r io.Reader) io.Reader { return &input{m: m, r: r} }

// pipe reads an input without end: its bytes count as packed and as unpacked ones.
func (m *meter) pipe(r io.Reader) io.Reader { return m.guard(&input{m: m, r: r, isPipe: true}, nil) }

func (m *meter) file() {
	m.done.Files++
	m.report()
}

func (m *meter) report() {
	m.reported = m.done.Bytes
	m.progress(m.done)
}

// input is a reader of stored bytes.
type input struct {
	m      *meter
	r      io.Reader
	isPipe bool
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := in.r.Read(p)
	if in.isPipe {
		in.m.packed += int64(n)
	}
	const step = 8 << 20
	if in.m.done.Bytes += int64(n); in.m.done.Bytes-in.m.reported >= step {
		in.m.report()
	}
	return n, err
}
