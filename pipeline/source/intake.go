package source

import (
	"context"
	"io"
)

// intake counts the stored bytes that a scan reads forwards.
type intake struct {
	ctx      context.Context
	budget   *Budget
	progress func(Progress)
	done     Progress
	reported int64 // done.Bytes when it was last reported
}

// input reads stored bytes: it ends with the context and reports progress.
func (in *intake) input(r io.Reader) io.Reader { return &input{intake: in, r: r} }

// pipe reads an input without end.
func (in *intake) pipe(r io.Reader) io.Reader { return &input{intake: in, r: r, isPipe: true} }

func (in *intake) file() {
	in.done.Files++
	in.report()
}

func (in *intake) report() {
	in.reported = in.done.Bytes
	in.progress(in.done)
}

// input is a reader of stored bytes.
type input struct {
	*intake
	r      io.Reader
	isPipe bool
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := in.r.Read(p)
	if in.isPipe {
		in.budget.packed.Add(int64(n))
	}
	const step = 8 << 20
	if in.done.Bytes += int64(n); in.done.Bytes-in.reported >= step {
		in.report()
	}
	return n, err
}
