package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// stored returns the path of a closed history of one run with two documents.
func stored(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "folder", "h.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	docs := realistic(2)
	run := &mapping.Run{Documents: mapping.Documents{Cluster: 2}}
	run.Run.ID, run.Run.Ingest, run.Run.Start = docs[0].Run.ID, docs[0].Run.Ingest, docs[0].Run.Start
	run.Source.List = []mapping.SourceFile{{Path: "output.0", Role: mapping.RoleReport, Bytes: 9, Hash: "0123456789abcdef"}}
	if err := errors.Join(s.Put(t.Context(), docs), s.Finish(t.Context(), run), s.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func readable(t *testing.T, path string) {
	t.Helper()
	wait(t, 50*time.Millisecond)
	s, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	for _, err := range s.Intervals(t.Context(), history.Selection{Level: realistic(1)[0].Level}) {
		if err != nil {
			t.Error(err)
		}
		n++
	}
	held, err := s.Holding(t.Context(), []string{"0123456789abcdef"}, nil)
	if err != nil || len(held) != 1 || n != 2 {
		t.Errorf("%d runs, %d documents, %v; want 1 and 2", len(held), n, err)
	}
	if err := s.Put(t.Context(), realistic(1)); !errors.Is(err, errReadOnly) {
		t.Errorf("put to what is read: %v", err)
	}
}

func filesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestReadingCreatesNothing(t *testing.T) {
	path := stored(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	readable(t, path)
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("reading changed the file, %v", err)
	}
	if names := filesIn(t, filepath.Dir(path)); len(names) != 1 {
		t.Errorf("reading left %v", names)
	}
	missing := filepath.Join(t.TempDir(), "mistyped", "h.db")
	if s, err := OpenReadOnly(t.Context(), missing); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) || s != nil {
		t.Errorf("no file: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(missing)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("reading created a folder")
	}
	empty := filepath.Join(t.TempDir(), "h.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(t.Context(), empty); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := OpenReadOnly(t.Context(), t.TempDir()); !errors.Is(err, history.ErrDamaged) {
		t.Errorf("a folder: %v", err)
	}
}

// TestReadingBesideWriter: a writer takes longer than readers wait.
func TestReadingBesideWriter(t *testing.T) {
	path := stored(t)
	writer, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	err = writer.transact(t.Context(), func(*transaction) error {
		readable(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFullFile: if the file cannot grow, the error says what to do.
func TestFullFile(t *testing.T) {
	s, err := Open(t.Context(), stored(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// SQLite raises this to the present size
	if _, err := s.writes.Exec(`PRAGMA max_page_count = 1`); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), realistic(2000)); err == nil || !strings.Contains(err.Error(), "free room on its disk") {
		t.Error(err)
	}
}

// TestReplacedFile: after the file was removed or replaced, nothing is read from it or written to it. Its runs would
// be old, and new runs would be lost.
func TestReplacedFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files are neither removed nor replaced")
	}
	replace := func(path string) error {
		return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
	}
	for name, change := range map[string]func(path string) error{"removed": os.Remove, "replaced": replace} {
		for kind, open := range map[string]func(context.Context, string) (*Store, error){"reader": OpenReadOnly, "writer": Open} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				path := stored(t)
				s, err := open(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				id := realistic(1)[0].Run.ID
				if _, err := s.Run(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				if err := change(path); err != nil {
					t.Fatal(err)
				}
				want := func(verb string, err error) {
					if err == nil || !strings.Contains(err.Error(), "while it was open: start again") {
						t.Errorf("%s: %v", verb, err)
					}
				}
				_, err = s.Run(t.Context(), id)
				want("read a run", err)
				for _, last := range s.Runs(t.Context(), history.RunFilter{}) {
					err = last
				}
				want("list runs", err)
				_, err = s.Count(t.Context(), []string{id})
				want("count", err)
				if kind == "writer" {
					want("store", s.Put(t.Context(), realistic(2)))
					want("remove", s.Delete(t.Context(), id))
				}
			})
		}
	}
}

// TestEmptyLog: a writer that ends leaves no log, even if others have the file open. Otherwise SQLite would apply
// the log to a file that is copied over this one.
func TestEmptyLog(t *testing.T) {
	path := stored(t)
	s, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), realistic(1)[0].Run.ID); err != nil {
		t.Fatal(err)
	}
	w, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Put(t.Context(), realistic(3)), w.Close()); err != nil {
		t.Fatal(err)
	}
	if log, err := os.ReadFile(path + "-wal"); err != nil || len(log) > 0 {
		t.Errorf("a log of %d bytes, %v", len(log), err)
	}
	if _, err := s.Run(t.Context(), realistic(1)[0].Run.ID); err != nil {
		t.Error(err)
	}
}
