package source

import (
	"context"
	"fmt"
	"io"
)

// guard reads what a decoder gives and stops when it gives too much.
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

// count is the number of bytes that passed so far.
func (t *tally) count() int64 { return t.n }

// input reads stored bytes for the scan: it ends with the context and reports
// progress.
type input struct {
	ctx    context.Context
	r      io.Reader
	s      *scanner
	isPipe bool // the bytes count as packed ones, see [File.PackedFrom]
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := in.r.Read(p)
	in.s.progress(int64(n))
	if in.isPipe {
		in.s.set.packed += int64(n)
	}
	return n, err
}
