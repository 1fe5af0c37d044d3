package historytest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// withFiles returns a run of files with these hashes.
func withFiles(name, ingest string, hashes ...string) *mapping.Run {
	run := NewRun(name, ingest)
	run.Source.List = nil
	for i, hash := range hashes {
		run.Source.List = append(run.Source.List, mapping.SourceFile{
			Path: fmt.Sprintf("%d.log", i), Role: mapping.RoleLog, Bytes: 5000, Hash: hash,
		})
	}
	return run
}

func holding(t *testing.T, s history.Store, want []string, hashes ...string) {
	t.Helper()
	runs, err := s.Holding(t.Context(), hashes, nil)
	if err != nil {
		t.Fatalf("holding %q: %v", hashes, err)
	}
	got := names(runs)
	slices.Sort(got)
	equal(t, want, got, "holding %q", hashes)
}

// testHolding: a run is found by any of the files of its current version.
func testHolding(t *testing.T, s history.Store) {
	holding(t, s, nil, "1") // no run has been stored yet
	a, b := withFiles("a", "1", "1", "2", "shared", ""), withFiles("b", "1", "3", "shared", "shared")
	finish(t, s, a, b)
	put(t, s, Intervals("unfinished", "1", 2)...)
	holding(t, s, nil)
	holding(t, s, nil, "none", "sha", "*")
	holding(t, s, []string{"a"}, "2", "1", "none")
	holding(t, s, []string{"b"}, "3")
	holding(t, s, []string{"a", "b"}, "shared", "1")

	runs, err := s.Holding(t.Context(), []string{"1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, []*mapping.Run{a.WithFiles()}, runs, "run")

	c := withFiles("c", "1", "1", "report")
	c.Source.List[1].Role = mapping.RoleReport
	finish(t, s, c)
	holding(t, s, []string{"a", "c"}, "1")
	holding(t, s, []string{"c"}, "report")
	if runs, err = s.Holding(t.Context(), []string{"report", "none"}, []string{"2", "3", "report"}); err != nil {
		t.Fatal(err)
	}
	equal(t, []string{"a", "b", "c"}, names(runs), "by a report, and without a report by logs")
	if runs, err = s.Holding(t.Context(), nil, []string{"1"}); err != nil || len(runs) != 1 {
		t.Errorf("%d runs without a report have the log, want 1: %v", len(runs), err)
	}
	if err := s.Delete(t.Context(), ID("c")); err != nil {
		t.Fatal(err)
	}

	finish(t, s, withFiles("a", "22", "2", "4")) // another version with other files
	holding(t, s, nil, "1")
	holding(t, s, []string{"a"}, "2")
	holding(t, s, []string{"a"}, "4")
	if err := s.Delete(t.Context(), ID("a")); err != nil {
		t.Fatal(err)
	}
	holding(t, s, []string{"b"}, "1", "2", "3", "4", "shared")
}

// testManyHashes: more hashes than one request takes, and more runs than one page has, stored and removed.
func testManyHashes(t *testing.T, s history.Store) {
	var want []string
	var all []*mapping.Run
	for i := range 30 {
		want = append(want, fmt.Sprintf("run-%02d", i))
		all = append(all, withFiles(want[i], "1", fmt.Sprint(i*1000), "all"))
	}
	finish(t, s, all...)
	hashes := make([]string, 1000*len(all))
	for i := range hashes {
		hashes[i] = fmt.Sprint(i)
	}
	holding(t, s, want, hashes...)
	holding(t, s, want, "all")
	holding(t, s, want[5:6], hashes[4500:5500]...)
	for _, run := range all {
		if err := s.MarkRemoved(t.Context(), mapping.NewRemoved(run, run.Run.Name, Start)); err != nil {
			t.Fatal(err)
		}
	}
	for _, list := range [][]string{hashes, {"all"}} {
		if got, err := s.Removed(t.Context(), list); err != nil || len(got) != len(all) {
			t.Errorf("%d of %d removed runs, %v", len(got), len(all), err)
		}
	}
	var ids []string
	for _, run := range all[1:] {
		ids = append(ids, run.Run.ID)
	}
	if err := s.Restore(t.Context(), ids...); err != nil {
		t.Fatal(err)
	}
	removed(t, s, want[:1], hashes...)
}
