package pack

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/s2"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// sumBytes is the length of an XXH64 of what follows, because SQLite does not find all damage: the document, compressed with S2, which
// takes a fifth of zstd's time to compress and a tenth to decompress.
const sumBytes = 8

// buffers has *[]byte for documents that are not compressed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Document packs what write appends.
func Document(write func([]byte) []byte) []byte {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = write((*buf)[:0])
	blob := make([]byte, sumBytes, sumBytes+s2.MaxEncodedLen(len(*buf)))
	blob = blob[:sumBytes+len(s2.Encode(blob[sumBytes:cap(blob)], *buf))]
	binary.LittleEndian.PutUint64(blob, xxhash.Sum64(blob[sumBytes:]))
	return blob
}

var errSum = errors.New("its checksum differs")

// Read checks and unpacks a blob, and passes the document to read, which must not keep it. Its errors are [history.ErrDamaged].
func Read(blob []byte, read func([]byte) error) (err error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	if len(blob) < sumBytes || binary.LittleEndian.Uint64(blob) != xxhash.Sum64(blob[sumBytes:]) {
		return documentError{errSum}
	}
	// a damaged length must not allocate all memory
	if n, _ := s2.DecodedLen(blob[sumBytes:]); n > mapping.MaxRunBytes {
		return documentError{s2.ErrTooLarge}
	}
	text, err := s2.Decode((*buf)[:cap(*buf)], blob[sumBytes:])
	if err == nil {
		*buf = text
		err = read(text)
	}
	if err != nil {
		return documentError{err}
	}
	return nil
}

// documentError means that one document cannot be read. It is also a [history.ErrDamaged].
type documentError struct{ error }

func (e documentError) Error() string {
	return "a document is damaged (" + e.error.Error() + "): fio2es check says of which run, and how to restore it"
}

// Unwrap returns ErrDamaged and the cause.
func (e documentError) Unwrap() []error { return []error{history.ErrDamaged, e.error} }
