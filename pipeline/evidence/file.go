// Package evidence says what each file is and what it shows before its rows are read: a log, a report of fio, a job file, or
// neither. A file is looked at once, when that is needed, and what was seen is kept with it.
package evidence

import (
	"bufio"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/pipeline/source"
)

// File is a file of a scan, with what was seen in it. It is safe for concurrent use.
type File struct {
	*source.File
	memory *atomic.Int64 // bytes that reports of files of the scan may still take

	mu      sync.Mutex
	look    *Look
	claims  *Claims
	printed *Printed
	digest  *Digest
	seen    source.State // when printed and digest were made
}

// mostKept is how much memory the reports of a scan may take until they are used, in bytes. Others are read again then.
const mostKept = 32 << 20

// Of returns a file that was not looked at yet.
func Of(f *source.File) *File { return All([]*source.File{f})[0] }

// All returns files that were not looked at yet.
func All(files []*source.File) []*File {
	memory := &atomic.Int64{}
	memory.Store(mostKept)
	all := make([]*File, len(files))
	for i, f := range files {
		all[i] = &File{File: f, memory: memory}
	}
	return all
}

// peekLen is how much of a file is read to find out what it is.
const peekLen = 64 << 10

// text is the content of a file, which is hashed as it is read.
type text struct {
	*bufio.Reader
	hash *xxhash.Digest
	size int64
}

func newText(in io.Reader) *text {
	t := &text{hash: xxhash.New()}
	t.Reader = bufio.NewReaderSize(io.TeeReader(in, t), peekLen)
	return t
}

// Write implements [io.Writer] for what is read.
func (t *text) Write(p []byte) (int, error) {
	t.size += int64(len(p))
	return t.hash.Write(p)
}
