package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// TestFirstVersion: a history of an earlier version gives the same runs as it did, when it is opened for reading, which does not change it,
// and for writing, which does. A document that cannot be read stays so.
func TestFirstVersion(t *testing.T) {
	for version, tables := range map[int]string{1: `DROP TABLE summaries; CREATE TABLE lights (id TEXT)`, 2: `UPDATE summaries SET doc = x'01'`} {
		t.Run(fmt.Sprint(version), func(t *testing.T) { testEarlier(t, version, tables) })
	}
}

func testEarlier(t *testing.T, earlier int, tables string) {
	const n = 40 // many with one start
	path := filepath.Join(t.TempDir(), "h.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var want []*mapping.Run
	for i := range n {
		run := historytest.NewRun(fmt.Sprint("run", i), "1")
		run.Run.Start, run.Workload.ID = historytest.Start.Add(time.Duration(i/25)*time.Hour), fmt.Sprint("1-", i%2)
		want = append(want, run.Light())
		if err := s.Finish(t.Context(), run.Light()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.transact(t.Context(), func(tx *transaction) error {
		_, err := tx.Exec(tables+`; UPDATE runs SET doc = x'00' WHERE id = ?1; PRAGMA user_version = `+fmt.Sprint(earlier), want[7].Run.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	want = slices.Delete(want, 7, 8)
	slices.SortFunc(want, func(a, b *mapping.Run) int {
		if c := b.Run.Start.Compare(a.Run.Start); c != 0 {
			return c
		}
		return map[bool]int{true: -1, false: 1}[a.Run.ID < b.Run.ID]
	})
	for i, open := range []func() (*Store, error){
		func() (*Store, error) { return OpenReadOnly(t.Context(), path) },
		func() (*Store, error) { return Open(t.Context(), path) },
		func() (*Store, error) { return OpenReadOnly(t.Context(), path) },
	} {
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		var version, tables int
		row := s.reads.QueryRow(`SELECT user_version, (SELECT count(*) FROM sqlite_schema WHERE name = 'lights') FROM pragma_user_version`)
		if err := row.Scan(&version, &tables); err != nil || version != []int{earlier, schemaVersion, schemaVersion}[i] || i > 0 && tables > 0 {
			t.Errorf("opened %d times: version %d, %d old tables, %v", i+1, version, tables, err)
		}
		damaged := 0
		got, err := history.Collect(s.Runs(t.Context(), history.RunFilter{Light: true}), func(error) { damaged++ })
		if diff := cmp.Diff(want, got); err != nil || diff != "" || damaged != 1 {
			t.Fatalf("opened %d times: %d damaged, %v\n%s", i+1, damaged, err, diff)
		}
		of := history.RunFilter{Light: true, Where: where.OfWorkloads("odd", []string{"1-1"}, func(run *mapping.Run) bool { return run.Workload.ID == "1-1" }), Limit: n}
		got, err = history.Collect(s.Runs(t.Context(), of), nil)
		if err != nil || len(got) != n/2-1 {
			t.Errorf("opened %d times: %d of a workload, %v", i+1, len(got), err)
		}
		versions, err := s.Versions(t.Context(), []string{want[3].Run.ID, "none"})
		if err != nil || len(versions) != 1 {
			t.Errorf("opened %d times: versions %v, %v", i+1, versions, err)
		}
		s.Close()
	}
}
