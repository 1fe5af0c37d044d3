package sqlite

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// maxDocument is far above the size of any document: a damaged length must not allocate all memory.
const maxDocument = 256 << 20

// codec packs documents: runs as JSON, intervals in mapping's compact form. Both are then
// compressed with zstd, whose checksum finds damage that SQLite does not check for.
type codec struct {
	packer   *zstd.Encoder
	unpacker *zstd.Decoder
	buffers  sync.Pool // *[]byte
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

// pack compresses what write appends.
func (c *codec) pack(write func([]byte) []byte) []byte {
	buf := c.buffers.Get().(*[]byte)
	defer c.buffers.Put(buf)
	*buf = write((*buf)[:0])
	return c.packer.EncodeAll(*buf, nil)
}

// packAll checks and packs documents on all processors, in order.
func (c *codec) packAll(docs []*mapping.Interval) ([][]byte, error) {
	const few = 32 // documents that a goroutine has at least
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
				out[i] = c.pack(docs[i].AppendCompact)
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

// unpack decompresses a blob and passes it to read, which must not keep it.
func (c *codec) unpack(blob []byte, read func([]byte) error) error {
	buf := c.buffers.Get().(*[]byte)
	defer c.buffers.Put(buf)
	content, err := c.unpacker.DecodeAll(blob, (*buf)[:0])
	if err != nil {
		return fmt.Errorf("unpack document: %w: %w", history.ErrDamaged, err)
	}
	*buf = content
	if err := read(content); err != nil {
		return fmt.Errorf("unpack document: %w: %w", history.ErrDamaged, err)
	}
	return nil
}

func (c *codec) unpackInterval(blob []byte) (*mapping.Interval, error) {
	d := new(mapping.Interval)
	return d, c.unpack(blob, d.UnmarshalCompact)
}

func (c *codec) unpackRun(blob []byte) (run *mapping.Run, err error) {
	err = c.unpack(blob, func(text []byte) (err error) {
		run, err = history.DecodeRun(text)
		return err
	})
	return run, err
}
