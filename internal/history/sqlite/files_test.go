package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// oldHistory returns the path of a history made by version 1: three runs, each stored under two names.
func oldHistory(t *testing.T) string {
	t.Helper()
	all := golden.Gunzip(t, filepath.Join("..", "..", "..", "testdata", "histories", "version-1.db.gz"))
	path := filepath.Join(t.TempDir(), "history.db")
	if err := os.WriteFile(path, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func listed(t *testing.T, s *sqlite.Store) []*mapping.Run { return read(t, s, history.RunFilter{}) }

func read(t *testing.T, s *sqlite.Store, f history.RunFilter) []*mapping.Run {
	t.Helper()
	var runs []*mapping.Run
	for run, err := range s.Runs(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	return runs
}

// TestUpgrade: after an old file was opened, its runs are found by their files.
func TestUpgrade(t *testing.T) {
	path := oldHistory(t)
	for _, want := range []int{6, 0} {
		s := open(t, path)
		if got := s.Upgraded(); got != want {
			t.Errorf("%d runs brought up to date, want %d", got, want)
		}
		for _, run := range listed(t, s) {
			same, err := s.Holding(t.Context(), run.Source.Hashes())
			if err != nil || len(same) != 2 {
				t.Errorf("%s: in %d runs, %v", run.Run.ID, len(same), err)
			}
			for _, other := range same {
				if !mapping.SameExecution(&run.Source, &other.Source) || mapping.RunID(&run.Source) != mapping.RunID(&other.Source) {
					t.Errorf("%s and %s are not the same", run.Run.ID, other.Run.ID)
				}
			}
		}
		if sharing, err := s.Sharing(t.Context()); err != nil || len(sharing) != 6 {
			t.Errorf("%d runs share files, %v", len(sharing), err)
		}
		var brief []*mapping.Run
		for _, run := range listed(t, s) {
			brief = append(brief, run.Brief())
		}
		if diff := cmp.Diff(brief, read(t, s, history.RunFilter{Brief: true})); diff != "" || len(brief) != 6 {
			t.Errorf("%d brief runs (-want +got):\n%s", len(brief), diff)
		}
		closing(t, s)
	}
}

// TestUpgradeSkipsDamage: a damaged document does not prevent the upgrade of the others.
func TestUpgradeSkipsDamage(t *testing.T) {
	path := oldHistory(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE runs SET doc = x'00' WHERE id LIKE '0d31001a%'`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	defer closing(t, s)
	if got := s.Upgraded(); got != 5 {
		t.Errorf("%d runs brought up to date, want 5", got)
	}
	if sharing, err := s.Sharing(t.Context()); err != nil || len(sharing) != 4 {
		t.Errorf("%d runs share files, %v", len(sharing), err)
	}
}
