package cbt

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// A job of ten bytes of text costs as much time and memory as one of fio, which has 5 KB,
// and ten million of them compress to some hundred kilobytes.
const (
	fullText   = 1 << 10 // bytes: a job, or a report, of more text than that is free
	maxLacking = 64_000  // times fullText may lack in all reports of an archive
)

// Ten megabytes can unpack to 20 GB of one report again and again. The periodic reports of a
// real fio become 13 times smaller with gzip and up to 40 times with zstd.
const (
	freeText = 64 << 20 // bytes of text that packed reports of any size may have
	maxRatio = 50       // bytes of text beyond that per packed byte
)

// ErrBudget means that a report is not read, because it would be too much work together with the reports before it. The
// errors that wrap it say why, and what to do.
var ErrBudget = errors.New("too much work for reports")

// overBudget is a reason to refuse a report. It is [ErrBudget].
type overBudget string

func (o overBudget) Error() string        { return string(o) }
func (o overBudget) Is(target error) bool { return target == ErrBudget }

var errTinyJobs = overBudget(fmt.Sprintf("the reports here have more than %d jobs of less than %d bytes of text, where fio writes 5 KB for each: "+
	"if they are real, read fewer of them at a time", maxLacking, fullText))

func errText(most int64) error {
	return overBudget(fmt.Sprintf("the packed reports here have more than %d MB of text, which is the limit for their packed size: "+
		"if they are real, unpack them first and pass the folder", most>>20))
}

// Budget bounds the work that the reports of all runs of an archive make: the jobs of very
// little text, and the text of packed reports. Each file is charged once, with the part that is
// read. A file beyond the budget is refused with all its reports, because the first of them
// alone would look like a shorter run. Files that fio may have written are read after the
// budget of jobs is used up, until it is used up twice: then no further file is opened. It is
// safe for concurrent use. A nil budget limits each file separately.
type Budget struct {
	freeText int64 // replaces the constant if it is not 0

	jobs atomic.Int64 // read so far

	mu    sync.Mutex
	spent int64 // bytes that jobs had less than fullText, in all
	text  int64 // bytes of text of packed files
	files map[*source.File]*cost
	kept  map[*source.File]*fiolog.Report // that will be read once more
	room  int                             // bytes of memory for more of them
}

// cost is the amount that was charged for a file, and the reason if the file is refused.
type cost struct {
	lacking, text int64
	refused       error
}

// Reports reads the reports of a file from in, as [fiolog.ReadReports] does. An error that
// is [ErrBudget] is the last. The caller may change the reports.
func (b *Budget) Reports(in io.Reader, f *source.File) iter.Seq2[*fiolog.Report, error] {
	return b.reports(in, f, false)
}

// reports is Reports. With keep, the report of a file that has only one is kept for the next
// call, and the caller must not change it.
func (b *Budget) reports(in io.Reader, f *source.File, keep bool) iter.Seq2[*fiolog.Report, error] {
	if b == nil {
		b = new(Budget)
	}
	return func(yield func(*fiolog.Report, error) bool) {
		if r := b.takeKept(f); r != nil {
			yield(r, nil)
			return
		}
		refuse := func(why error) { yield(nil, fmt.Errorf("%s: not read: %w", f.Name(), why)) }
		if why := b.charge(f, 0, 0); why != nil {
			refuse(why)
			return
		}
		lacking := int64(0)
		text := &textReader{r: in, of: b, file: f}
		var last *fiolog.Report
		n := 0
		for r, err := range fiolog.ReadReports(text, f.Name()) {
			last, n = r, n+1
			var bad *fiolog.SyntaxError
			switch {
			case err == nil:
				b.jobs.Add(int64(len(r.Jobs)))
				lacking += max(int64(len(r.Jobs)+1)*fullText-int64(r.Bytes), 0)
			case errors.As(err, &bad):
				lacking += fullText
			}
			if why := b.charge(f, lacking, 0); why != nil {
				refuse(why)
				return
			}
			if !yield(r, err) {
				return
			}
		}
		if keep && n == 1 && last != nil && text.n <= usualReports {
			b.keep(f, last)
		}
	}
}

// maxKept is how many bytes kept reports may take in memory: those of some hundred runs.
const maxKept = 32 << 20

// keep keeps the only report of a file, if there is room.
func (b *Budget) keep(f *source.File, r *fiolog.Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil {
		b.kept, b.room = map[*source.File]*fiolog.Report{}, maxKept
	}
	if size := r.Memory(); size <= b.room {
		b.kept[f] = r
		b.room -= size
	}
}

// takeKept returns the kept report of a file, if there is one, and forgets it.
func (b *Budget) takeKept(f *source.File) *fiolog.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.kept[f]
	if r != nil {
		delete(b.kept, f)
		b.room += r.Memory()
	}
	return r
}

// charge takes what a file lacks in all so far and how much of its text was read. It returns why the file is refused,
// or nil. The size of a packed file may be known to exceed the limit.
func (b *Budget) charge(f *source.File, lacking, text int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, most := b.files[f], b.mostText(f)
	if c == nil {
		if b.spent > 2*maxLacking*fullText {
			return errTinyJobs
		}
		if b.files == nil {
			b.files = map[*source.File]*cost{}
		}
		c = &cost{}
		b.files[f] = c
	}
	moreLacking, moreText := max(lacking-c.lacking, 0), max(text-c.text, 0)
	if most == 0 {
		moreText = 0
	}
	b.spent, c.lacking = b.spent+moreLacking, c.lacking+moreLacking
	b.text, c.text = b.text+moreText, c.text+moreText
	switch {
	case c.refused != nil:
	case moreLacking > 0 && b.spent > maxLacking*fullText:
		c.refused = errTinyJobs
	case moreText > 0 && b.text > most, text == 0 && most > 0 && b.text-c.text+f.Size > most:
		c.refused = errText(most)
	}
	return c.refused
}

// mostText is how many bytes of text all packed reports may have; 0 if the file is not
// packed, so that its size on disk bounds the work.
func (b *Budget) mostText(f *source.File) int64 {
	packed := f.PackedFrom()
	if packed == 0 {
		return 0
	}
	if b.freeText > 0 {
		return b.freeText + maxRatio*packed
	}
	return freeText + maxRatio*packed
}

// Jobs returns how many jobs were read. A job that was read twice counts twice.
func (b *Budget) Jobs() int64 { return b.jobs.Load() }

// Text returns how many bytes of packed reports were read. Each report counts once.
func (b *Budget) Text() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text
}

// textReader charges the text of a file as it is read.
type textReader struct {
	r    io.Reader
	of   *Budget
	file *source.File
	n    int64
}

// Read implements io.Reader. It fails with the reason once the file is refused.
func (t *textReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	if why := t.of.charge(t.file, 0, t.n); why != nil {
		return 0, why
	}
	return n, err
}
