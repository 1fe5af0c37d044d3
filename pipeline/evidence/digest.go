package evidence

import (
	"fmt"
	"io"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
)

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

var buffers = sync.Pool{New: func() any { return new([mostBegin]byte) }}

// Digest reads the file, unless its content was hashed before.
func (f *File) Digest() Digest {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renew(); f.digest == nil {
		f.digest = new(f.hash())
	}
	return *f.digest
}

func (f *File) hash() (d Digest) {
	in, err := f.Open()
	if err != nil {
		return d
	}
	defer in.Close()
	buf := buffers.Get().(*[mostBegin]byte)
	defer buffers.Put(buf)
	var n int
	d.Beginning, n = begin(in, buf)
	if size, sum, ok := f.Sum(); ok {
		d.Size, d.Hash = size, hexadecimal(sum)
		return d
	}
	sum := xxhash.New()
	sum.Write(buf[:n])
	rest, _ := io.CopyBuffer(struct{ io.Writer }{sum}, in, buf[:])
	d.Size, d.Hash = int64(n)+rest, hexadecimal(sum.Sum64())
	return d
}

// Beginning reads how the file begins, unless its content was hashed before.
func (f *File) Beginning() Beginning {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renew(); f.digest != nil {
		return f.digest.Beginning
	}
	in, err := f.Open()
	if err != nil {
		return Beginning{}
	}
	defer in.Close()
	buf := buffers.Get().(*[mostBegin]byte)
	defer buffers.Put(buf)
	b, _ := begin(in, buf)
	return b
}

// begin reads until there are enough digits, and returns how many bytes it has read.
func begin(in io.Reader, buf *[mostBegin]byte) (b Beginning, n int) {
	const step = 8 << 10
	for n < len(buf) {
		read, err := io.ReadFull(in, buf[n:min(n+step, len(buf))])
		for i, c := range buf[n : n+read] {
			if '1' <= c && c <= '9' {
				if b.Digits++; b.Digits == mapping.BeginDigits {
					b.Begin = hexadecimal(xxhash.Sum64(buf[:n+i+1]))
					return b, n + read
				}
			}
		}
		if n += read; err != nil {
			break
		}
	}
	return b, n
}

func hexadecimal(sum uint64) string { return fmt.Sprintf("%016x", sum) }
