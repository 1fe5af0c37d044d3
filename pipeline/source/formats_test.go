package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// packedBench is the same run packed in many ways, and with each log packed.
func packedBench(t *testing.T) (cases map[string][]byte, loose tree) {
	want := bench()
	deep := want.under("a")
	nest := func(files tree, name string, packed []byte) []byte {
		out := tree{name: string(packed)}
		for p, c := range files {
			if !strings.HasPrefix(p, "results/") {
				out[p] = c
			}
		}
		return tarOf(t, out)
	}
	inner := tree{}
	for p, c := range want {
		if rest, ok := strings.CutPrefix(p, "results/"); ok {
			inner[rest] = c
		}
	}
	loose = tree{"benchmark_config.yaml": want["benchmark_config.yaml"]}
	for p, c := range want {
		if strings.HasSuffix(p, ".log") {
			loose[p+".gz"] = string(gz(t, []byte(c)))
		}
	}
	full := tarOf(t, inner.under("results"))
	cases = map[string][]byte{
		"a.tar":            tarOf(t, deep),
		"a.tar.gz":         gz(t, tarOf(t, deep)),
		"a.tgz":            gz(t, tarOf(t, want)),
		"a.tar.zst":        zst(t, tarOf(t, deep)),
		"a.tar.xz":         xzip(t, tarOf(t, want.under("./a"))),
		"a.zip":            zipOf(t, deep, zip.Deflate),
		"a":                zipOf(t, want, zip.Store),
		"tar in tar":       nest(want, "results.tar", tarOf(t, inner)),
		"tar in tar, top":  nest(want, "results.tar", full),
		"tgz in tar":       nest(want, "results.tgz", gz(t, full)),
		"tgz in tgz":       gz(t, nest(want, "results.tgz", gz(t, full))),
		"zip in tar.zst":   zst(t, nest(want, "results.zip", zipOf(t, inner, zip.Deflate))),
		"tar in zip":       zipOf(t, tree{"benchmark_config.yaml": "runs: 3\n", "results.tar": string(full)}, zip.Store),
		"tar.xz in zip":    zipOf(t, tree{"benchmark_config.yaml": "runs: 3\n", "results.tar.xz": string(xzip(t, full))}, zip.Deflate),
		"gz logs in tar":   tarOf(t, loose),
		"gz logs in zip":   zipOf(t, loose, zip.Deflate),
		"gz logs stored":   zipOf(t, loose, zip.Store),
		"gz logs in tgz":   gz(t, tarOf(t, loose)),
		"gz of gz of tar":  gz(t, gz(t, tarOf(t, want))),
		"frames of zstd":   append(zst(t, tarOf(t, want)[:700]), zst(t, tarOf(t, want)[700:])...),
		"members of gzip":  append(gz(t, tarOf(t, want)[:700]), gz(t, tarOf(t, want)[700:])...),
		"skippable before": append([]byte("\x5e\x2a\x4d\x18\x02\x00\x00\x00hi"), zst(t, tarOf(t, deep))...),
	}
	zstdZip(t, cases)
	return cases, loose
}

// TestSamePathsPackedOrNot is the promise the package makes.
func TestSamePathsPackedOrNot(t *testing.T) {
	want := bench()
	deep := want.under("a")
	cases, loose := packedBench(t)
	for name, packed := range cases {
		file := "a.tar"
		if strings.HasPrefix(name, "a") {
			file = name
		}
		t.Run(name, func(t *testing.T) {
			t.Run("file", func(t *testing.T) {
				set := scan(t, Options{}, write(t, t.TempDir(), file, packed))
				checkBench(t, set, want, "a")
			})
			t.Run("stdin", func(t *testing.T) {
				set := scan(t, Options{Stdin: bytes.NewReader(packed)}, "-")
				if cut := deep; len(set.Files) > 0 && strings.HasPrefix(set.Files[0].Path, "a/") {
					checkBench(t, set, cut, "stdin")
					return
				}
				checkBench(t, set, want, "stdin")
			})
			t.Run("in folder", func(t *testing.T) {
				dir := t.TempDir()
				write(t, dir, "top/"+file, packed)
				checkBench(t, scan(t, Options{}, filepath.Join(dir, "top")), deep, "top")
			})
		})
	}
	t.Run("folder", func(t *testing.T) {
		dir := writeTree(t, t.TempDir(), deep)
		checkBench(t, scan(t, Options{}, filepath.Join(dir, "a")+"/"), want, "a")
		t.Chdir(filepath.Join(dir, "a"))
		checkBench(t, scan(t, Options{}, "."), want, "a")
	})
	t.Run("folder of gz logs", func(t *testing.T) {
		dir := writeTree(t, t.TempDir(), loose.under("a"))
		checkBench(t, scan(t, Options{}, filepath.Join(dir, "a")), want, "a")
	})
}

// zstdZip adds the one case that the standard writer cannot write.
func zstdZip(t *testing.T, cases map[string][]byte) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	for _, name := range bench().names() {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zstd.ZipMethodWinZip})
		check(t, err)
		check(t, second(f.Write([]byte(bench()[name]))))
	}
	check(t, w.Close())
	cases["zstd in a.zip"] = b.Bytes()
}

func checkBench(t *testing.T, set *Set, want tree, archive string) {
	t.Helper()
	if lines := problemLines(set); lines != nil {
		t.Errorf("problems: %q", lines)
	}
	if diff := cmp.Diff(want, contents(t, set)); diff != "" {
		t.Errorf("contents (-want +got):\n%.2000s", diff)
	}
	for _, f := range set.Files {
		if f.Archive != archive {
			t.Errorf("%s: archive %q, want %q", f.Name(), f.Archive, archive)
		}
		if content(t, f) != want[f.Path] {
			t.Errorf("%s: differs when read again", f.Name())
		}
		for _, n := range []int{1, 7, 100, 1 << 20} {
			end, err := f.End(int64(n))
			if text := want[f.Path]; err != nil || string(end) != text[max(len(text)-n, 0):] {
				t.Errorf("%s: its last %d bytes: %q, %v", f.Name(), n, end, err)
			}
		}
	}
}

func TestFixtures(t *testing.T) {
	body := strings.Repeat("1, 2, 3\n", 50)
	for name, want := range map[string]tree{
		"testdata/a.tar.bz2": {"x.log": body, "sub/y.log": body},
		"testdata/a.v7.tar":  {"a/x.log": body, "a/sub/y.log": body},
		"testdata/x.log.bz2": {"x.log": body},
	} {
		set := scan(t, Options{}, name)
		if diff := cmp.Diff(want, contents(t, set)); diff != "" || len(set.Problems) > 0 {
			t.Errorf("%s: %v %s", name, problemLines(set), diff)
		}
	}
}

// A file that is compressed twice with codecs that are unpacked once waits for itself, unless the outer one is unpacked first.
func TestCompressedTwice(t *testing.T) {
	const text = "1, 2, 3\n"
	set := scan(t, Options{}, write(t, t.TempDir(), "x.log.zst.zst", zst(t, zst(t, []byte(text)))))
	done := make(chan tree)
	go func() { done <- contents(t, set) }()
	select {
	case got := <-done:
		if diff := cmp.Diff(tree{"x.log": text}, got); diff != "" || len(set.Problems) > 0 {
			t.Errorf("%v %s", problemLines(set), diff)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the file is never read")
	}
}

// TestPlain is what must not be taken for anything else.
func TestPlain(t *testing.T) {
	chunk := "\x78\x9c\x03\x00\x00\x00\x00\x01" // zlib, as fio writes it
	for name, body := range map[string]string{
		"text": "1, 2, 3\n", "json": `{"a": 1}`, "nothing": "", "zlib": chunk, "bzh": "BZh1 is how this line begins",
		"almost gzip": "\x1f\x8b", "zeros": strings.Repeat("\x00", 2048), "spaces": strings.Repeat(" ", 2048),
		"pk": "PK or not", "digits": strings.Repeat("0000000 ", 200), "long": strings.Repeat("x\x00", 4000),
	} {
		for _, how := range []string{"file", "folder", "stdin", "tar", "tgz"} {
			opt, dir, arg, want := Options{}, t.TempDir(), "", tree{"x.fz": body}
			switch how {
			case "file":
				arg = write(t, dir, "x.fz", []byte(body))
			case "folder":
				write(t, dir, "x.fz", []byte(body))
				arg = dir
			case "stdin":
				arg, want = "-", tree{"stdin": body}
				opt.Stdin = strings.NewReader(body)
			case "tar":
				arg = write(t, dir, "a.tar", tarOf(t, tree{"x.fz": body}))
			case "tgz":
				arg = write(t, dir, "a.tgz", gz(t, tarOf(t, tree{"x.fz": body})))
			}
			set := scan(t, opt, arg)
			if diff := cmp.Diff(want, contents(t, set)); diff != "" || len(set.Problems) > 0 {
				t.Errorf("%s as %s: %v %s", name, how, problemLines(set), diff)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	dir := t.TempDir()
	body := []byte("1, 2, 3\n")
	plainFile := write(t, dir, "run/x.log", body)
	packed := write(t, dir, "run/y.log.zst", zst(t, body))
	check(t, os.Symlink(plainFile, filepath.Join(dir, "link.log")))
	check(t, os.Symlink(filepath.Join(dir, "run"), filepath.Join(dir, "latest")))
	for _, c := range []struct{ arg, archive, path string }{
		{plainFile, "run", "x.log"},
		{packed, "run", "y.log"},
		{filepath.Join(dir, "link.log"), filepath.Base(dir), "link.log"},
		{filepath.Join(dir, "ru?", "x*"), "run", "x.log"},
	} {
		set := scan(t, Options{}, c.arg)
		if len(set.Files) != 1 {
			t.Errorf("%s: %v", c.arg, paths(set))
			continue
		}
		f := set.Files[0]
		got := []string{f.Archive, f.Path, content(t, f)}
		if diff := cmp.Diff([]string{c.archive, c.path, string(body)}, got); diff != "" {
			t.Errorf("%s: %s", c.arg, diff)
		}
	}
	set := scan(t, Options{}, filepath.Join(dir, "latest"), plainFile)
	if diff := cmp.Diff([]string{"x.log", "y.log", "x.log"}, paths(set)); diff != "" {
		t.Error(diff)
	}
	if f := set.Files[1]; f.Archive != "latest" || f.Size != -1 || f.ModTime.IsZero() || f.Root != filepath.Join(dir, "latest") {
		t.Errorf("%+v", f)
	}
}

func TestNaturalOrderAndNames(t *testing.T) {
	when := time.Unix(1_600_000_000, 0)
	files := tree{}
	var hdrs []*tar.Header
	for _, name := range []string{"r/output.10.log", "r/output.2.log", "r-1/x.log", "r/02/x.log", "r/1/x.log"} {
		files[name] = name
		hdrs = append(hdrs, &tar.Header{Name: name, Typeflag: tar.TypeReg, ModTime: when})
	}
	inner := gz(t, tarWith(t, files, hdrs...))
	arg := write(t, t.TempDir(), "a.tar.zst", zst(t, tarOf(t, tree{"in.tgz": string(inner)})))
	set := scan(t, Options{}, arg)
	want := []string{"in/r/1/x.log", "in/r/02/x.log", "in/r/output.2.log", "in/r/output.10.log", "in/r-1/x.log"}
	if diff := cmp.Diff(want, paths(set)); diff != "" {
		t.Error(diff)
	}
	if got, want := set.Files[0].Name(), arg+"!in.tgz/r/1/x.log"; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
	if !set.Files[0].ModTime.Equal(when) {
		t.Errorf("time %v", set.Files[0].ModTime)
	}
}

func TestWantSparesWork(t *testing.T) {
	want := func(p string) bool { return strings.HasSuffix(p, ".log") }
	files := bench()
	files["results/x.log.gz"] = string(gz(t, []byte("packed\n")))
	files["results/unwanted.gz"] = string(gz(t, []byte("no\n")))
	files["more.tgz"] = string(gz(t, tarOf(t, tree{"deep.log": "deep\n", "deep.txt": "no\n"})))
	truth := tree{"results/x.log": "packed\n", "more/deep.log": "deep\n"}
	for p, c := range files {
		if want(p) {
			truth[p] = c
		}
	}
	dir := t.TempDir()
	for _, arg := range []string{
		filepath.Join(writeTree(t, dir, files.under("a")), "a"),
		write(t, dir, "a.tar", tarOf(t, files.under("a"))),
		write(t, dir, "a.tar.gz", gz(t, tarOf(t, files.under("a")))),
		write(t, dir, "a.zip", zipOf(t, files, zip.Deflate)),
	} {
		set := scan(t, Options{Want: want}, arg)
		if diff := cmp.Diff(truth, contents(t, set)); diff != "" || len(set.Problems) > 0 {
			t.Errorf("%s: %v %.1000s", arg, problemLines(set), diff)
		}
	}
}

// TestWantOnTheFinalPath needs a path that is known only at the end.
func TestWantOnTheFinalPath(t *testing.T) {
	for _, c := range []struct {
		last string
		want []string
	}{{"a/z.log", []string{"x.log", "z.log"}}, {"z.log", []string{"z.log"}}} {
		files := tree{"a/x.log": "x", c.last: "z"}
		arg := write(t, t.TempDir(), "a.tgz", gz(t, tarOf(t, files)))
		set := scan(t, Options{Want: func(p string) bool { return !strings.Contains(p, "/") }}, arg)
		if diff := cmp.Diff(c.want, paths(set)); diff != "" {
			t.Errorf("with %s: %s", c.last, diff)
		}
	}
}

func TestProgress(t *testing.T) {
	arg := write(t, t.TempDir(), "a.tgz", gz(t, tarOf(t, bench())))
	var last Progress
	scan(t, Options{Progress: func(p Progress) { last = p }}, arg)
	if last.Files != len(bench()) || last.Bytes == 0 {
		t.Errorf("%+v", last)
	}
}
