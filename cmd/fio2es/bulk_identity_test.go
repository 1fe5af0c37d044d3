package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/internal/fiotest"
)

// pack returns an archive in all formats that are a single file, by suffix.
func pack(t *testing.T, spec fiotest.ArchiveSpec) map[string][]byte {
	t.Helper()
	var plain, gz, zipped bytes.Buffer
	dir := t.TempDir()
	generated(t, spec, dir)
	tarred, z, w := tar.NewWriter(&plain), zip.NewWriter(&zipped), gzip.NewWriter(&gz)
	check(t, tarred.AddFS(os.DirFS(dir)), tarred.Close(), z.AddFS(os.DirFS(dir)), z.Close())
	_, err := w.Write(plain.Bytes())
	check(t, err, w.Close())
	enc, err := zstd.NewWriter(nil)
	check(t, err)
	return map[string][]byte{
		".tar": plain.Bytes(), ".tar.gz": gz.Bytes(), ".tar.zst": enc.EncodeAll(plain.Bytes(), nil), ".zip": zipped.Bytes(),
	}
}

// below returns a tar with all members moved into a folder.
func below(t *testing.T, tarred []byte, folder string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for r := tar.NewReader(bytes.NewReader(tarred)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		h.Name = folder + h.Name
		check(t, w.WriteHeader(h))
		_, err = io.Copy(w, r)
		check(t, err)
	}
	check(t, w.Close())
	return out.Bytes()
}

// TestOneArchiveOneOutput ingests an archive in all formats, with several numbers of workers. The documents must be
// the same, byte for byte.
func TestOneArchiveOneOutput(t *testing.T) {
	t.Parallel()
	spec := fiotest.ArchiveSpec{Runs: 3, Hosts: 2, Jobs: 3, Seconds: 6, Coarseness: 2, Seed: 3}
	packed, folder := pack(t, spec), filepath.Join(t.TempDir(), "lab")
	generated(t, spec, folder)
	ingest := func(stdin []byte, args ...string) string {
		t.Helper()
		c := call(t, stdin, append([]string{"ingest", allLevels, "--output", "-"}, args...)...)
		if c.code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, c.code, c.stderr)
		}
		return c.stdout
	}
	want := ingest(nil, "--threads", "1", folder)
	if n := strings.Count(want, `"_index":"fio-runs"`); n != spec.Runs {
		t.Fatalf("%d runs, want %d", n, spec.Runs)
	}
	same := func(what, got string) {
		t.Helper()
		if got != want {
			t.Errorf("%s gives other documents:\n%s", what, difference(got, want))
		}
	}
	same("four threads", ingest(nil, "--threads", "4", folder))
	for form, data := range packed {
		check(t, os.WriteFile(folder+form, data, 0o600))
		same("lab"+form, ingest(nil, "--threads", "4", folder+form))
		same(form+" from stdin", ingest(data, "--archive", "lab", "-"))
	}
	for _, top := range []string{"./", "lab/", "./lab/"} {
		path := filepath.Join(t.TempDir(), "lab.tar")
		check(t, os.WriteFile(path, below(t, packed[".tar"], top), 0o600))
		same("a tar with all in "+top, ingest(nil, path))
	}
}
