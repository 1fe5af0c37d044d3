package evidence

import (
	"fmt"
	"io"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/fio2es/fio2es/mapping"
)

// peekLen is how much of a file is read to find out what it is.
const peekLen = 64 << 10

// Digest identifies the content of a file as far as it can be read. Errors are reported when the file is parsed.
type Digest struct {
	Size int64
	Hash string // its XXH64, which is as fast as memory; it does not protect against forgery, and need not
	Beginning
}

// Beginning identifies how a file begins.
type Beginning struct {
	Digits int    // other than 0 that it begins with, up to [mapping.BeginDigits]
	Begin  string // [mapping.SourceFile].Begin of a log
}

// mostBegin is how many bytes count as the beginning of a file.
const mostBegin = 256 << 10

// text is the content of a file, which is hashed as it is read.
type text struct {
	in   io.Reader
	sum  xxhash.Digest
	size int64
	Beginning
}

var buffers = sync.Pool{New: func() any { return new([peekLen]byte) }}

func newText(in io.Reader) *text {
	t := &text{in: in}
	t.sum.Reset()
	return t
}

// Read implements [io.Reader].
func (t *text) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	rest := p[:n]
	if !t.isBegun() {
		for i, c := range rest[:min(int64(n), mostBegin-t.size)] {
			if '1' <= c && c <= '9' {
				if t.Digits++; t.Digits == mapping.BeginDigits {
					t.sum.Write(rest[:i+1])
					t.Begin, rest = hexadecimal(t.sum.Sum64()), rest[i+1:]
					break
				}
			}
		}
	}
	t.sum.Write(rest)
	t.size += int64(n)
	return n, err
}

// isBegun reports whether the beginning was read.
func (t *text) isBegun() bool { return t.Begin != "" || t.size >= mostBegin }

// readBeginning reads until the beginning was read, or all.
func (t *text) readBeginning() {
	const step = 8 << 10
	buf := buffers.Get().(*[peekLen]byte)
	defer buffers.Put(buf)
	for err := error(nil); err == nil && !t.isBegun(); {
		_, err = t.Read(buf[:step])
	}
}

// readAll reads the rest.
func (t *text) readAll() {
	buf := buffers.Get().(*[peekLen]byte)
	defer buffers.Put(buf)
	for err := error(nil); err == nil; {
		_, err = t.Read(buf[:])
	}
}

// digest returns the digest of what was read.
func (t *text) digest() *Digest {
	return &Digest{t.size, hexadecimal(t.sum.Sum64()), t.Beginning}
}

func hexadecimal(sum uint64) string { return fmt.Sprintf("%016x", sum) }
