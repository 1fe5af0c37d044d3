package cbt

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// A job of ten bytes of text costs as much time and memory as one of fio, which has 5 KB,
// and ten million of them compress to some hundred kilobytes.
const (
	fullText   = 1 << 10 // bytes: a job, or a report, of more text than that is free
	maxLacking = 64_000  // times fullText may lack in all reports of an archive
)

// ErrBudget is a report that is not read because it, with those read before, has too many
// jobs of next to no text.
var ErrBudget = fmt.Errorf("the reports here have more than %d jobs of less than %d bytes of text, where fio writes 5 KB for each: "+
	"if they are real, read fewer of them at a time", maxLacking, fullText)

// Budget bounds the work that the reports of all runs of an archive make. Each file is
// charged once, as far as it is read, and refused as a whole: its first reports alone would
// look like a shorter run. Files as fio writes them are read although the budget is used up,
// until twice as much is: then no further file is opened. It is safe for concurrent use,
// and a nil one bounds each file by itself.
type Budget struct {
	mu      sync.Mutex
	jobs    int64 // read so far
	spent   int64 // bytes of text that lack
	charged map[*source.File]int64
	refused map[*source.File]bool
}

// Reports reads the reports of a file from in, as [fiolog.ReadReports] does. An error that
// is [ErrBudget] is the last.
func (b *Budget) Reports(in io.Reader, f *source.File) iter.Seq2[*fiolog.Report, error] {
	if b == nil {
		b = new(Budget)
	}
	return func(yield func(*fiolog.Report, error) bool) {
		refuse := fmt.Errorf("%s: not read: %w", f.Name(), ErrBudget)
		if b.isRefused(f) {
			yield(nil, refuse)
			return
		}
		lacking := int64(0)
		for r, err := range fiolog.ReadReports(in, f.Name()) {
			var bad *fiolog.SyntaxError
			jobs := 0
			switch {
			case err == nil:
				jobs = len(r.Jobs)
				lacking += max(int64(jobs+1)*fullText-int64(r.Bytes), 0)
			case errors.As(err, &bad):
				lacking += fullText
			}
			if !b.charge(f, lacking, jobs) {
				yield(nil, refuse)
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (b *Budget) isRefused(f *source.File) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, known := b.charged[f]
	return b.refused[f] || b.spent > 2*maxLacking*fullText && !known
}

// charge takes what a file lacks in all so far; false if that is too much.
func (b *Budget) charge(f *source.File, lacking int64, jobs int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs += int64(jobs)
	if b.charged == nil {
		b.charged, b.refused = map[*source.File]int64{}, map[*source.File]bool{}
	}
	more := max(lacking-b.charged[f], 0)
	b.spent += more
	b.charged[f] += more
	b.refused[f] = b.refused[f] || more > 0 && b.spent > maxLacking*fullText
	return !b.refused[f]
}

// Jobs is how many jobs have been read, each as often as it was.
func (b *Budget) Jobs() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.jobs
}
