package es

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// packer compresses request bodies.
type packer struct {
	level   int       // NoGzip: no compression
	writers sync.Pool // of *gzip.Writer
}

// pack compresses a body, unless it is below 1 KiB or the level is NoGzip.
func (p *packer) pack(body []byte) ([]byte, error) {
	const small = 1 << 10
	if p.level == NoGzip || len(body) < small {
		return body, nil
	}
	packed := bytes.NewBuffer(make([]byte, 0, len(body)/6))
	z, ok := p.writers.Get().(*gzip.Writer)
	if ok {
		z.Reset(packed)
	} else {
		var err error
		if z, err = gzip.NewWriterLevel(packed, p.level); err != nil {
			return nil, fmt.Errorf("compress request: %w", err)
		}
	}
	defer p.writers.Put(z)
	if _, err := z.Write(body); err != nil {
		return nil, fmt.Errorf("compress request: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress request: %w", err)
	}
	return packed.Bytes(), nil
}

// isPacked reports whether a body is compressed. JSON does not begin with these two bytes.
func isPacked(body []byte) bool { return bytes.HasPrefix(body, []byte{0x1f, 0x8b}) }

// request compresses the body of a request, and makes it possible to send the body again.
func (p *packer) request(req *http.Request) error {
	if req.Body == nil || req.Body == http.NoBody {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	if err == nil {
		body, err = p.pack(body)
	}
	if err != nil {
		return err
	}
	if isPacked(body) {
		req.Header.Set("Content-Encoding", "gzip")
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return err
}
