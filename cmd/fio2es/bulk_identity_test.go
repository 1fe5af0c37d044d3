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

var identitySpec = fiotest.ArchiveSpec{Runs: 3, Hosts: 2, Jobs: 3, Seconds: 6, Coarseness: 2, Seed: 3}

// pack returns an archive in all formats that are a single file, by suffix.
func pack(t *testing.T, spec fiotest.ArchiveSpec) map[string][]byte {
	t.Helper()
	var plain, gz bytes.Buffer
	dir := t.TempDir()
	generated(t, spec, dir)
	tarred := tar.NewWriter(&plain)
	check(t, tarred.AddFS(os.DirFS(dir)), tarred.Close())
	w := gzip.NewWriter(&gz)
	_, err := w.Write(plain.Bytes())
	check(t, err, w.Close())
	enc, err := zstd.NewWriter(nil)
	check(t, err)
	return map[string][]byte{
		".tar": plain.Bytes(), ".tar.gz": gz.Bytes(), ".tar.zst": enc.EncodeAll(plain.Bytes(), nil), ".zip": zipped(t, plain.Bytes()),
	}
}

// forms returns the paths of an archive named "lab", as a folder and in all formats, by suffix.
func forms(t *testing.T, packed map[string][]byte) map[string]string {
	t.Helper()
	dir := t.TempDir()
	paths := map[string]string{"": filepath.Join(dir, "lab")}
	generated(t, identitySpec, paths[""])
	for suffix, data := range packed {
		paths[suffix] = filepath.Join(dir, "lab"+suffix)
		check(t, os.WriteFile(paths[suffix], data, 0o600))
	}
	return paths
}

// zipped returns the contents of a tar as a zip.
func zipped(t *testing.T, tarred []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for r := tar.NewReader(bytes.NewReader(tarred)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		member, err := w.CreateHeader(&zip.FileHeader{Name: h.Name, Modified: h.ModTime, Method: zip.Deflate})
		check(t, err)
		_, err = io.Copy(member, r)
		check(t, err)
	}
	check(t, w.Close())
	return out.Bytes()
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
	packed := pack(t, identitySpec)
	paths := forms(t, packed)
	ingest := func(stdin []byte, args ...string) string {
		t.Helper()
		c := call(t, stdin, append([]string{"ingest", allLevels, "--output", "-"}, args...)...)
		if c.code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, c.code, c.stderr)
		}
		return c.stdout
	}
	want := ingest(nil, paths[""])
	if n := strings.Count(want, `"_index":"fio-runs"`); n != identitySpec.Runs {
		t.Fatalf("%d runs, want %d", n, identitySpec.Runs)
	}
	same := func(what, got string) {
		t.Helper()
		if got != want {
			t.Errorf("%s gives other documents:\n%s", what, difference(got, want))
		}
	}
	same("one thread", ingest(nil, "--threads", "1", paths[".tar.gz"]))
	for form, path := range paths {
		same("lab"+form, ingest(nil, "--threads", "4", path))
	}
	for form, data := range packed {
		same(form+" from stdin", ingest(data, "--archive", "lab", "-"))
	}
	for _, top := range []string{"./", "lab/", "./lab/"} {
		path := filepath.Join(t.TempDir(), "lab.tar")
		check(t, os.WriteFile(path, below(t, packed[".tar"], top), 0o600))
		same("a tar with all in "+top, ingest(nil, path))
	}
	t.Logf("%d bytes of documents, the same in %d ways", len(want), len(paths)+len(packed)+4)
}

// TestAgain ingests an archive in several formats into one history. The first time everything is stored; later nothing
// changes.
func TestAgain(t *testing.T) {
	t.Parallel()
	packed := pack(t, identitySpec)
	paths := forms(t, packed)
	path := filepath.Join(t.TempDir(), "h.db")
	ingest := func(stdin []byte, args ...string) string {
		t.Helper()
		c := call(t, stdin, append([]string{"ingest", allLevels, "--history", path}, args...)...)
		if c.code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, c.code, c.stderr)
		}
		return c.stderr
	}
	ingest(nil, paths[""])
	want := stored(t, path)
	unchanged := func(what, said string) {
		t.Helper()
		if !strings.Contains(said, "0 documents") || !strings.Contains(said, "; 3 unchanged") {
			t.Errorf("%s: want 3 runs unchanged: %s", what, said)
		}
		stored(t, path).same(t, want)
	}
	for _, form := range []string{"", ".zip"} {
		unchanged("lab"+form, ingest(nil, "--threads", "3", paths[form]))
	}
	unchanged("stdin", ingest(packed[".tar.gz"], "--archive", "lab", "-"))

	// The documents are the same even after another ingest in between.
	ingest(nil, "--config", byCompletion(t), paths[".zip"])
	if other := stored(t, path); other.runs() != want.runs() || len(other) == 0 {
		t.Errorf("%d runs, want %d", other.runs(), want.runs())
	}
	ingest(nil, paths[".tar.zst"])
	stored(t, path).same(t, want)
}
