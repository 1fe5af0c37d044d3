package source

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

const (
	bufLen = 32 << 10 // read buffer below each decoder
	// maxWindow is the memory a compressed stream may ask for: what the zstd and
	// xz commands accept unasked.
	maxWindow = 128 << 20
	// keepWindow is the window up to which a zstd decoder, which holds on to its
	// memory, is kept for the next stream.
	keepWindow = 8 << 20
	// idleDecoders is how many zstd decoders are kept for the next stream.
	idleDecoders = 16
)

// codecs lends decoders and buffers and takes them back, as making them costs far
// more than a small file. Safe from many goroutines.
type codecs struct {
	bufs, gzips, flates, spools sync.Pool

	mu    sync.Mutex
	zstds []*zstd.Decoder
	done  bool
}

// decoder is one stream being decoded. Close gives everything back; it must not
// be read after.
type decoder struct {
	io.Reader
	taken   tally // below the buffer: stored bytes taken
	release func()
}

// Close gives the decoder back. A second Close does nothing.
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

// open starts to decode r, which holds a stream of kind k. An error of the first
// header wraps ErrDamaged or ErrFormat.
func (c *codecs) open(k kind, r io.Reader) (*decoder, error) {
	d := &decoder{taken: tally{r: r}}
	buf := c.buffer(&d.taken)
	free, err := c.start(d, k, buf)
	if err != nil {
		c.giveBuffer(buf)
		return nil, damage(err)
	}
	d.release = func() {
		free()
		c.giveBuffer(buf)
	}
	return d, nil
}

// start sets the decoder's reader and returns what gives it back.
func (c *codecs) start(d *decoder, k kind, buf *bufio.Reader) (free func(), err error) {
	free = func() {}
	switch k {
	case gzipped:
		z, ok := c.gzips.Get().(*gzip.Reader)
		if !ok {
			z = new(gzip.Reader)
		}
		if err := z.Reset(buf); err != nil {
			return nil, unexpected(err)
		}
		d.Reader, free = z, func() { c.gzips.Put(z) }
	case deflated:
		z, ok := c.flates.Get().(io.ReadCloser)
		if !ok {
			z = flate.NewReader(buf)
		} else if err := z.(flate.Resetter).Reset(buf, nil); err != nil {
			return nil, err
		}
		d.Reader, free = z, func() { c.flates.Put(z) }
	case zstded:
		z, err := c.zstd()
		if err != nil {
			return nil, err
		}
		var header zstd.Header
		head, _ := buf.Peek(zstd.HeaderMaxSize) // an error comes again from z
		known := header.Decode(head) == nil && header.WindowSize <= keepWindow
		if err := z.Reset(buf); err != nil {
			z.Close()
			return nil, err
		}
		d.Reader, free = z, func() { c.giveZstd(z, known) }
	case spooled:
		z, ok := c.spools.Get().(*s2.Reader)
		if !ok {
			z = s2.NewReader(nil, s2.ReaderMaxBlockSize(spoolBlock))
		}
		z.Reset(buf)
		d.Reader, free = z, func() { c.spools.Put(z) }
	case xzed:
		d.Reader, err = xz.ReaderConfig{DictCap: 4096}.NewReader(newXzBlocks(buf))
		if err != nil {
			return nil, unexpected(err)
		}
	case bzipped:
		d.Reader = bzip2.NewReader(buf)
	default:
		return nil, ErrFormat
	}
	return free, nil
}

// unexpected names the end of data inside a header for what it is.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (c *codecs) buffer(r io.Reader) *bufio.Reader {
	buf, ok := c.bufs.Get().(*bufio.Reader)
	if !ok { // not on r, which bufio would hand back if it is a buffer itself
		buf = bufio.NewReaderSize(nil, bufLen)
	}
	buf.Reset(r)
	return buf
}

func (c *codecs) giveBuffer(buf *bufio.Reader) {
	buf.Reset(nil)
	c.bufs.Put(buf)
}

func (c *codecs) zstd() (*zstd.Decoder, error) {
	c.mu.Lock()
	if n := len(c.zstds); n > 0 {
		z := c.zstds[n-1]
		c.zstds = c.zstds[:n-1]
		c.mu.Unlock()
		return z, nil
	}
	c.mu.Unlock()
	// One at a time decodes without goroutines, so nothing can leak.
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

func (c *codecs) giveZstd(z *zstd.Decoder, keep bool) {
	err := z.Reset(nil) // lets go of the input
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || !keep || c.done || len(c.zstds) >= idleDecoders {
		z.Close()
		return
	}
	c.zstds = append(c.zstds, z)
}

// close frees what is idle; what is lent is freed when it comes back.
func (c *codecs) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
	for _, z := range c.zstds {
		z.Close()
	}
	c.zstds = nil
}
