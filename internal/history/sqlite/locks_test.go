package sqlite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLocksOfProcess: while a transaction writes, another process cannot begin one, even after this process has looked
// at the file and opened the history again. If this process closed a descriptor of the file or of "-shm", it would lose
// the locks of SQLite, and both would write.
func TestLocksOfProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rival := func(when, want string) {
		t.Helper()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "FIO2ES_TEST_RIVAL="+path)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: another process began to write: %s, %v; want %s", when, out, err, want)
		}
	}
	err = s.transact(t.Context(), func(*transaction) error {
		rival("begun", "database is locked")
		if err := s.checkPlace(); err != nil {
			return err
		}
		rival("after checkPlace", "database is locked")
		again, err := OpenReadOnly(t.Context(), path)
		if err != nil {
			return err
		}
		defer again.Close()
		rival("after another opening", "database is locked")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rival("committed", "<nil>")
}
