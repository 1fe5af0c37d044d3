// Package evidence says what each file is and what it shows before its rows are read: a log, a report of fio, a job file, or
// neither. A file is looked at once, when that is needed, and what was seen is kept with it.
package evidence

import (
	"bufio"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
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
	yaml    *yamlFile
	digest  *Digest
	seen    source.State // when printed, yaml and digest were made
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

// renew forgets what was seen of a file that has changed since. f.mu must be held.
func (f *File) renew() {
	if now := f.State(); f.seen != now {
		f.printed, f.yaml, f.digest, f.seen = nil, nil, nil, now
	}
}

// text is the content of a file, which is hashed as it is read.
type text struct {
	*bufio.Reader
	hash   *xxhash.Digest
	size   int64
	digits int // other than 0, up to [mapping.BeginDigits]
}

func newText(in io.Reader) *text {
	t := &text{hash: xxhash.New()}
	t.Reader = bufio.NewReaderSize(io.TeeReader(in, t), peekLen)
	return t
}

// Write implements [io.Writer] for what is read.
func (t *text) Write(p []byte) (int, error) {
	t.size += int64(len(p))
	for _, c := range p {
		if t.digits == mapping.BeginDigits {
			break
		}
		if '1' <= c && c <= '9' {
			t.digits++
		}
	}
	return t.hash.Write(p)
}

// digest returns the digest of what was read.
func (t *text) digest() *Digest {
	return &Digest{t.size, hexadecimal(t.hash.Sum64()), Beginning{Digits: t.digits}}
}
