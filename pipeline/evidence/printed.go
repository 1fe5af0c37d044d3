package evidence

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Printed is what fio printed into a file: the executions whose reports it has, in their order there, and what could not be read.
// It must not be changed.
type Printed struct {
	Executions []*Execution
	Errors     []ReadError
}

// ReadError is what is wrong with a part of a file of reports.
type ReadError struct {
	Err     error
	IsFirst bool // no report was read before
}

// seen is what one reading of a file has shown.
type seen struct {
	look    Look
	claims  Claims
	printed Printed
	digest  *Digest // nil if the file was not read whole
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, peekLen) }}

// look reads a file: its beginning, and if it has reports of fio, or if all are needed, these: the first ones or all.
func look(ctx context.Context, file io.Reader, f *source.File, all bool) (s seen) {
	const (
		usual   = 1 << 20  // bytes that are read of a file of many reports: all of them have the same jobs
		largest = 64 << 20 // bytes of one, with thousands of jobs
	)
	if !all {
		file = io.LimitReader(file, largest)
	}
	text := newText(file)
	in := readers.Get().(*bufio.Reader)
	in.Reset(text)
	defer func() {
		in.Reset(nil)
		readers.Put(in)
	}()
	head, err := in.Peek(peekLen) // reading meets an error again
	s.look = lookAt(f.Path, head, f.Named)
	s.look.isEmpty = len(head) == 0 && err == io.EOF
	s.claims = Claims{IsReport: s.look.Content == fiolog.Output, Values: map[string]bool{}}
	if !s.claims.IsReport && !all {
		return s
	}
	p, counted, size, grid := &s.printed, &claimCounter{Claims: &s.claims}, 0, Grid(f.Path)
	var before *fiolog.Report
	for r, err := range readReports(in, f) {
		switch {
		case ctx.Err() != nil:
			return s
		case errors.Is(err, source.ErrTooMuch):
			s.printed = Printed{Errors: append(p.Errors, ReadError{err, false})}
			return s
		case err != nil:
			p.Errors = append(p.Errors, ReadError{err, len(p.Executions) == 0})
			continue
		}
		if !s.claims.IsCut {
			counted.add(r)
			size += r.Bytes
			s.claims.IsCut = size > usual
		}
		if s.claims.IsCut && !all {
			return s
		}
		if len(r.Jobs) > 0 && !isRepeated(r, before) {
			p.Executions = Join(p.Executions, r, f.Modified, grid)
			before = r
		}
	}
	if all || text.size < largest {
		text.readAll()
		s.digest = text.digest()
	}
	return s
}
