package historytest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// testMark: a run keeps its changes until other changes, or another version of the run, are stored.
func testMark(t *testing.T, s history.Store) {
	m, ok := s.(history.Marker)
	if !ok {
		t.Skip("it keeps no changes")
	}
	changes := []mapping.Change{
		{Direction: "write", Metric: "p99_9", Verdict: "worse", Before: 2980, After: 3570.5, Percent: 19.8, BeforeRun: ID("b"), Text: "p99.9 of writes 3.57ms, was 2.98ms"},
		{Direction: "write", Metric: "iops", Verdict: "worse", Before: 1000, After: 834, Percent: -16.6, BeforeRun: ID("b"), Text: "IOPS"},
	}
	finish(t, s, NewRun("a", "1"), NewRun("b", "1"))
	mark := func(of map[string][]mapping.Change) {
		t.Helper()
		if err := m.Mark(t.Context(), of); err != nil {
			t.Fatal(err)
		}
	}
	has := func(name string, want []mapping.Change) {
		t.Helper()
		got, err := s.Run(t.Context(), ID(name))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, want, got.Changes, "%s", name)
		for _, run := range collect(t, s.Runs(t.Context(), history.RunFilter{Light: true, Members: []string{"run", "changes"}})) {
			if run.Run.ID == ID(name) && !cmp.Equal(run.Changes, want) {
				t.Errorf("list: %v", run.Changes)
			}
		}
	}
	mark(map[string][]mapping.Change{ID("a"): changes, ID("gone"): changes})
	has("a", changes)
	has("b", nil)
	finish(t, s, NewRun("a", "1"))
	has("a", changes)
	annotate(t, s, "a", mapping.Annotation{Note: new("a note"), Labels: map[string]string{"x": "y"}})
	has("a", changes)
	mark(map[string][]mapping.Change{ID("a"): changes[1:], ID("b"): changes[:1]})
	has("a", changes[1:])
	has("b", changes[:1])
	mark(map[string][]mapping.Change{ID("a"): nil})
	has("a", nil)
	finish(t, s, NewRun("b", "2"))
	has("b", nil)
	if _, err := s.Run(t.Context(), ID("gone")); err == nil {
		t.Error("a mark made a run")
	}
}
