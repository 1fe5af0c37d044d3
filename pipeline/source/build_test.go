package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// tree is the truth of a test: content by slash separated path.
type tree map[string]string

// under returns the tree one folder deeper.
func (t tree) under(dir string) tree {
	out := tree{}
	for p, content := range t {
		out[path.Join(dir, p)] = content
	}
	return out
}

func (t tree) names() []string { return slices.Sorted(maps.Keys(t)) }

// bench is what most tests scan: a small benchmark run.
func bench() tree {
	return tree{
		"results/00000000/output.2.log":  strings.Repeat("500, 0, 4096, 1, 2, 3\n", 40),
		"results/00000000/output.10.log": "1000, 1, 4096, 0, 0, 9\n",
		"results/empty.log":              "",
		"results/big.log":                strings.Repeat("1500, 2, 65536, 7\n", 40_000),
		"benchmark_config.yaml":          "runs: 3\n",
	}
}

type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func check(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tarOf(t tb, files tree) []byte {
	t.Helper()
	var hdrs []*tar.Header
	for _, name := range files.names() {
		hdrs = append(hdrs, &tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg})
	}
	return tarWith(t, files, hdrs...)
}

// tarWith writes the headers as they are, with the content of their names.
func tarWith(t tb, files tree, hdrs ...*tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range hdrs {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(files[h.Name]))
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			check(t, second(io.WriteString(w, files[h.Name])))
		}
	}
	check(t, w.Close())
	return b.Bytes()
}

func second[T any](_ T, err error) error { return err }

func zipOf(t tb, files tree, method uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range files.names() {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		check(t, err)
		check(t, second(io.WriteString(f, files[name])))
	}
	check(t, w.Close())
	return b.Bytes()
}

func gz(t tb, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	check(t, second(w.Write(b)))
	check(t, w.Close())
	return out.Bytes()
}

func zst(t tb, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	check(t, err)
	return w.EncodeAll(b, nil)
}

func xzip(t tb, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := xz.NewWriter(&out)
	check(t, err)
	check(t, second(w.Write(b)))
	check(t, w.Close())
	return out.Bytes()
}

// write puts a file on disk, with the folders it needs.
func write(t tb, dir, name string, content []byte) string {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	check(t, os.MkdirAll(filepath.Dir(full), 0o755))
	check(t, os.WriteFile(full, content, 0o644))
	return full
}

func writeTree(t tb, dir string, files tree) string {
	t.Helper()
	for name, content := range files {
		write(t, dir, name, []byte(content))
	}
	return dir
}

// scan scans and closes at the end of the test.
func scan(t *testing.T, opt Options, paths ...string) *Set {
	t.Helper()
	set, err := Scan(context.Background(), paths, opt)
	check(t, err)
	t.Cleanup(func() { check(t, set.Close()) })
	if l, err := list(context.Background(), paths, opt); !errors.Is(err, ErrPipe) && !errors.Is(err, ErrTooMuch) {
		check(t, err)
		checkListed(t, l, set)
	}
	return set
}

func content(t tb, f *File) string {
	t.Helper()
	r, err := f.Open()
	check(t, err)
	b, err := io.ReadAll(r)
	check(t, err)
	check(t, r.Close())
	if f.Size >= 0 && f.Size != int64(len(b)) {
		t.Fatalf("%s: size %d but %d bytes", f.Name(), f.Size, len(b))
	}
	return string(b)
}

// contents reads all files of a set.
func contents(t tb, set *Set) tree {
	t.Helper()
	out := tree{}
	for _, f := range set.Files {
		out[f.Path] = content(t, f)
	}
	return out
}

func paths(set *Set) []string {
	var out []string
	for _, f := range set.Files {
		out = append(out, f.Path)
	}
	return out
}

func problemLines(set *Set) []string {
	var out []string
	for _, p := range set.Problems {
		out = append(out, p.Error())
	}
	return out
}
