package pipeline

import (
	"context"
	"io"
	"time"
)

// tailing reads files that fio still writes.
type tailing struct {
	ctx   context.Context // when it ends, the files have ended
	quiet time.Duration   // a file that has not grown for so long has ended
}

// tailReader reads a file that grows.
type tailReader struct {
	io.ReadCloser
	ctx   context.Context
	quiet time.Duration
}

// Read implements [io.Reader].
func (t *tailReader) Read(p []byte) (int, error) {
	const look = 200 * time.Millisecond
	for waited := time.Duration(0); ; waited += look {
		n, err := t.ReadCloser.Read(p)
		switch {
		case n > 0:
			return n, nil
		case err != io.EOF || waited >= t.quiet:
			return 0, err
		}
		select {
		case <-time.After(look):
		case <-t.ctx.Done():
			return 0, io.EOF
		}
	}
}
