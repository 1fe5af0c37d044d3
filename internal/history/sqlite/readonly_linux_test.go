package sqlite

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asOther does something as a user who may not write what is not his, which root always may.
func asOther(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	runtime.LockOSThread() // the rights for files are those of the thread
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Skip(err)
	}
	defer func() { _ = syscall.Setfsuid(0) }()
	do()
}

// TestReadOnlyFolder: a history in a folder, or on a medium, that cannot be written to.
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
	chmod(0o666, path) // as on a medium that is mounted for reading, where rights do not say it
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
