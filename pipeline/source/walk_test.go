package source

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// A folder that is removed before it is listed is a problem of that folder, and the scan continues.
func TestFolderRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open folder cannot be removed")
	}
	dir := filepath.Join(t.TempDir(), "removed")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	s := newScanner(t.Context(), Options{}, nil)
	if s.walk(readFolder(root, ".", false), origin{root: dir}, "", 0); s.ended() || len(s.problemList()) != 1 {
		t.Errorf("%v, problems %v", s.fatal, s.problemList())
	}
}

// TestAhead: folders are scanned in order, and where a scan ends early, those that were listed ahead are closed. Each has a folder, so it
// stays open until then.
func TestAhead(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 20 {
		name := string(rune('a'+i)) + "/below/f.log"
		want = append(want, name)
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(dir, name), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("the system does not list open files")
		}
		return len(entries)
	}
	before := open()
	for _, most := range []int{20, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		var got []string
		l, err := list(ctx, []string{dir}, Options{Want: func(name string) bool {
			if got = append(got, name); len(got) == most {
				cancel()
			}
			return true
		}})
		if err == nil || !slices.Equal(got, want[:most]) || l.problems != nil {
			t.Errorf("%v, %q", err, got)
		}
		cancel()
	}
	if after := open(); after != before {
		t.Errorf("%d open files, %d before", after, before)
	}
}
