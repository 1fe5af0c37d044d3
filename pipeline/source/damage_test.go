package source

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/memtest"
)

// readCut reads what there is, and the error that ends it.
func readCut(t tb, f *File) (string, error) {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}

// TestCutEverywhere cuts archives at many bytes, with FIO2ES_TEST_SCALE=1 at three times as many: what is there is a
// prefix of the truth, and a problem says what is missing.
func TestCutEverywhere(t *testing.T) {
	truth := tree{
		"r/a.log": strings.Repeat("1, 2, 3\n", 90), "r/b.log": "", "r/c.log.gz": string(gz(t, []byte("4, 5, 6\n"))),
		"r/d.log": strings.Repeat("7, 8, 9, 10\n", 60),
	}
	unpacked := tree{"r/c.log": "4, 5, 6\n"}
	for p, c := range truth {
		if !strings.HasSuffix(p, ".gz") {
			unpacked[p] = c
		}
	}
	plainTar := tarOf(t, truth)
	half := len(plainTar) / 2
	dir := t.TempDir()
	for name, packed := range map[string][]byte{
		"x.tar": plainTar, "x.tar.gz": gz(t, plainTar), "x.tar.xz": xzip(t, plainTar),
		"x.tar.zst": append(zst(t, plainTar[:half]), zst(t, plainTar[half:])...),
		"x.zip":     zipOf(t, truth, zip.Deflate), "stored.zip": zipOf(t, truth, zip.Store),
		"in.tar": tarOf(t, tree{"in.tgz": string(gz(t, plainTar))}),
	} {
		t.Run(name, func(t *testing.T) {
			for n := range packed {
				step := memtest.Scale(3, 1)
				if len(packed) > 1000 { // mostly padding
					step = memtest.Scale(97, 29)
				}
				if n%step != 0 {
					continue
				}
				file := filepath.Join(dir, name)
				check(t, os.WriteFile(file, packed[:n], 0o644))
				for _, opt := range []Options{{}, {Stdin: bytes.NewReader(packed[:n])}} {
					arg := file
					if opt.Stdin != nil {
						arg = "-"
					}
					opt.Want = func(p string) bool { return strings.HasSuffix(p, ".log") }
					checkCut(t, scan(t, opt, arg), unpacked, n, arg == "-" || n == 0)
				}
			}
		})
	}
}

func checkCut(t *testing.T, set *Set, truth tree, n int, nameless bool) {
	t.Helper()
	whole, torn := 0, false
	for _, f := range set.Files {
		want, known := truth[strings.TrimPrefix(f.Path, "in/")]
		got, err := readCut(t, f)
		if !known || !strings.HasPrefix(want, got) {
			t.Fatalf("cut at %d: %s is not a prefix of the truth", n, f.Path)
		}
		if err == nil && got != want {
			t.Fatalf("cut at %d: %s lost %d bytes in silence", n, f.Path, len(want)-len(got))
		}
		if f.Err != nil && (!errors.Is(err, ErrDamaged) || len(set.Problems) == 0) {
			t.Fatalf("cut at %d: %s: %v, and problems %q", n, f.Path, err, problemLines(set))
		}
		if err == nil {
			whole++
		}
		torn = torn || f.Torn
	}
	if whole > 0 && whole < len(truth) && !torn {
		t.Fatalf("cut at %d: %d of %d files, and they do not say that others may be missing", n, whole, len(truth))
	}
	if whole < len(truth) && len(set.Problems) == 0 && !(nameless && n < sniffLen) {
		t.Fatalf("cut at %d: %d of %d files and no problem", n, whole, len(truth))
	}
}

func TestCutInMidMember(t *testing.T) {
	body := strings.Repeat("1234, 5678, 9\n", 1000)
	for name, packed := range map[string][]byte{
		"a.tar":     tarOf(t, tree{"x.log": body})[:5000],
		"a.tar.gz":  gz(t, tarOf(t, tree{"x.log": body})[:5000]),
		"a.tar.zst": zst(t, tarOf(t, tree{"x.log": body})[:5000]),
	} {
		set := scan(t, Options{}, write(t, t.TempDir(), name, packed))
		if len(set.Files) != 1 {
			t.Errorf("%s: %q", name, problemLines(set))
			continue
		}
		f := set.Files[0]
		got, err := readCut(t, f)
		if len(got) < 3900 || !strings.HasPrefix(body, got) || int64(len(got)) != f.Size {
			t.Errorf("%s: %d bytes, size %d", name, len(got), f.Size)
		}
		for _, err := range []error{err, f.Err} {
			if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestCutLog cuts compressed logs at every byte: what can be read is a prefix of the truth, and an error says that it
// is not all.
func TestCutLog(t *testing.T) {
	truth := strings.Repeat("1, 2, 3\n4, 5, 6\n", 40)
	bzipped, err := os.ReadFile("testdata/x.log.bz2")
	check(t, err)
	for name, packed := range map[string][]byte{
		"x.log.gz": gz(t, []byte(truth)), "x.log.zst": zst(t, []byte(truth)), "x.log.xz": xzip(t, []byte(truth)), "x.log.bz2": bzipped,
	} {
		file := write(t, t.TempDir(), name, packed)
		truth, err := readCut(t, scan(t, Options{}, file).Files[0])
		check(t, err)
		for n := len("BZh9123456"); n < len(packed); n++ {
			check(t, os.WriteFile(file, packed[:n], 0o644))
			set := scan(t, Options{}, file)
			if len(set.Files) == 0 && len(set.Problems) > 0 {
				continue
			}
			for range 2 { // the second reading may be from the spool
				if got, err := readCut(t, set.Files[0]); !strings.HasPrefix(truth, got) || !errors.Is(err, ErrDamaged) {
					t.Fatalf("%s cut at %d: %d of %d bytes, %v", name, n, len(got), len(truth), err)
				}
			}
		}
	}
}

// TestFlippedBits never panics, and members before the damage survive.
func TestFlippedBits(t *testing.T) {
	files := bench()
	for name, packed := range map[string][]byte{
		"a.tgz": gz(t, tarOf(t, files)), "a.tar": tarOf(t, files)[:9000], "a.zip": zipOf(t, files, zip.Deflate),
		"a.tar.zst": zst(t, tarOf(t, files)), "a.tar.xz": xzip(t, tarOf(t, files)),
	} {
		file := filepath.Join(t.TempDir(), name)
		for at := 0; at < len(packed); at += max(1, len(packed)/70) {
			bad := bytes.Clone(packed)
			bad[at] ^= 0x55
			check(t, os.WriteFile(file, bad, 0o644))
			set := scan(t, Options{}, file)
			for _, f := range set.Files {
				_, _ = readCut(t, f)
			}
		}
	}
}

func TestTrailingData(t *testing.T) {
	two := append(tarOf(t, tree{"x.log": "x"}), tarOf(t, tree{"y.log": "y"})...)
	for name, packed := range map[string][]byte{"a.tar": two, "a.tgz": gz(t, two), "b.tgz": append(gz(t, tarOf(t, tree{"x.log": "x"})), "junk"...)} {
		set := scan(t, Options{}, write(t, t.TempDir(), name, packed))
		if len(set.Files) != 1 || len(set.Problems) != 1 || !errors.Is(set.Problems[0], ErrDamaged) {
			t.Errorf("%s: %v %q", name, paths(set), problemLines(set))
		}
	}
}
