package source

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

const (
	bufLen = 32 << 10 // read buffer below each decoder
	// maxWindow is the memory that a compressed stream may ask for: what the zstd and
	// xz commands accept by default.
	maxWindow = 128 << 20
	// keepWindow is the window up to which a zstd decoder, which keeps its memory, is
	// used again for the next stream.
	keepWindow = 8 << 20
)

// Decoders and buffers are used again, because making them costs far more than a small file.
var buffers, gzips, flates, zstds, xzs sync.Pool

// decoder is one stream being decoded. Close gives its parts back to their pools.
type decoder struct {
	io.Reader
	taken   tally // stored bytes that were read
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

// errReader gives nothing but its error.
type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// decode starts to decode the stream r of kind k. An error of its first header wraps
// ErrDamaged or ErrFormat.
func decode(k kind, r io.Reader) (*decoder, error) {
	d := &decoder{taken: tally{r: r}}
	buf := takeBuffer(&d.taken)
	out, release, err := decodeFrom(k, buf)
	if err != nil {
		giveBuffer(buf)
		return nil, damage(err)
	}
	d.Reader, d.release = out, func() {
		release()
		giveBuffer(buf)
	}
	return d, nil
}

// decodeFrom is decode for a buffer, from which no byte beyond the stream is taken. release
// ends the use of the reader.
func decodeFrom(k kind, buf *bufio.Reader) (r io.Reader, release func(), err error) {
	switch k {
	case gzipped:
		z, ok := gzips.Get().(*gzip.Reader)
		if !ok {
			z = new(gzip.Reader)
		}
		if err := z.Reset(buf); err != nil {
			return nil, nil, unexpected(err)
		}
		return z, func() { gzips.Put(z) }, nil
	case deflated:
		z, ok := flates.Get().(io.ReadCloser)
		if !ok {
			z = flate.NewReader(buf)
		} else if err := z.(flate.Resetter).Reset(buf, nil); err != nil {
			return nil, nil, err
		}
		return z, func() { flates.Put(z) }, nil
	case zstded:
		return decodeZstd(buf)
	case xzed:
		return decodeXz(buf)
	case bzipped:
		return bzip2.NewReader(buf), func() {}, nil
	}
	return nil, nil, ErrFormat
}

func decodeZstd(buf *bufio.Reader) (io.Reader, func(), error) {
	z, ok := zstds.Get().(*zstd.Decoder)
	if !ok {
		var err error
		// With a concurrency of one it has no goroutines, so it need not be closed.
		z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
	}
	var header zstd.Header
	head, _ := buf.Peek(zstd.HeaderMaxSize) // an error comes again from z
	isSmall := header.Decode(head) == nil && header.WindowSize <= keepWindow
	makeRoom(int64(min(header.WindowSize, maxWindow)))
	if err := z.Reset(buf); err != nil {
		return nil, nil, err
	}
	return z, func() {
		if z.Reset(nil) == nil && isSmall {
			zstds.Put(z)
		}
	}, nil
}

// xzReader reads a stream of xz. Its dictionary is kept for the next stream, because xz -9 asks for 64 MiB
// for a content of any length.
type xzReader struct{ *xz.Reader }

func decodeXz(buf *bufio.Reader) (io.Reader, func(), error) {
	z, ok := xzs.Get().(xzReader)
	var err error
	if ok {
		err = z.Reset(buf)
	} else {
		z.Reader, err = xz.NewReader(buf, maxWindow)
	}
	if err != nil {
		return nil, nil, xzError(err)
	}
	return z, func() { xzs.Put(z) }, nil
}

// Read implements io.Reader.
func (z xzReader) Read(p []byte) (int, error) {
	n, err := z.Reader.Read(p)
	return n, xzError(err)
}

// xzError says what an error of xz means.
func xzError(err error) error {
	switch err {
	case xz.ErrBuf:
		return fmt.Errorf("%w: %w", err, io.ErrUnexpectedEOF)
	case xz.ErrMemlimit:
		return fmt.Errorf("%w: xz dictionary of more than %d bytes", ErrFormat, maxWindow)
	case xz.ErrOptions, xz.ErrUnsupportedCheck:
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return err
}

// makeRoom collects garbage before a dictionary or window of so many bytes is made, if it is
// large: else those of several streams, no longer used, are in memory together.
func makeRoom(size int64) {
	const large = 32 << 20
	if size >= large {
		runtime.GC()
	}
}

// unexpected names the end of data inside a header as such.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// takeBuffer is a buffer of bufLen before r.
func takeBuffer(r io.Reader) *bufio.Reader {
	buf, ok := buffers.Get().(*bufio.Reader)
	if !ok { // not on r, which bufio would return if it is a buffer itself
		buf = bufio.NewReaderSize(nil, bufLen)
	}
	buf.Reset(r)
	return buf
}

func giveBuffer(buf *bufio.Reader) {
	buf.Reset(nil)
	buffers.Put(buf)
}
