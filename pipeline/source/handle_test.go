package source

import (
	"io"
	"os"
	"path/filepath"
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
