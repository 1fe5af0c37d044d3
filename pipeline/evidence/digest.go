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
