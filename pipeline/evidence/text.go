package evidence

import (
	"bufio"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/fio2es/fio2es/mapping"
)

// peekLen is how much of a file is read to find out what it is.
const peekLen = 64 << 10

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
