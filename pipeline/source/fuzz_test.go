package source

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"testing"
)

// FuzzScanStream feeds any bytes through standard input: no panic, no path that
// leads out, no limit passed, and the same bytes every time a file is read.
func FuzzScanStream(f *testing.F) {
	files := tree{"a/x.log": "1, 2, 3\n", "a/y.log.gz": string(gz(f, []byte("4\n"))), "../z": "z"}
	packed := tarOf(f, files)
	for _, seed := range [][]byte{
		nil, []byte("1, 2, 3\n"), packed, gz(f, packed), zst(f, packed), xzip(f, packed),
		zipOf(f, files, zip.Deflate), zipOf(f, files, zip.Store)[:150], sparseTar(5000), sparseTar(1 << 40),
		tarOf(f, tree{"b.tar": string(packed), "c.zip": string(zipOf(f, files, zip.Store))}),
	} {
		f.Add(seed)
	}
	for _, name := range []string{"testdata/a.tar.bz2", "testdata/a.v7.tar"} {
		b, err := os.ReadFile(name)
		check(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		set := scanFuzzed(t, b)
		if set == nil {
			return
		}
		for _, file := range set.Files {
			if file.Path == "" || path.Clean("/"+file.Path) != "/"+file.Path || strings.HasPrefix(file.Path, "../") {
				t.Errorf("path %q", file.Path)
			}
			one, err := readCut(t, file)
			two, _ := readCut(t, file)
			if one != two || len(one) > mostFuzzed+bufLen {
				t.Errorf("%s: %d and %d bytes", file.Path, len(one), len(two))
			}
			if err == nil && file.Err != nil || errors.Is(err, io.EOF) {
				t.Errorf("%s: %v, expected %v", file.Path, err, file.Err)
			}
		}
	})
}

// mostFuzzed is the limit of bytes that a fuzz target reads.
const mostFuzzed = 1 << 20

// scanFuzzed scans stdin with small limits. It returns nil if the input exceeds one.
func scanFuzzed(t *testing.T, stdin []byte) *Set {
	t.Helper()
	set, err := Scan(context.Background(), []string{"-"}, Options{
		Stdin: bytes.NewReader(stdin), TempDir: t.TempDir(),
		Depth: 3, Budget: &Budget{free: 1 << 16, ratio: 50, memory: 100 * priceOfFile},
	})
	if errors.Is(err, ErrTooMuch) {
		return nil
	}
	check(t, err)
	t.Cleanup(func() { set.Close() })
	return set
}
