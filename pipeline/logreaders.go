package pipeline

import (
	"io"
	"sync"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// logReaders hands on the memory of readers of logs, a buffer of so many bytes each: an
// archive of a thousand runs has tens of thousands of logs, most of them smaller than it.
type logReaders struct {
	size int
	free sync.Pool // of *fiolog.Reader
}

// A run has all its logs open at once: if it has many, each has a smaller buffer.
var largeReaders, smallReaders = &logReaders{size: 256 << 10}, &logReaders{size: 128 << 10}

func readersOf(logs int) *logReaders {
	const many = 64
	if logs > many {
		return smallReaders
	}
	return largeReaders
}

func (l *logReaders) open(src io.Reader, name string, hint hist.Hint) *fiolog.Reader {
	r, ok := l.free.Get().(*fiolog.Reader)
	if ok {
		r.Reset(src, name)
	} else {
		r = fiolog.NewReader(src, name, fiolog.BufferSize(l.size))
	}
	r.SetHint(hint)
	return r
}

// done takes back a reader that nobody uses any more, nor any record of it.
func (l *logReaders) done(r *fiolog.Reader) {
	if r != nil {
		r.Reset(nil, "")
		l.free.Put(r)
	}
}
