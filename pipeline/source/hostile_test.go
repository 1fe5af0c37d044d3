package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// problem returns the error noted for a name that ends so, or nil.
func problem(set *Set, suffix string) error {
	for _, p := range set.Problems {
		if strings.HasSuffix(p.Name, suffix) {
			return p
		}
	}
	return nil
}

func TestRefusedMembers(t *testing.T) {
	long := strings.Repeat("d/", 2100) + "x.log"
	bad := map[string]error{
		"/etc/x.log": ErrEscapes, "../x.log": ErrEscapes, "a/../../x.log": ErrEscapes, "a/..": ErrEscapes,
		`..\x.log`: ErrEscapes, `C:\x.log`: ErrEscapes, long: ErrEscapes,
	}
	for name, want := range bad {
		files := tree{name: "evil", "good.log": "good"}
		for kind, packed := range map[string][]byte{
			"tar": tarOf(t, files), "tgz": gz(t, tarOf(t, files)), "zip": zipOf(t, files, zip.Deflate),
		} {
			set := scan(t, Options{}, write(t, t.TempDir(), "a", packed))
			if diff := gocmp.Diff(tree{"good.log": "good"}, contents(t, set)); diff != "" {
				t.Errorf("%.20s in %s: %s", name, kind, diff)
			}
			if err := problem(set, name); !errors.Is(err, want) {
				t.Errorf("%.20s in %s: %v", name, kind, err)
			}
		}
	}
}

func TestRefusedKinds(t *testing.T) {
	hdrs := []*tar.Header{
		{Name: "good.log", Typeflag: tar.TypeReg},
		{Name: "soft.log", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard.log", Typeflag: tar.TypeLink, Linkname: "good.log"},
		{Name: "dev.log", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 5},
		{Name: "fifo.log", Typeflag: tar.TypeFifo},
		{Name: "dir.log/", Typeflag: tar.TypeDir},
		{Name: "unwanted", Typeflag: tar.TypeSymlink, Linkname: "x"},
	}
	want := func(p string) bool { return strings.HasSuffix(p, ".log") }
	for _, pack := range []func(tb, []byte) []byte{func(_ tb, b []byte) []byte { return b }, gz} {
		arg := write(t, t.TempDir(), "a", pack(t, tarWith(t, tree{"good.log": "good"}, hdrs...)))
		set := scan(t, Options{Want: want}, arg)
		if diff := gocmp.Diff(tree{"good.log": "good"}, contents(t, set)); diff != "" {
			t.Error(diff)
		}
		if len(set.Problems) != 4 {
			t.Errorf("problems: %q", problemLines(set))
		}
		for name, reason := range map[string]error{
			"soft.log": ErrLink, "hard.log": ErrLink, "dev.log": ErrSpecial, "fifo.log": ErrSpecial,
		} {
			if err := problem(set, name); !errors.Is(err, reason) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestRefusedInFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/good.log", []byte("good"))
	secret := write(t, dir, "secret.log", []byte("secret"))
	check(t, os.Symlink(secret, filepath.Join(dir, "a", "out.log")))
	check(t, os.Symlink("good.log", filepath.Join(dir, "a", "in.log")))
	check(t, os.Symlink("..", filepath.Join(dir, "a", "loop")))
	l, err := net.Listen("unix", filepath.Join(dir, "a", "sock.log"))
	if err == nil {
		defer l.Close()
	}
	write(t, dir, "a/locked.log", []byte("locked"))
	check(t, os.Chmod(filepath.Join(dir, "a", "locked.log"), 0))
	set := scan(t, Options{Want: func(p string) bool { return strings.HasSuffix(p, ".log") }}, filepath.Join(dir, "a"))
	locked := os.Getuid() != 0 // the superuser may read all
	for name, want := range map[string]error{"out.log": ErrLink, "in.log": ErrLink, "sock.log": ErrSpecial, "locked.log": fs.ErrPermission} {
		if got := problem(set, name); !errors.Is(got, want) && (name != "locked.log" || locked) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if len(set.Files) == 0 || content(t, set.Files[0]) != "good" {
		t.Errorf("%v", paths(set))
	}
	// A file that became a link after the scan must not lead out.
	check(t, os.Remove(filepath.Join(dir, "a", "good.log")))
	check(t, os.Symlink(secret, filepath.Join(dir, "a", "good.log")))
	if r, err := set.Files[0].Open(); err == nil {
		b, _ := io.ReadAll(r)
		t.Errorf("read %q through a link", b)
	}
}

func TestDuplicates(t *testing.T) {
	files := tree{"x.log": "old", "y.log": "y"}
	two := append(tarOf(t, files)[:4*512], tarOf(t, tree{"./x.log": "newer"})...)
	for name, packed := range map[string][]byte{"a.tar": two, "a.tgz": gz(t, two)} {
		set := scan(t, Options{}, write(t, t.TempDir(), name, packed))
		if got := contents(t, set)["x.log"]; got != "newer" {
			t.Errorf("%s: %q", name, got)
		}
		if err := problem(set, "x.log"); !errors.Is(err, ErrDuplicate) || len(set.Problems) != 1 {
			t.Errorf("%s: %q", name, problemLines(set))
		}
	}
	t.Run("plain beats packed", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, "x.log", []byte("plain"))
		write(t, dir, "x.log.gz", gz(t, []byte("packed")))
		set := scan(t, Options{}, dir)
		if diff := gocmp.Diff(tree{"x.log": "plain"}, contents(t, set)); diff != "" || !errors.Is(problem(set, ".gz"), ErrDuplicate) {
			t.Errorf("%q %s", problemLines(set), diff)
		}
	})
	t.Run("folder beside its archive", func(t *testing.T) {
		dir := writeTree(t, t.TempDir(), bench().under("run"))
		write(t, dir, "run.tar.zst", zst(t, tarOf(t, bench())))
		set := scan(t, Options{}, dir)
		if diff := gocmp.Diff(bench().under("run"), contents(t, set)); diff != "" {
			t.Error(diff)
		}
		if len(set.Problems) != 1 {
			t.Errorf("not one problem: %q", problemLines(set))
		}
	})
}

func TestDepth(t *testing.T) {
	packed := tarOf(t, tree{"x.log": "x"})
	for depth := 1; depth <= 3; depth++ {
		for max := 1; max <= 3; max++ {
			set := scan(t, Options{Depth: max}, write(t, t.TempDir(), "a", packed))
			if deep := depth > max; deep != errors.Is(errors.Join(asErrors(set)...), ErrDepth) || deep == (len(set.Files) == 1) {
				t.Errorf("depth %d of %d: %v %q", depth, max, paths(set), problemLines(set))
			}
		}
		packed = tarOf(t, tree{fmt.Sprintf("in%d.tgz", depth): string(gz(t, packed))})
	}
	quine := []byte("x")
	for range 8 {
		quine = gz(t, quine)
	}
	if set := scan(t, Options{}, write(t, t.TempDir(), "x.gz", quine)); !errors.Is(errors.Join(asErrors(set)...), ErrDepth) {
		t.Errorf("%q", problemLines(set))
	}
}

func asErrors(set *Set) []error {
	var out []error
	for _, p := range set.Problems {
		out = append(out, p)
	}
	return out
}

// TestBudget: small files that become large are cut, over all files and layers together, and what is read again costs
// nothing.
func TestBudget(t *testing.T) {
	zeros := strings.Repeat("0", 1<<20)
	half := gz(t, []byte(zeros[:1<<19]))
	small := func() Options { return Options{Budget: &Budget{free: 1 << 20, ratio: 1}} }
	for name, files := range map[string]map[string][]byte{
		"a tar":            {"a.tgz": gz(t, tarOf(t, tree{"a.log": "fine", "z.log": zeros}))},
		"many members":     {"a.tgz": gz(t, tarOf(t, tree{"a.log": zeros[:1<<19], "b.log": zeros[:1<<19], "c.log": zeros[:1<<10]}))},
		"gzip":             {"x.log.gz": gz(t, []byte(zeros+zeros))},
		"zstd":             {"x.log.zst": zst(t, []byte(zeros+zeros))},
		"several files":    {"x.log.gz": half, "y.log.gz": half, "z.log.gz": half},
		"layers":           {"x.log.gz.gz.gz": gz(t, gz(t, gz(t, []byte(zeros+zeros))))},
		"members of a zip": {"x.zip": zipOf(t, tree{"x.log": zeros, "y.log": zeros}, zip.Deflate)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range files {
				write(t, dir, name, text)
			}
			write(t, dir, "good.log", []byte("good"))
			set := scan(t, small(), dir)
			err, unpacked := errors.Join(asErrors(set)...), int64(0)
			for _, f := range set.Files {
				if f.Path == "good.log" {
					if content(t, f) != "good" {
						t.Error("the file beside it is gone")
					}
					continue
				}
				r, openErr := f.Open()
				if openErr == nil {
					var n int64
					n, openErr = io.Copy(io.Discard, r)
					unpacked += n
					r.Close()
				}
				err = errors.Join(err, openErr)
			}
			if !errors.Is(err, ErrTooMuch) || unpacked > 2<<20 {
				t.Errorf("%v, %d bytes", err, unpacked)
			}
		})
	}
	t.Run("one stream of many files", func(t *testing.T) { // it is cut, and the others are read
		dir := t.TempDir()
		write(t, dir, "a.log", []byte(zeros+zeros+zeros+zeros))
		for name, text := range map[string][]byte{"x.log.gz": gz(t, []byte(zeros+zeros)), "x.log.zst": zst(t, []byte(zeros+zeros))} {
			set := scan(t, small(), write(t, dir, name, text), dir)
			for _, f := range set.Files {
				r, err := f.Open()
				check(t, err)
				n, err := io.Copy(io.Discard, r)
				r.Close()
				if isBomb := f.Name() != "a.log" && !strings.HasSuffix(f.Name(), "/a.log"); isBomb != errors.Is(err, ErrTooMuch) || isBomb != (n < 2<<20) {
					t.Errorf("%s: %d bytes, %v", f.Name(), n, err)
				}
			}
			check(t, os.Remove(filepath.Join(dir, name)))
		}
	})
	t.Run("read again", func(t *testing.T) {
		set := scan(t, small(), write(t, t.TempDir(), "x.log.gz", half))
		for range 5 {
			content(t, set.Files[0])
		}
	})
}

// TestSparse: a member with holes is a problem.
func TestSparse(t *testing.T) {
	for _, packed := range [][]byte{sparseTar(1 << 40), gz(t, sparseTar(1000))} {
		set := scan(t, Options{}, write(t, t.TempDir(), "a.tar", packed))
		if len(set.Files) != 0 || !errors.Is(problem(set, "x.log"), ErrFormat) {
			t.Errorf("%v %q", paths(set), problemLines(set))
		}
	}
}

// sparseTar is an old GNU sparse member: four bytes of data and then a hole.
func sparseTar(size int64) []byte {
	h := make([]byte, 512)
	copy(h, "x.log")
	copy(h[100:], "0000644\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x00%011o\x00", 4, 0))
	h[156] = tar.TypeGNUSparse
	copy(h[257:], "ustar  \x00")
	copy(h[386:], fmt.Sprintf("%011o\x00%011o\x00", 0, 4))
	copy(h[410:], fmt.Sprintf("%011o\x00%011o\x00", size, 0))
	if size < 1<<33 {
		copy(h[483:], fmt.Sprintf("%011o\x00", size))
	} else { // base 256
		h[483] = 0x80
		for i, n := 494, size; n > 0; i, n = i-1, n>>8 {
			h[i] = byte(n)
		}
		copy(h[410:], "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	}
	copy(h[148:], "        ")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return append(append(h, "data"...), make([]byte, 508+1024)...)
}

func TestLimitsStopTheScan(t *testing.T) {
	arg := write(t, t.TempDir(), "a.tgz", gz(t, tarOf(t, bench())))
	for name, c := range map[string]struct {
		opt  Options
		want error
	}{
		"files": {Options{Budget: &Budget{memory: 3 * priceOfFile}}, ErrTooMuch},
		"names": {Options{Budget: &Budget{memory: 4*priceOfFile + 100*priceOfName}}, ErrTooMuch},
		"spool": {Options{TempDir: filepath.Join(arg, "none")}, errSpool},
	} {
		set, err := Scan(context.Background(), []string{arg}, c.opt)
		if set != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestScanErrors(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{nil, {filepath.Join(dir, "none")}, {filepath.Join(dir, "none*")}, {filepath.Join(dir, "[")}} {
		if set, err := Scan(context.Background(), args, Options{}); err == nil || set != nil {
			t.Errorf("%q: no error", args)
		}
	}
	if _, err := Scan(context.Background(), []string{"-", "-"}, Options{Stdin: strings.NewReader("x")}); err == nil {
		t.Error("standard input was read twice")
	}
	ctx, cancel := context.WithCancel(context.Background())
	arg := write(t, dir, "a.tgz", gz(t, tarOf(t, bench())))
	opt := Options{Progress: func(Progress) { cancel() }}
	if _, err := Scan(ctx, []string{arg}, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Scan(ctx, []string{dir}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// TestCancelWhileWaiting needs an input that never gives a byte.
func TestCancelWhileWaiting(t *testing.T) {
	us, them := net.Pipe()
	defer us.Close()
	defer them.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancelled := readerFunc{us, cancel}
	if _, err := Scan(ctx, []string{"-"}, Options{Stdin: cancelled}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// readerFunc cancels once it is read from.
type readerFunc struct {
	net.Conn
	cancel func()
}

func (r readerFunc) Read(p []byte) (int, error) {
	r.cancel()
	return r.Conn.Read(p)
}

func TestNamesDoNotWriteToTheTerminal(t *testing.T) {
	set := scan(t, Options{}, write(t, t.TempDir(), "a", tarOf(t, tree{"x\x1b[2J.log": "x", "../\x1b": "y"})))
	for _, text := range []string{set.Files[0].Name(), set.Problems[0].Error()} {
		if strings.ContainsRune(text, '\x1b') {
			t.Errorf("%q", text)
		}
	}
}

func TestMislabelled(t *testing.T) {
	for name, body := range map[string]string{"x.log.gz": "1, 2, 3\n", "a.tar": "no", "b.zip": "", "c.tar.gz": string(gz(t, []byte("x")))} {
		set := scan(t, Options{Want: func(p string) bool { return strings.HasSuffix(p, ".log") }}, write(t, t.TempDir(), name, []byte(body)))
		if len(set.Files) != 0 || len(set.Problems) != 1 || !errors.Is(set.Problems[0], ErrFormat) {
			t.Errorf("%s: %q", name, problemLines(set))
		}
	}
	if set := scan(t, Options{}, write(t, t.TempDir(), "empty.tar", make([]byte, 10240))); len(set.Problems) != 0 {
		t.Errorf("empty tar: %q", problemLines(set))
	}
}

func TestEncryptedAndUnknownZip(t *testing.T) {
	b := zipOf(t, tree{"x.log": "x"}, zip.Store)
	at := bytes.Index(b, []byte("PK\x01\x02"))
	for name, patch := range map[string]func([]byte){
		"encrypted": func(b []byte) { b[at+8] |= 1 },
		"method":    func(b []byte) { b[at+10] = 14 },
	} {
		bad := bytes.Clone(b)
		patch(bad)
		set := scan(t, Options{}, write(t, t.TempDir(), "a.zip", bad))
		if len(set.Problems) != 1 || !errors.Is(set.Problems[0], ErrFormat) {
			t.Errorf("%s: %q", name, problemLines(set))
		}
	}
}
