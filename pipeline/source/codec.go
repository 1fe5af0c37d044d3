package source

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

const (
	bufLen = 32 << 10 // read buffer below each decoder
	// maxWindow is the memory that a compressed stream may ask for: what the zstd and
	// xz commands accept by default.
	maxWindow = 128 << 20
)

// Decoders and buffers are used again, because making them costs far more than a small file.
var (
	buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, bufLen) }}
	gzips   = sync.Pool{New: func() any { return new(gzip.Reader) }}
	zstds   = sync.Pool{New: func() any { return newZstd() }}
	// Dictionaries and windows are kept, because some streams ask for 64 or 128 MiB for a content of any length.
	xzs = sync.Pool{New: func() any { z, _ := xz.NewReader(nil, maxWindow); return z }} // fails only with a stream
)

// newZstd makes a decoder. With a concurrency of one it has no goroutines, so it need not be closed.
func newZstd() *zstd.Decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		panic(err) // the options are wrong
	}
	return z
}

// decoder is one stream being decoded. Close gives its parts back to their pools.
type decoder struct {
	io.Reader
	release func()
}

// Close implements io.Closer. Reading after it fails. A second Close does nothing.
func (d *decoder) Close() error {
	if d.release != nil {
		d.release()
		d.release = nil
		d.Reader = errReader{errors.New("read after close")}
	}
	return nil
}

// errReader returns its error from each Read.
type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// decode starts to decode the stream r of kind k. An error of its first header wraps
// ErrDamaged or ErrFormat.
func decode(k kind, r io.Reader) (*decoder, error) {
	buf := takeBuffer(r)
	out, release, err := decodeFrom(k, buf)
	if err != nil {
		giveBuffer(buf)
		return nil, damage(err)
	}
	return &decoder{out, func() {
		release()
		giveBuffer(buf)
	}}, nil
}

// decodeFrom is decode for a buffer. It reads no byte beyond the end of the stream from it. release ends the use of the
// reader.
func decodeFrom(k kind, buf *bufio.Reader) (r io.Reader, release func(), err error) {
	switch k {
	case gzipped:
		z := gzips.Get().(*gzip.Reader)
		return z, func() { gzips.Put(z) }, unexpected(z.Reset(buf))
	case xzed:
		z := xzs.Get().(*xz.Reader)
		return z, func() { xzs.Put(z) }, z.Reset(buf)
	case zstded:
		z := zstds.Get().(*zstd.Decoder)
		return z, func() {
			if z.Reset(nil) == nil {
				zstds.Put(z)
			}
		}, z.Reset(buf)
	case bzipped:
		return bzip2.NewReader(buf), func() {}, nil
	}
	return nil, nil, ErrFormat
}

// unexpected names the end of data inside a header as such.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// takeBuffer returns a buffered reader of r, with bufLen bytes.
func takeBuffer(r io.Reader) *bufio.Reader {
	buf := buffers.Get().(*bufio.Reader)
	buf.Reset(r)
	return buf
}

func giveBuffer(buf *bufio.Reader) {
	buf.Reset(nil)
	buffers.Put(buf)
}
