package source

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	if set.handles.open[0].file != nil {
		t.Error("the file is open without a reader")
	}
}

// TestManyHandles reads more files than may be open, side by side, and each more often than that.
func TestManyHandles(t *testing.T) {
	dir := t.TempDir()
	files := tree{}
	for i := range maxHandles + 20 {
		files[fmt.Sprint(i, ".log")] = strings.Repeat(fmt.Sprint(i, " "), 500)
	}
	writeTree(t, dir, files)
	set := scan(t, Options{}, dir)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			var open []io.ReadCloser
			for i, f := range set.Files {
				for range 3 {
					in, err := f.Open()
					if err != nil {
						t.Error(err)
						return
					}
					if open = append(open, in); i%4 != worker { // read now, else later
						readAll(t, in, files[f.Path])
					}
				}
			}
			for i, in := range open {
				if f := set.Files[i/3]; i/3%4 == worker {
					readAll(t, in, files[f.Path])
				}
			}
		})
	}
	all.Wait()
	for range 3 * maxHandles {
		in, err := set.Files[0].Open()
		check(t, err)
		readAll(t, in, files[set.Files[0].Path])
	}
}

func readAll(t *testing.T, in io.ReadCloser, want string) {
	got, err := io.ReadAll(in)
	if err != nil || string(got) != want {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
}
