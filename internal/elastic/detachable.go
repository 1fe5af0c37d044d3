package elastic

import (
	"errors"
	"io"
	"net"
)

// detachable is a request body whose memory is its owner's again after detach: the
// transport may go on sending after the answer has come.
type detachable struct {
	lock chan struct{} // holds one while somebody uses the rest; no mutex, as writing takes its time
	body []byte
	sent int  // bytes of it
	over bool // it is detached
}

var errDetached = errors.New("request is over")

func newDetachable(body []byte) *detachable {
	return &detachable{lock: make(chan struct{}, 1), body: body}
}

// Read implements [io.Reader].
func (d *detachable) Read(p []byte) (int, error) {
	d.lock <- struct{}{}
	defer func() { <-d.lock }()
	rest, err := d.rest()
	if err != nil {
		return 0, err
	}
	n := copy(p, rest)
	d.sent += n
	return n, nil
}

// rest is what is to be sent; the lock is held.
func (d *detachable) rest() ([]byte, error) {
	switch {
	case d.over:
		return nil, errDetached
	case d.sent == len(d.body):
		return nil, io.EOF
	}
	return d.body[d.sent:], nil
}

// writeTo writes at most n bytes to w, from where they are.
func (d *detachable) writeTo(w io.Writer, n int64) (written int64, err error) {
	for written < n && err == nil {
		var more int
		more, err = d.writePiece(w, n-written)
		written += int64(more)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return written, err
}

// writePiece writes as much as detach may have to wait for.
func (d *detachable) writePiece(w io.Writer, most int64) (int, error) {
	const piece = 1 << 20
	d.lock <- struct{}{}
	defer func() { <-d.lock }()
	rest, err := d.rest()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(rest[:min(int64(len(rest)), most, piece)])
	d.sent += n
	return n, err
}

// rewind begins again.
func (d *detachable) rewind() (io.ReadCloser, error) {
	d.lock <- struct{}{}
	defer func() { <-d.lock }()
	if d.over {
		return nil, errDetached
	}
	d.sent = 0
	return d, nil
}

// Close does nothing: the owner detaches.
func (d *detachable) Close() error { return nil }

func (d *detachable) detach() {
	d.lock <- struct{}{}
	defer func() { <-d.lock }()
	d.body, d.over = nil, true
}

// direct is a connection to which bulk bodies are written from where they are, in large
// pieces. Others are copied first, 32 KiB at a time, as [http.Transport] does.
type direct struct{ net.Conn }

// ReadFrom implements [io.ReaderFrom].
func (c direct) ReadFrom(r io.Reader) (int64, error) {
	if l, ok := r.(*io.LimitedReader); ok {
		if d, ok := l.R.(*detachable); ok {
			n, err := d.writeTo(c.Conn, l.N)
			l.N -= n
			return n, err
		}
	}
	return io.Copy(c.Conn, r)
}
