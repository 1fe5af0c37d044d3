package source

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Readers that have a file open at the same time share one descriptor, so a second one reads
// what the first does although another file took its place. Later readers open the file of
// that name.
func TestReadersShareOneDescriptor(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.log")
	write := func(to, text string) {
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(name, "before")
	set, err := Scan(t.Context(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	open := func() io.ReadCloser {
		in, err := set.Files[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	check := func(in io.ReadCloser, want string) {
		t.Helper()
		got, err := io.ReadAll(in)
		if err != nil || string(got) != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	first := open()
	write(name+".new", "after")
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
	check(open(), "before")
	check(first, "before") // still open though the second reader is closed
	check(open(), "after")
	if len(set.handles.open) > 0 {
		t.Error("the file is open without a reader")
	}
}

// TestManyHandles: many readers of more files than may be open all end, whichever of them open one again that another
// has just closed.
func TestManyHandles(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 * maxHandles {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.log", i)), fmt.Append(nil, i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := Scan(t.Context(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	var readers sync.WaitGroup
	for seed := range uint64(16) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(seed, 0))
			open := make([]io.ReadCloser, 3*maxHandles)
			for range 1000 {
				f := r.IntN(len(open))
				if open[f] != nil && r.IntN(2) == 0 {
					open[f].Close()
					open[f] = nil
					continue
				}
				if open[f] == nil {
					var err error
					if open[f], err = set.Files[f].Open(); err != nil {
						t.Error(err)
						return
					}
				}
				if _, err := open[f].Read(make([]byte, 1)); err != nil && err != io.EOF {
					t.Error(err)
					return
				}
			}
			for _, in := range open {
				if in != nil {
					in.Close()
				}
			}
		})
	}
	readers.Wait()
	if n := len(set.handles.open); n > 0 {
		t.Errorf("%d files are open without a reader", n)
	}
}
