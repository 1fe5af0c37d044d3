package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
)

func TestSQLite(t *testing.T) {
	historytest.Run(t, func(t *testing.T) history.Store {
		return open(t, filepath.Join(t.TempDir(), "history.db"))
	})
}

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closing(t *testing.T, s *sqlite.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestFileIsPrivate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a folder", "b?c#d%20")
	path := filepath.Join(folder, "my history?.db")
	s := open(t, path)
	defer closing(t, s)
	if err := s.Put(t.Context(), historytest.Intervals("a", "1", 2)); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v: not the file, its -wal and its -shm", entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 || !strings.HasPrefix(e.Name(), "my history?.db") {
			t.Errorf("%s has rights %v, %v", e.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder has rights %v, %v", info.Mode(), err)
	}
}

func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	docs := historytest.Intervals("a", "1", 20)
	s := open(t, path)
	if err := errors.Join(s.Put(t.Context(), docs), s.Finish(t.Context(), historytest.NewRun("a", "1"))); err != nil {
		t.Fatal(err)
	}
	closing(t, s)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if leftovers, _ := filepath.Glob(path + "-*"); len(leftovers) > 0 {
		t.Errorf("closed, but there is %v", leftovers)
	}
	s = open(t, path)
	defer closing(t, s)
	n := 0
	for d, err := range s.Intervals(t.Context(), history.Selection{}) {
		if err != nil || string(d.AppendJSON(nil)) != string(docs[n].AppendJSON(nil)) {
			t.Errorf("document %d: %v", n, err)
		}
		n++
	}
	if n != len(docs) || len(before) == 0 {
		t.Errorf("%d documents", n)
	}
}

// tables returns all stored rows of documents, byte for byte.
func tables(t *testing.T, path string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT ingest || '/' || level || '/' || time || '/' || direction || '/'
		|| host || '/' || job || '/' || part || '/' || hex(doc) FROM intervals
		UNION ALL SELECT id || '/' || ingest || '/' || start || '/' || hex(doc) FROM runs`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func TestSameIngestLeavesTheSameBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path)
	defer closing(t, s)
	var first []string
	for round := range 3 {
		run := historytest.NewRun("a", "1")
		run.Ingested = run.Ingested.Add(time.Duration(round) * time.Hour)
		err := errors.Join(s.Put(t.Context(), historytest.Intervals("a", "1", 50)), s.Finish(t.Context(), run))
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			first = tables(t, path)
		}
		if diff := cmp.Diff(first, tables(t, path)); diff != "" || len(first) != 51 {
			t.Fatalf("round %d: %d rows (-want +got):\n%s", round, len(first), diff)
		}
	}
}

// TestDeletedMeanwhile: a run that another process deletes during an ingest must not become a run with missing
// documents.
func TestDeletedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s, other := open(t, path), open(t, path)
	defer closing(t, s)
	defer closing(t, other)
	ctx := t.Context()
	if err := errors.Join(s.Put(ctx, historytest.Intervals("a", "1", 3)), other.Delete(ctx, historytest.ID("a"))); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, historytest.Intervals("a", "1", 5)[3:]); !errors.Is(err, history.ErrReplaced) {
		t.Errorf("put the rest: %v", err)
	}
	if err := errors.Join(s.Put(ctx, historytest.Intervals("a", "1", 5)), s.Finish(ctx, historytest.NewRun("a", "1"))); err != nil {
		t.Errorf("another attempt: %v", err)
	}
}

func TestWrongFiles(t *testing.T) {
	folder := t.TempDir()
	other := filepath.Join(folder, "other.db")
	db, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE bookmarks (a); INSERT INTO bookmarks VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	text := filepath.Join(folder, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(folder, "newer.db")
	closing(t, open(t, newer))
	db, err = sql.Open("sqlite", newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`PRAGMA user_version = 99`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for path, want := range map[string]error{other: history.ErrDamaged, text: history.ErrDamaged, newer: history.ErrVersion} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(t.Context(), path)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), path) || s != nil {
			t.Errorf("%s: %v instead of %v", path, err, want)
		}
		if after, err := os.ReadFile(path); err != nil || string(before) != string(after) {
			t.Errorf("%s was changed, %v", path, err)
		}
	}
	if _, err := sqlite.Open(t.Context(), filepath.Join(text, "h.db")); err == nil {
		t.Error("a file as folder: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Open(ctx, filepath.Join(folder, "new.db")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path)
	err := errors.Join(s.Put(t.Context(), historytest.Intervals("a", "1", 3000)), s.Finish(t.Context(), historytest.NewRun("a", "1")))
	if err != nil {
		t.Fatal(err)
	}
	closing(t, s)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []int{len(file) / 2, len(file) * 3 / 4} {
		damaged := append([]byte(nil), file...)
		for i := from; i < from+20000; i++ {
			damaged[i] ^= 0x5a
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, path)
		var last error
		for _, err := range s.Intervals(t.Context(), history.Selection{}) {
			last = err
		}
		if !errors.Is(last, history.ErrDamaged) || !strings.Contains(last.Error(), path) {
			t.Errorf("damage at %d of %d: %v", from, len(file), last)
		}
		s.Close()
	}
}

// TestMakeCurrentTooLate: another process has replaced a version since it was looked up. The documents of the version
// that is current now stay.
func TestMakeCurrentTooLate(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := historytest.NewRun("a", "2")
	if err := errors.Join(s.Put(t.Context(), historytest.Intervals("a", "2", 10)), s.Finish(t.Context(), run),
		s.MakeCurrent(t.Context(), run.Run.ID, "1")); err != nil {
		t.Fatal(err)
	}
	if counts, err := s.Count(t.Context(), []string{run.Run.ID}); err != nil || counts[run.Run.ID]["2"].Cluster != 10 {
		t.Errorf("%v, %v", counts, err)
	}
}
