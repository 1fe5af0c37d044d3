package evidence

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

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

// mostJoined is how many executions of a file are kept apart. Of later ones there is only the last.
const mostJoined = 1000

// Printed returns all reports of the file. Periodic reports are added up, and only the last of each execution stays in memory.
// To keep what they count would take a gigabyte for 100 jobs and an hour of reports a second: 200 bins of each job and report
// are not zero. If ctx ends, the result is not complete.
func (f *File) Printed(ctx context.Context) *Printed {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renew(); f.printed != nil {
		return f.printed
	}
	return f.read(ctx, true)
}

// see looks at the file: at its beginning, and if it has reports of fio at the first of them. A file of few reports is read whole.
func (f *File) see() {
	if f.look == nil {
		f.read(context.Background(), false)
	}
}

// read reads the file: its beginning, and reports, the first ones or all. What it has read of a whole file is kept if there is memory
// for it.
func (f *File) read(ctx context.Context, all bool) *Printed {
	f.renew()
	p := &Printed{}
	f.look, f.claims = &Look{}, &Claims{Values: map[string]bool{}}
	in, err := f.Open()
	if err != nil {
		p.Errors = []ReadError{{err, true}}
		return p
	}
	defer in.Close()
	const (
		usual   = 1 << 20  // bytes that are read of a file of many reports: all of them have the same jobs
		largest = 64 << 20 // bytes of one, with thousands of jobs
	)
	from := io.Reader(in)
	if !all {
		from = io.LimitReader(in, largest)
	}
	text := newText(from)
	head, err := text.Peek(peekLen) // reading meets an error again
	f.look = lookAt(f.Path, head, f.Named)
	f.look.IsEmpty = len(head) == 0 && err == io.EOF
	if f.claims.IsReport = f.look.Content == fiolog.Output; !f.claims.IsReport && !all {
		return p
	}
	size, counted := 0, &claimCounter{Claims: f.claims}
	var before *fiolog.Report
	for r, err := range readReports(text, f) {
		switch {
		case ctx.Err() != nil:
			return p
		case errors.Is(err, source.ErrTooMuch):
			p.Executions, p.Errors = nil, append(p.Errors, ReadError{err, false})
			return p
		case err != nil:
			p.Errors = append(p.Errors, ReadError{err, len(p.Executions) == 0})
			continue
		}
		if !f.claims.IsCut {
			counted.add(r)
			size += r.Bytes
			f.claims.IsCut = size > usual
		}
		if f.claims.IsCut && !all {
			return p
		}
		if len(r.Jobs) > 0 && !isRepeated(r, before) {
			p.Executions = Join(p.Executions, r, f.Modified)
			before = r
		}
	}
	if !all && text.size >= largest {
		return p
	}
	io.Copy(io.Discard, text)
	f.digest = text.digest()
	memory := int64(0)
	for _, x := range p.Executions {
		memory += int64(x.Fio.Memory)
	}
	if f.memory.Add(-memory) >= 0 {
		f.printed = p
	} else {
		f.memory.Add(memory)
	}
	return p
}

// isRepeated reports whether a report is there once more, because files were joined: fio writes no two reports at the same moment.
func isRepeated(r, before *fiolog.Report) bool {
	haveSameTotals := func(a, b fiolog.Job) bool {
		return a.Name == b.Name && a.Host == b.Host && a.Runtime == b.Runtime && a.Requests() == b.Requests()
	}
	return before != nil && r.Timestamp > 0 && r.Timestamp == before.Timestamp && slices.EqualFunc(r.Jobs, before.Jobs, haveSameTotals)
}

// Reports iterates over the reports with jobs in a file, of which each is there once, as [Printed] counts them.
func (f *File) Reports(in io.Reader) iter.Seq2[*fiolog.Report, error] {
	return func(yield func(*fiolog.Report, error) bool) {
		var before *fiolog.Report
		for r, err := range readReports(in, f) {
			if err == nil {
				if len(r.Jobs) == 0 || isRepeated(r, before) {
					continue
				}
				before = r
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Join adds a report to the executions before: to the last one, or as the first of another one. An execution that has served no
// requests is not kept. written is when the file was written.
func Join(all []*Execution, r *fiolog.Report, written source.Modified) []*Execution {
	if len(all) == 0 {
		all = []*Execution{{}}
	}
	n := len(all)
	last := all[n-1]
	if isAnother, hasRun := last.isAnother(r); isAnother {
		next := &Execution{Skip: last.Skip + len(last.Times), Before: last.Before}
		if hasRun {
			next.Before++
		}
		if hasRun && n < mostJoined {
			all = append(all, next)
		} else {
			all[n-1] = next
		}
		last = next
	}
	last.take(r, written)
	return all
}
