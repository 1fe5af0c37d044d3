package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lookForMagic finds files that have "magic".
func lookForMagic() Options {
	return Options{
		Want: func(p string) bool { return strings.HasSuffix(p, ".log") },
		Look: Look{
			Near: func(p string) bool { return strings.HasSuffix(p, ".log") },
			Name: func(p string) bool { return !strings.Contains(p, "hash") },
			Is:   func(head []byte) bool { return bytes.Contains(head, []byte("magic")) },
			Kin:  func(p string) bool { return strings.HasSuffix(p, ".kin") },
		},
	}
}

// TestLook: what is found by content is the same however it is packed.
func TestLook(t *testing.T) {
	files := tree{
		"a/x.log": "", "a/report": "magic", "a/other": "no", "a/late": strings.Repeat(" ", lookLen-5) + "magic",
		"a/too late": strings.Repeat(" ", lookLen) + "magic", "a/hash": "magic", "a/kin.kin": "",
		"b/c/x.log": "", "b/one up": "magic", "b/c/d/below": "magic", "e/far": "magic", "top": "magic",
		"f/x.log": "", "g/x.log": "", "g/packed.gz": string(gz(t, []byte("magic"))), "g/no.gz": string(gz(t, []byte("no"))),
	}
	many := maps.Clone(files) // f has more files than are looked at
	for i := range maxLooks + 1 {
		many[fmt.Sprintf("f/%d", i)] = "magic"
	}
	want := []string{"a/late", "a/report", "a/x.log", "b/c/d/below", "b/c/x.log", "b/one up", "e/far", "f/x.log", "g/packed", "g/x.log", "top"}
	dir := t.TempDir()
	for p, content := range files {
		check(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755))
		write(t, dir, p, []byte(content))
	}
	check(t, os.Symlink("a", filepath.Join(dir, "a", "link")))
	args := map[string]string{
		"folder": dir,
		"tar":    write(t, t.TempDir(), "x.tar", tarOf(t, many)),
		"tgz":    write(t, t.TempDir(), "x.tgz", gz(t, tarOf(t, files.under("x")))),
		"zip":    write(t, t.TempDir(), "x.zip", zipOf(t, files, zip.Deflate)),
		"stored": write(t, t.TempDir(), "x.zip", zipOf(t, files.under("x"), zip.Store)),
		"in a tar": write(t, t.TempDir(), "x.tar", tarOf(t, tree{"a.tgz": string(gz(t, tarOf(t, tree{
			"x.log": "", "report": "magic", "other": "no"})))})),
	}
	for name, arg := range args {
		t.Run(name, func(t *testing.T) {
			set := scan(t, lookForMagic(), arg)
			want := want
			if name == "in a tar" {
				want = []string{"a/report", "a/x.log"}
			}
			if diff := cmp.Diff(want, paths(set)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if lines := problemLines(set); (len(lines) == 1) != (name == "tar") || len(lines) == 1 && !strings.Contains(lines[0], "f: it has 4001 files whose names do not say what they are") {
				t.Errorf("problems: %q", lines)
			}
			contents(t, set)
		})
	}
}

// TestBeside: files beside an argument may belong to it. Those of an open database are not opened, in no folder.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	for p, content := range map[string]string{
		"h.db": "magic", "h.db-shm": "magic", "h.db-wal": "magic", "run/h.db": "magic", "run/h.db-shm": "magic", "run/h.db-wal": "magic",
		"up": "magic", "up.kin": "", "up.txt": "no", "run/x.log": "log", "run/y.log": "log", "run/report.dat": "magic", "run/other": "no",
		"run/packed.gz": string(gz(t, []byte("magic"))), "run/old.tar": string(tarOf(t, tree{"z.log": "magic"})), "run/bad.gz": "magic",
		"run/tgz.gz": string(gz(t, tarOf(t, tree{"z.log": "magic"}))), "run/below/deep": "magic", "other/x.log": "",
	} {
		check(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755))
		write(t, dir, p, []byte(content))
	}
	check(t, os.Symlink("report.dat", filepath.Join(dir, "run", "link")))
	opt := lookForMagic()
	opt.Beside, opt.Named = true, true
	in := func(p ...string) string { return filepath.Join(append([]string{dir}, p...)...) }
	tests := []struct {
		name string
		args []string
		want []string // + for what is beside
	}{
		{"a log", []string{in("run", "x.log")}, []string{"run/x.log", "+run/packed", "+run/report.dat", "+up", "+up.kin"}},
		{"two logs", []string{in("run", "x.log"), in("run", "y.log")},
			[]string{"run/x.log", "+run/packed", "+run/report.dat", "+up", "+up.kin", "run/y.log"}},
		{"a log and its report", []string{in("run", "x.log"), in("run", "report.dat")},
			[]string{"run/x.log", "+run/packed", "+up", "+up.kin", "run/report.dat"}},
		{"a folder with logs", []string{in("run")}, []string{"run/below/deep", "run/old/z.log", "run/packed", "run/report.dat", "run/tgz/z.log", "run/x.log", "run/y.log", "+up", "+up.kin"}},
		{"a folder above those of logs", []string{dir}, []string{"other/x.log", "run/below/deep", "run/old/z.log", "run/packed", "run/report.dat", "run/tgz/z.log", "run/x.log", "run/y.log", "up"}},
		{"any name", []string{in("up.txt")}, []string{"up.txt", "+up", "+up.kin"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := Scan(t.Context(), tt.args, opt)
			check(t, err)
			defer set.Close()
			l, err := list(t.Context(), tt.args, opt)
			check(t, err)
			checkListed(t, l, set)
			var got []string
			for _, f := range set.Files {
				root := f.Root
				if f.Named {
					root = filepath.Dir(root)
				}
				rel, err := filepath.Rel(dir, filepath.Join(root, f.Path))
				check(t, err)
				if f.Beside {
					rel = "+" + rel
				}
				if !strings.Contains(rel, "../") { // of the folder around this test's own
					got = append(got, rel)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			for _, p := range set.Problems {
				if tt.args[0] != dir && tt.args[0] != in("run") || !strings.Contains(p.Name, "bad.gz") {
					t.Errorf("problem: %v", p)
				}
			}
			contents(t, set)
		})
	}
}

func TestNamed(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "any name", []byte("text"))
	packed := write(t, dir, "any.gz", gz(t, []byte("text")))
	opt := Options{Want: func(string) bool { return false }, Stdin: strings.NewReader("text")}
	if set := scan(t, opt, file, packed, "-"); len(set.Files) != 0 {
		t.Errorf("without Named: %v", paths(set))
	}
	opt.Named, opt.Stdin = true, strings.NewReader("text")
	set := scan(t, opt, file, packed, "-")
	if diff := cmp.Diff([]string{"any name", "any", "stdin"}, paths(set)); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	for _, f := range set.Files {
		if !f.Named || f.Beside {
			t.Errorf("%s: named %v, beside %v", f.Path, f.Named, f.Beside)
		}
	}
	set = scan(t, Options{Named: true}, dir)
	for _, f := range set.Files {
		if f.Named {
			t.Errorf("%s: named, but its folder was", f.Path)
		}
	}
}

// TestModTime: the time of change comes through from every packing, as finely as it has.
func TestModTime(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
	second := at.Truncate(time.Second)
	tarred := func(format tar.Format, at time.Time) []byte {
		return tarWith(t, tree{"x.log": "x"}, &tar.Header{Name: "x.log", Mode: 0o644, Typeflag: tar.TypeReg, ModTime: at, Format: format})
	}
	zipped := func(h zip.FileHeader) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		h.Name = "x.log"
		_, err := w.CreateHeader(&h)
		check(t, err)
		check(t, w.Close())
		return b.Bytes()
	}
	dos := func(b []byte) []byte { // 2024-05-06 07:08:08, in both headers
		for _, magic := range []struct {
			text string
			at   int
		}{{"PK\x03\x04", 10}, {"PK\x01\x02", 12}} {
			i := bytes.Index(b, []byte(magic.text)) + magic.at
			binary.LittleEndian.PutUint16(b[i:], 7<<11|8<<5|4)
			binary.LittleEndian.PutUint16(b[i+2:], 44<<9|5<<5|6)
		}
		return b
	}
	folder := write(t, t.TempDir(), "x.log", nil)
	check(t, os.Chtimes(folder, at, at))
	modified := zipped(zip.FileHeader{Modified: at})
	tests := []struct {
		name, file string
		body       []byte
		at         time.Time
		step       time.Duration
		local      bool
	}{
		{"folder", "", nil, at, 0, false},
		{"pax", "a.tar", tarred(tar.FormatPAX, at), at, 0, false},
		{"ustar", "a.tar", tarred(tar.FormatUSTAR, second), second, time.Second, false},
		{"gnu, compressed", "a.tgz", gz(t, tarred(tar.FormatGNU, second)), second, time.Second, false},
		{"a tar without times", "a.tar", tarred(tar.FormatUSTAR, time.Unix(0, 0)), time.Time{}, 0, false},
		{"zip", "a.zip", modified, second, time.Second, false},
		{"a zip of DOS", "a.zip", dos(zipped(zip.FileHeader{})), second.Add(-time.Second), 2 * time.Second, true},
		{"a zip of DOS with an empty field of Unix", "a.zip", dos(zipped(zip.FileHeader{Extra: []byte{0x55, 0x54, 1, 0, 0}})), second.Add(-time.Second), 2 * time.Second, true},
		{"a zip of DOS with an empty field of NTFS", "a.zip", dos(zipped(zip.FileHeader{Extra: []byte{0x0a, 0, 4, 0, 0, 0, 0, 0}})), second.Add(-time.Second), 2 * time.Second, true},
		{"a zip without times", "a.zip", zipped(zip.FileHeader{}), time.Time{}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			arg := folder
			if tt.file != "" {
				arg = write(t, t.TempDir(), tt.file, tt.body)
			}
			set, err := Scan(t.Context(), []string{arg}, Options{})
			check(t, err)
			defer set.Close()
			if len(set.Files) != 1 {
				t.Fatalf("%d files, problems %q", len(set.Files), problemLines(set))
			}
			f := set.Files[0]
			if !f.ModTime.Equal(tt.at) || f.ModStep != tt.step || f.ModLocal != tt.local {
				t.Errorf("%v ± %v, local %v; want %v ± %v, local %v", f.ModTime, f.ModStep, f.ModLocal, tt.at, tt.step, tt.local)
			}
		})
	}
}
