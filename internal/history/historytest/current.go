package historytest

import (
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Versions are those of finished runs, as they are now.
func testVersions(t *testing.T, s history.Store) {
	versions := func(ids ...string) map[string]*mapping.Run {
		t.Helper()
		all, err := s.Versions(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	a, b, c := ID("a"), ID("b"), ID("c")
	if all := versions(a, b); len(all) > 0 {
		t.Errorf("before the first run: %v", all)
	}
	put(t, s, Intervals("a", "1", 2)...)
	finish(t, s, NewRun("a", "1"), NewRun("b", "1"))
	put(t, s, Intervals("c", "1", 2)...)
	finish(t, s, NewRun("b", "2"))
	all := versions(b, a, c, "none")
	if len(all) != 2 || all[a].Run.Ingest != "1" || all[b].Run.Ingest != "2" || all[a].Documents.Cluster == 0 || all[a].Run.Labels["run"] != "a" {
		t.Errorf("versions: %v", all)
	}
	if err := s.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if all := versions(a, b); len(all) != 1 || all[b] == nil {
		t.Errorf("after a was removed: %v", all)
	}
	if all := versions(); len(all) > 0 {
		t.Errorf("of no runs: %v", all)
	}
}
