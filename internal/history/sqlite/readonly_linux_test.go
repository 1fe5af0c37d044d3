package sqlite

import (
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

// TestReadOnlyFolder: reads a history in a folder, or on a medium, that cannot be written.
func TestReadOnlyFolder(t *testing.T) {
	path := stored(t)
	folder := filepath.Dir(path)
	chmod := func(mode os.FileMode, names ...string) {
		for _, name := range names {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	for dir := folder; strings.HasPrefix(dir, os.TempDir()) && dir != os.TempDir(); dir = filepath.Dir(dir) {
		chmod(0o755, dir)
	}
	chmod(0o444, path)
	chmod(0o555, folder)
	defer chmod(0o755, folder)
	asOther(t, func() { readable(t, path) })
	chmod(0o666, path) // on a read-only medium, file rights may still allow writing
	asOther(t, func() { readable(t, path) })
	asOther(t, func() {
		if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "its folder must be writable, too") {
			t.Errorf("open to write in a folder that is not writable: %v", err)
		}
	})

	chmod(0o755, folder)
	if err := os.WriteFile(path+"-wal", []byte("changes that are not in the file"), 0o644); err != nil {
		t.Fatal(err)
	}
	chmod(0o555, folder)
	asOther(t, func() {
		_, err := OpenReadOnly(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), "copy both files to a folder of your own") {
			t.Errorf("a log that cannot be read: %v", err)
		}
	})
}
