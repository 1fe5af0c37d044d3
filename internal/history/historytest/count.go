package historytest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// testCount counts whole runs, incomplete runs, several versions and split documents, and asks which runs are whole.
func testCount(t *testing.T, s history.Store) {
	count := func(want history.Counts, levels ...mapping.Level) history.Counts {
		t.Helper()
		got, err := s.Count(t.Context(), []string{ID("a"), ID("b"), ID("none")}, levels...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(history.Count{}, "Parts")); diff != "" {
			t.Errorf("counts of %v (-want +got):\n%s", levels, diff)
		}
		return got
	}
	isWhole := func(want bool) {
		t.Helper()
		got, err := s.Whole(t.Context(), []string{ID("b"), ID("none")})
		if err != nil || len(got) > 1 || (got[ID("b")] == "1") != want {
			t.Errorf("whole: %v, %v; want %v", got, err, want)
		}
	}
	count(history.Counts{})
	isWhole(false)
	host := Interval("a", "1", 3)
	host.Level, host.Host.Name = mapping.Host, "h"
	put(t, s, append(Intervals("a", "1", 9), host)...)
	large := Interval("b", "1", 0)
	large.Latency.Bins.Counts[0], large.Latency.Bins.Counts[1] = mapping.MaxCount, mapping.MaxCount
	put(t, s, append(Intervals("b", "1", 10)[1:], large.Split()...)...)
	put(t, s, Intervals("c", "1", 2)...) // a run that is not counted
	a, b := NewRun("a", "1"), NewRun("b", "1")
	finish(t, s, a, b)
	got := count(history.Counts{
		ID("a"): {"1": {Documents: mapping.Documents{Cluster: 9, Host: 1}}}, ID("b"): {"1": {Documents: mapping.Documents{Cluster: 10}}},
	})
	if got.IsWhole(a) || !got.IsWhole(b) || got.Lack(a) != (mapping.Documents{Cluster: 1}) || !got.IsCurrent(a) {
		t.Errorf("a lacks %+v, b %+v", got.Lack(a), got.Lack(b))
	}
	isWhole(true)
	put(t, s, Intervals("b", "2", 3)...) // an interrupted ingest
	finish(t, s, NewRun("c", "1"))       // in a cluster this also makes the documents of b visible
	isWhole(false)
	if got, err := s.Count(t.Context(), []string{ID("b")}, mapping.Cluster); err != nil || got[ID("b")]["2"].Cluster != 3 || got.IsCurrent(b) || !got.IsWhole(b) {
		t.Errorf("two versions: %v, %v", got, err)
	}
	if err := s.MakeCurrent(t.Context(), ID("b"), "1"); err != nil {
		t.Fatal(err)
	}
	isWhole(true)
	got, err := s.Count(t.Context(), []string{ID("a"), ID("b")}, mapping.Cluster)
	if err != nil || !got.IsCurrent(b) || !got.IsWhole(b) || got[ID("a")]["1"].Documents != (mapping.Documents{Cluster: 9}) {
		t.Errorf("after the removal: %v, %v", got, err)
	}
	if runs := collect(t, s.Runs(t.Context(), history.RunFilter{})); len(runs) != 3 {
		t.Errorf("runs: %v", names(runs))
	}
}
