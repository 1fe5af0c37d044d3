package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// TestReclaim: if a quarter of the file is free, it becomes smaller, and has the same runs.
func TestReclaim(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		run := historytest.NewRun(name, "1")
		run.Documents = mapping.Documents{Cluster: 1500}
		if err := errors.Join(s.Put(t.Context(), historytest.Intervals(name, "1", 1500)), s.Finish(t.Context(), run)); err != nil {
			t.Fatal(err)
		}
	}
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for i, want := range []bool{false, true, false} { // nothing is free; then a third; then nothing again
		if i == 1 {
			if err := errors.Join(s.Delete(t.Context(), historytest.ID("b")), s.Delete(t.Context(), historytest.ID("d"))); err != nil {
				t.Fatal(err)
			}
		}
		freed, err := s.Reclaim(t.Context())
		if err != nil || freed > 0 != want {
			t.Fatalf("%d: freed %d: %v", i, freed, err)
		}
		if want && size() > 2*freed+1<<18 { // two thirds are left, a page for each table and index, and the log is empty
			t.Errorf("%d bytes are left, and %d were freed", size(), freed)
		}
	}
	counts, err := s.Count(t.Context(), nil)
	if err != nil || len(counts) != 4 || counts[historytest.ID("e")]["1"].Cluster != 1500 {
		t.Errorf("%+v, %v", counts, err)
	}
	read, err := sqlite.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if _, err := read.Reclaim(t.Context()); err == nil {
		t.Error("a file that was opened for reading")
	}
}
