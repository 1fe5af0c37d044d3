package source

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// checkListed fails unless List has the file on disk that each file of a scan comes from.
func checkListed(t tb, l *Listing, set *Set) {
	t.Helper()
	for _, f := range set.Files {
		at := slices.IndexFunc(l.Files, func(f2 Listed) bool { return f2.Name == f.Disk })
		switch {
		case f.Disk == "" && f.Root == "-":
		case at < 0:
			t.Fatalf("%s: %q is not listed", f.Name(), f.Disk)
		default:
			info, err := os.Stat(f.Disk)
			check(t, err)
			if !os.SameFile(info, l.Files[at].Info) {
				t.Fatalf("%s is another file than what is listed", f.Disk)
			}
		}
	}
}

// TestList: List has exactly the files that a scan would look into, and opens none.
func TestList(t *testing.T) {
	dir := t.TempDir()
	check(t, os.MkdirAll(filepath.Join(dir, "run", "deep"), 0o755))
	for p, content := range map[string]string{
		"run/x.log": "log", "run/y.log.gz": string(gz(t, []byte("log"))), "run/deep/z.log": "log", "run/old.tar": string(tarOf(t, tree{"z.log": "log"})),
		"run/report": "magic", "run/no.txt": "no", "run/bad.tar.gz": "bad", "beside": "magic",
	} {
		write(t, dir, p, []byte(content))
	}
	check(t, os.Symlink("x.log", filepath.Join(dir, "run", "link.log")))
	opt := lookForMagic()
	opt.Beside, opt.Named = true, true
	for _, f := range []string{"x.log", "report", "bad.tar.gz"} { // reading them would fail or block
		if os.Geteuid() != 0 {
			check(t, os.Chmod(filepath.Join(dir, "run", f), 0))
		}
	}
	l, err := List(t.Context(), []string{filepath.Join(dir, "run")}, opt)
	check(t, err)
	var names []string
	for _, f := range l.Files {
		rel, err := filepath.Rel(dir, f.Name)
		check(t, err)
		names = append(names, filepath.ToSlash(rel))
	}
	slices.Sort(names)
	want := []string{"beside", "run/bad.tar.gz", "run/deep/z.log", "run/old.tar", "run/report", "run/x.log", "run/y.log.gz"}
	if !slices.Equal(slices.DeleteFunc(names, func(n string) bool { return n == "run/no.txt" }), want) {
		t.Errorf("listed %q, want %q", names, want)
	}
	if len(l.Problems) != 1 || !errors.Is(l.Problems[0], ErrLink) {
		t.Errorf("problems: %v", l.Problems)
	}
}

// TestListFails: what cannot be listed is an error.
func TestListFails(t *testing.T) {
	if _, err := List(t.Context(), []string{"-"}, Options{}); !errors.Is(err, ErrPipe) {
		t.Errorf("stdin: %v", err)
	}
	if _, err := List(t.Context(), []string{os.DevNull}, Options{}); !errors.Is(err, ErrPipe) {
		t.Errorf("a device: %v", err)
	}
	if _, err := List(t.Context(), []string{filepath.Join(t.TempDir(), "none")}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := List(t.Context(), nil, Options{}); err == nil {
		t.Error("no path")
	}
}
