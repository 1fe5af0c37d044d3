//go:build unix

package source

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNamedPipe scans pipes without a writer.
func TestNamedPipe(t *testing.T) {
	dir := t.TempDir()
	// Each case has its own pipe: otherwise a reader that an earlier case left in open(2)
	// would take the writer of this one.
	newPipe := func() string {
		pipe := filepath.Join(t.TempDir(), "x_clat_hist.1.log")
		check(t, syscall.Mkfifo(pipe, 0o600))
		return pipe
	}
	pipe := newPipe()
	check(t, syscall.Mkfifo(filepath.Join(dir, "x_clat_hist.1.log"), 0o600))
	scanned := func(ctx context.Context, path string) chan error {
		done := make(chan error, 1)
		go func() {
			set, err := Scan(ctx, []string{path}, Options{})
			if err == nil {
				err = errors.Join(set.Close(), problem(set, "1.log"))
			}
			done <- err
		}()
		return done
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := scanned(ctx, pipe)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe without a writer: %v", err)
	}

	pipe = newPipe()
	ctx, cancel = context.WithCancel(context.Background())
	done = scanned(ctx, pipe)
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
	check(t, err)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe without content: %v", err)
	}
	check(t, w.Close())

	if err := <-scanned(context.Background(), dir); !errors.Is(err, ErrSpecial) {
		t.Errorf("a pipe in a folder: %v", err)
	}
	if IsArchive(pipe) {
		t.Error("a pipe is taken for an archive")
	}

	pipe = newPipe()
	done = scanned(context.Background(), pipe)
	w, err = os.OpenFile(pipe, os.O_WRONLY, 0)
	check(t, err)
	check(t, second(w.Write([]byte("1, 2, 3\n"))))
	check(t, w.Close())
	if err := <-done; err != nil {
		t.Errorf("a pipe with content: %v", err)
	}
}

// TestUntil reads a file when the context of its set has ended.
func TestUntil(t *testing.T) {
	set := scan(t, Options{}, write(t, t.TempDir(), "x.log", []byte("1, 2, 3\n4, 5, 6\n")))
	in, err := set.Files[0].Open()
	check(t, err)
	defer in.Close()
	ctx, cancel := context.WithCancel(context.Background())
	set.Until(ctx)
	buf := make([]byte, 4)
	check(t, second(in.Read(buf)))
	cancel()
	if _, err := in.Read(buf); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if _, err := set.Files[0].Open(); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	set.Until(context.Background())
	check(t, second(in.Read(buf)))
}
