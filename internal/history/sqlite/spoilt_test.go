package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
)

// TestSpoiltFile: after any call has found damage in the file, nothing is written to it.
func TestSpoiltFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path)
	if err := errors.Join(s.Put(t.Context(), historytest.Intervals("a", "1", 3000)), s.Finish(t.Context(), historytest.NewRun("a", "1"))); err != nil {
		t.Fatal(err)
	}
	closing(t, s)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(file) / 2; i < len(file)/2+60_000; i++ {
		file[i] ^= 0x5a
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	var last error
	for _, err := range s.Intervals(t.Context(), history.Selection{}) {
		last = err
	}
	if !errors.Is(last, history.ErrDamaged) || !strings.Contains(last.Error(), "fio2es check") {
		t.Errorf("read: %v", last)
	}
	err = s.Put(t.Context(), historytest.Intervals("b", "1", 3))
	if !errors.Is(err, history.ErrDamaged) || !strings.Contains(err.Error(), "nothing more is written") {
		t.Errorf("write after damage was found: %v", err)
	}
	s.Close()
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, file) {
		t.Errorf("the damaged file was changed, %v", err)
	}
}
