package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asOther calls do with the rights of another user, because root may write every file.
func asOther(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	runtime.LockOSThread() // file rights belong to the thread
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Skip(err)
	}
	defer func() { _ = syscall.Setfsuid(0) }()
	do()
}

// TestReadOnlyFolder: a history in a folder, or on a medium, that cannot be written is not read, because SQLite keeps files
// beside it. The error says what to do. A history that only others may write is read.
func TestReadOnlyFolder(t *testing.T) {
	path := stored(t)
	folder := filepath.Dir(path)
	chmod := func(mode os.FileMode, name string) {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	for dir := folder; strings.HasPrefix(dir, os.TempDir()) && dir != os.TempDir(); dir = filepath.Dir(dir) {
		chmod(0o755, dir)
	}
	defer chmod(0o755, folder)
	for _, mode := range []os.FileMode{0o444, 0o666} { // on a read-only medium, file rights may still allow writing
		chmod(mode, path)
		chmod(0o555, folder)
		asOther(t, func() {
			for name, open := range map[string]func(context.Context, string) (*Store, error){"read": OpenReadOnly, "write": Open} {
				if _, err := open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) ||
					!strings.Contains(err.Error(), "copy it, and h.db-wal if that is there, to a folder of your own") {
					t.Errorf("open to %s, %v: %v", name, mode, err)
				}
			}
		})
	}
	chmod(0o444, path)
	chmod(0o777, folder)
	asOther(t, func() { readable(t, path) })
}
