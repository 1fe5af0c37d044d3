package source

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cespare/xxhash/v2"
)

// noise compresses badly, so that a spool fills.
func noise(n int, seed int64) string {
	b := make([]byte, n)
	rand.New(rand.NewSource(seed)).Read(b)
	return string(b)
}

func TestSpool(t *testing.T) {
	files := tree{}
	for i := range 40 {
		files[fmt.Sprintf("r/%d.log", i)] = noise(i*9000, int64(i))
	}
	files["r/in.zip"] = string(zipOf(t, tree{"z.log": noise(5000, 99)}, zip.Deflate))
	truth := tree{"r/in/z.log": noise(5000, 99)}
	for p, c := range files {
		if strings.HasSuffix(p, ".log") {
			truth[p] = c
		}
	}
	tmp := t.TempDir()
	arg := write(t, t.TempDir(), "a.tgz", gz(t, tarOf(t, files)))
	set, err := Scan(context.Background(), []string{arg}, Options{TempDir: tmp, Sums: true})
	check(t, err)
	for p, c := range contents(t, set) {
		if truth[p] != c {
			t.Errorf("%s differs", p)
		}
	}
	for _, f := range set.Files {
		size, sum, ok := f.Sum()
		if want := truth[f.Path]; !ok && f.Path != "r/in/z.log" || ok && (size != int64(len(want)) || sum != xxhash.Sum64String(want)) {
			t.Errorf("%s: %d bytes with sum %x, %v; want %d with %x", f.Path, size, sum, ok, len(want), xxhash.Sum64String(want))
		}
	}
	if len(set.Files) != len(truth) {
		t.Errorf("%d files, want %d", len(set.Files), len(truth))
	}
	open, err := set.Files[5].Open()
	check(t, err)
	check(t, set.Close())
	check(t, set.Close())
	_, _ = open.Read(make([]byte, 10)) // may fail, must not crash
	check(t, open.Close())
	if _, err := set.Files[0].Open(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("open after close: %v", err)
	}
	left, err := os.ReadDir(tmp)
	check(t, err)
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSpoolThatCannotBeUnlinked(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "x")
	check(t, err)
	s := spool{file: f, linked: f.Name()}
	check(t, s.close())
	if _, err := os.Stat(f.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

// TestSpoolThatFails reads no more of an endless content when it cannot be kept.
func TestSpoolThatFails(t *testing.T) {
	s := spool{dir: filepath.Join(t.TempDir(), "none")}
	if _, err := s.add(&kept{}, zeroReader{}); !errors.Is(err, errSpool) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestConcurrentReaders(t *testing.T) {
	dir := t.TempDir()
	files := bench()
	loose := tree{}
	for p, c := range files {
		loose[p+".zst"] = string(zst(t, []byte(c)))
		loose["gz/"+p+".gz"] = string(gz(t, []byte(c)))
	}
	writeTree(t, dir, files.under("plain"))
	writeTree(t, dir, loose.under("loose"))
	write(t, dir, "a.tar", tarOf(t, files))
	write(t, dir, "b.tgz", gz(t, tarOf(t, files)))
	write(t, dir, "c.zip", zipOf(t, files, zip.Deflate))
	write(t, dir, "d.tar", tarOf(t, loose))
	set := scan(t, Options{}, dir)
	truth := contents(t, set)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range set.Files {
				f := set.Files[(i*7+g*3)%len(set.Files)]
				r, err := f.Open()
				if err != nil {
					t.Error(err)
					continue
				}
				b, err := io.ReadAll(r)
				if err != nil || string(b) != truth[f.Path] {
					t.Errorf("%s: %v, %d bytes", f.Name(), err, len(b))
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestReadersAreApart reads many members of all kinds side by side.
func TestReadersAreApart(t *testing.T) {
	files := tree{}
	for i := range 50 {
		files[fmt.Sprintf("%d.log", i)] = strings.Repeat(fmt.Sprintf("%d, %d\n", i, i*i), 500+i)
	}
	for name, packed := range map[string][]byte{"a.tgz": gz(t, tarOf(t, files)), "a.zip": zipOf(t, files, zip.Deflate)} {
		set := scan(t, Options{}, write(t, t.TempDir(), name, packed))
		readers := make([]io.ReadCloser, len(set.Files))
		got := make([]bytes.Buffer, len(set.Files))
		for i, f := range set.Files {
			r, err := f.Open()
			check(t, err)
			readers[i] = r
		}
		for more := true; more; {
			more = false
			for i, r := range readers {
				n, _ := io.CopyN(&got[i], r, 777)
				more = more || n > 0
			}
		}
		for i, f := range set.Files {
			check(t, readers[i].Close())
			check(t, readers[i].Close())
			if _, err := readers[i].Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("read after close: %v", err)
			}
			if got[i].String() != files[f.Path] {
				t.Errorf("%s differs", f.Name())
			}
		}
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("counts descriptors in /proc")
	}
	open, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	return len(open)
}

// TestDescriptorsAreFreed: after the scan only archives are open, whose members are read in place, and the last folders, and after
// Close none.
func TestDescriptorsAreFreed(t *testing.T) {
	dir := t.TempDir()
	const archives = 20
	for i := range archives {
		write(t, dir, fmt.Sprintf("%d.tar", i), tarOf(t, tree{"x.log": fmt.Sprint(i)}))
		write(t, dir, fmt.Sprintf("f%d/x.log", i), []byte(fmt.Sprint(i)))
	}
	before := descriptors(t)
	set, err := Scan(context.Background(), []string{dir}, Options{})
	check(t, err)
	for _, f := range set.Files {
		if content(t, f) == "" {
			t.Errorf("%s is empty", f.Name())
		}
	}
	if more := descriptors(t) - before; more > archives+8+2 {
		t.Errorf("%d descriptors are open", more)
	}
	check(t, set.Close())
	if more := descriptors(t) - before; more > 2 {
		t.Errorf("%d descriptors are left", more)
	}
}

// TestNoGoroutineIsLeft: the bubble would not end.
func TestNoGoroutineIsLeft(t *testing.T) {
	forget := func() { // all pooled decoders: a pool is empty after two collections
		runtime.GC()
		runtime.GC()
	}
	forget()       // the bubble makes its own
	defer forget() // they have channels, which nothing outside the bubble may use
	synctest.Test(t, func(t *testing.T) {
		contents(t, scan(t, Options{}, write(t, t.TempDir(), "a.tar.zst", zst(t, tarOf(t, bench())))))
	})
}
