package es

import (
	"bytes"
	"io"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// packer compresses request bodies.
type packer struct {
	level   int
	writers sync.Pool // of *gzip.Writer
}

func newPacker(level int) *packer { return &packer{level: level} }

// write writes body to w.
func (p *packer) write(w io.Writer, body []byte) error {
	z, ok := p.writers.Get().(*gzip.Writer)
	if ok {
		z.Reset(w)
	} else {
		var err error
		if z, err = gzip.NewWriterLevel(w, p.level); err != nil {
			return err
		}
	}
	defer p.writers.Put(z)
	if _, err := z.Write(body); err != nil {
		return err
	}
	return z.Close()
}

// request reads the body of a request into memory, compressed unless it is small.
func (p *packer) request(req *http.Request) error {
	const small = 1 << 10
	if req.Body == nil || req.Body == http.NoBody {
		return nil
	}
	plain, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	_ = req.Body.Close() // was read to its end
	if p.level == NoGzip || len(plain) < small || req.Header.Get("Content-Encoding") != "" {
		memory(req, plain)
		return nil
	}
	var packed bytes.Buffer
	if err := p.write(&packed, plain); err != nil {
		return err
	}
	req.Header.Set("Content-Encoding", "gzip")
	memory(req, packed.Bytes())
	return nil
}
