package source

import (
	"os"
	"path/filepath"
	"runtime"
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
	if s.walk(root, origin{root: dir}, "", 0); s.ended() || len(s.problemList()) != 1 {
		t.Errorf("%v, problems %v", s.fatal, s.problemList())
	}
}
