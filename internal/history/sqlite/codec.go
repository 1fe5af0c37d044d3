package sqlite

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// maxDocument limits a document in bytes: none is written that is larger, and what a history of unknown origin unpacks to must
// not take all memory.
const maxDocument = mapping.MaxRunBytes

// codec packs documents with checksums, because SQLite does not find all damage. Run documents are JSON, compressed
// with zstd. Interval documents are in mapping's compact form, compressed with S2. S2 takes a fifth of zstd's time
// to compress and a tenth to decompress. It makes a history of one-second windows 5 to 15 % larger, and one of
// windows of ten seconds or more no larger.
type codec struct {
	packer   *zstd.Encoder
	unpacker *zstd.Decoder
	buffers  sync.Pool // contains *[]byte
}

func newCodec() (*codec, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxDocument))
	if err != nil {
		return nil, fmt.Errorf("prepare decompression: %w", err)
	}
	return &codec{packer: packer, unpacker: unpacker, buffers: sync.Pool{New: func() any { return new([]byte) }}}, nil
}

func (c *codec) close() { c.unpacker.Close() }

// pack compresses what write appends, and adds a checksum.
func (c *codec) pack(write func([]byte) []byte) []byte {
	buf := c.buffers.Get().(*[]byte)
	defer c.buffers.Put(buf)
	*buf = write((*buf)[:0])
	return c.packer.EncodeAll(*buf, nil)
}

// packInterval packs an interval document.
func (c *codec) packInterval(d *mapping.Interval) []byte {
	buf := c.buffers.Get().(*[]byte)
	defer c.buffers.Put(buf)
	*buf = d.AppendCompact((*buf)[:0])
	blob := make([]byte, sumBytes, sumBytes+s2.MaxEncodedLen(len(*buf)))
	packed := s2.Encode(blob[sumBytes:cap(blob)], *buf)
	return seal(blob[:sumBytes+len(packed)])
}

// packAll checks and packs documents on all processors, and keeps their order.
func (c *codec) packAll(docs []*mapping.Interval) ([][]byte, error) {
	const few = 32 // fewest documents for a goroutine
	out := make([][]byte, len(docs))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(docs)/few))
	faults := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := len(docs) * w / workers; i < len(docs)*(w+1)/workers; i++ {
				if faults[w] = docs[i].Check(); faults[w] != nil {
					return
				}
				out[i] = c.packInterval(docs[i])
			}
		})
	}
	wait.Wait()
	for _, err := range faults {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// documentError means that one document cannot be read. It is also a [history.ErrDamaged].
type documentError struct{ error }

func (e documentError) Error() string {
	return "a document is damaged (" + e.error.Error() + "): fio2es check says of which run, and how to restore it"
}

// Unwrap returns ErrDamaged and the cause.
func (e documentError) Unwrap() []error { return []error{history.ErrDamaged, e.error} }

// unpack checks and decompresses a blob, and passes it to read, which must not keep it.
func (c *codec) unpack(blob []byte, read func([]byte) error) error {
	buf := c.buffers.Get().(*[]byte)
	defer c.buffers.Put(buf)
	content, err := c.unpacker.DecodeAll(blob, (*buf)[:0])
	if err != nil {
		return documentError{err}
	}
	*buf = content
	if err := read(content); err != nil {
		return documentError{err}
	}
	return nil
}

func (c *codec) unpackInterval(blob []byte) (*mapping.Interval, error) {
	d := new(mapping.Interval)
	packed, err := unseal(blob)
	buf := c.buffers.Get().(*[]byte)
	defer c.buffers.Put(buf)
	if n, _ := s2.DecodedLen(packed); err == nil && n > maxDocument {
		err = s2.ErrTooLarge
	}
	if err == nil {
		*buf, err = s2.Decode((*buf)[:cap(*buf)], packed)
	}
	if err == nil {
		err = d.UnmarshalCompact(*buf)
	}
	if err != nil {
		return d, documentError{err}
	}
	return d, nil
}

func (c *codec) unpackRun(blob []byte) (run *mapping.Run, err error) {
	err = c.unpack(blob, func(text []byte) (err error) {
		run, err = history.DecodeRun(text)
		return err
	})
	return run, err
}
