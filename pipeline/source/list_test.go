package source

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// listing is a result of List.
type listing struct {
	names    []string
	infos    []fs.FileInfo
	problems []*Problem
}

func list(ctx context.Context, paths []string, opt Options) (l listing, err error) {
	l.problems, err = List(ctx, paths, opt, func(name string, info fs.FileInfo) {
		l.names, l.infos = append(l.names, name), append(l.infos, info)
	})
	return l, err
}

// checkListed fails unless List has the file on disk that each file of a scan comes from.
func checkListed(t tb, l listing, set *Set) {
	t.Helper()
	for _, f := range set.Files {
		at := slices.Index(l.names, f.Disk)
		switch {
		case f.Disk == "" && f.Root == "-":
		case at < 0:
			t.Fatalf("%s: %q is not listed", f.Name(), f.Disk)
		default:
			info, err := os.Stat(f.Disk)
			check(t, err)
			if !os.SameFile(info, l.infos[at]) {
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
	l, err := list(t.Context(), []string{filepath.Join(dir, "run")}, opt)
	check(t, err)
	var names []string
	for _, name := range l.names {
		rel, err := filepath.Rel(dir, name)
		check(t, err)
		names = append(names, filepath.ToSlash(rel))
	}
	slices.Sort(names)
	want := []string{"beside", "run/bad.tar.gz", "run/deep/z.log", "run/old.tar", "run/report", "run/x.log", "run/y.log.gz"}
	if !slices.Equal(slices.DeleteFunc(names, func(n string) bool { return n == "run/no.txt" }), want) {
		t.Errorf("listed %q, want %q", names, want)
	}
	if len(l.problems) != 1 || !errors.Is(l.problems[0], ErrLink) {
		t.Errorf("problems: %v", l.problems)
	}
}

// TestListFails: what cannot be listed is an error.
func TestListFails(t *testing.T) {
	if _, err := list(t.Context(), []string{"-"}, Options{}); !errors.Is(err, ErrPipe) {
		t.Errorf("stdin: %v", err)
	}
	if _, err := list(t.Context(), []string{os.DevNull}, Options{}); !errors.Is(err, ErrPipe) {
		t.Errorf("a device: %v", err)
	}
	if _, err := list(t.Context(), []string{filepath.Join(t.TempDir(), "none")}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := list(t.Context(), nil, Options{}); err == nil {
		t.Error("no path")
	}
}
