package source

import (
	"context"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// openArgument opens a file that the user named. Opening a named pipe waits for its writer:
// ctx ends that.
func openArgument(ctx context.Context, name string, info fs.FileInfo) (*os.File, error) {
	if info.Mode().IsRegular() {
		return openNow(name)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened)
	go func() {
		f, err := os.Open(name)
		select {
		case done <- opened{f, err}:
		case <-ctx.Done():
			if err == nil {
				f.Close()
			}
		}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done(): // the goroutine stays until there is a writer
		return nil, ctx.Err()
	}
}

// openNow opens a regular file. It does not wait if a named pipe has taken its place since
// the folder was listed.
func openNow(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// openIn is openNow for a file in a folder.
func openIn(at *os.Root, name string) (*os.File, error) {
	return at.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// wake makes a waiting read of r end with ctx, if r has deadlines. The function that it
// returns must be called.
func wake(ctx context.Context, r io.Reader) (stop func() bool) {
	d, ok := r.(interface{ SetReadDeadline(time.Time) error })
	if !ok {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { _ = d.SetReadDeadline(time.Unix(1, 0)) })
}
