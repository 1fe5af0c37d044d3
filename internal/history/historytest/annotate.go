package historytest

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

func annotate(t *testing.T, s history.Store, name string, a mapping.Annotation) *mapping.Run {
	t.Helper()
	run, err := s.Annotate(t.Context(), ID(name), a)
	if err != nil {
		t.Fatalf("annotate %s: %v", name, err)
	}
	return run
}

// annotated checks that a run and all its documents are as stored, except for the annotation all.
func annotated(t *testing.T, s history.Store, run *mapping.Run, docs []*mapping.Interval, all mapping.Annotation) {
	t.Helper()
	want := *run
	want.Run.Annotate(all)
	isStored(t, s, &want)
	for light, want := range map[bool]*mapping.Run{false: &want, true: want.Light()} {
		for r, err := range s.Runs(t.Context(), history.RunFilter{Light: light}) {
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, r); r.Run.ID == run.Run.ID && diff != "" {
				t.Errorf("run in the list, light %v (-want +got):\n%s", light, diff)
			}
		}
	}
	var relabelled []*mapping.Interval
	for _, d := range docs {
		d := *d
		d.Relabel(&want.Run)
		relabelled = append(relabelled, &d)
	}
	expect(t, s, history.Selection{Runs: []string{run.Run.ID}}, relabelled)
	checkSound(t, s)
}

func testAnnotate(t *testing.T, s history.Store) {
	run, docs := store(t, s, "a", "1", 10)
	_, other := store(t, s, "other", "1", 10)

	set := mapping.Annotation{Labels: map[string]string{"release": "reef", "by.hand": "ja, \"so\"", "run": ""}, Note: new("first\nsecond <line>")}
	got := annotate(t, s, "a", set)
	if got.Run.Note != *set.Note || got.Run.Labels["release"] != "reef" {
		t.Errorf("returned %+v", got.Run)
	}
	annotated(t, s, run, docs, set)
	annotate(t, s, "a", set) // the same a second time
	annotated(t, s, run, docs, set)
	annotate(t, s, "a", mapping.Annotation{}) // the annotation is complete already
	annotated(t, s, run, docs, set)
	for filter, want := range map[string]int{"reef": 1, "squid": 1} {
		runs := collect(t, s.Runs(t.Context(), history.RunFilter{Where: condition(t, "label.release="+filter)}))
		if len(runs) != want {
			t.Errorf("%d runs with label release=%s", len(runs), filter)
		}
	}

	annotate(t, s, "a", mapping.Annotation{Note: new("")})
	annotated(t, s, run, docs, mapping.Annotation{Labels: set.Labels})
	annotate(t, s, "a", mapping.Annotation{Labels: map[string]string{"release": "squid", "by.hand": "", "run": "a"}})
	annotated(t, s, run, docs, mapping.Annotation{}) // as before any annotation
	expect(t, s, history.Selection{Runs: []string{ID("other")}}, other)
}

// testAnnotateMany: more documents than one request or one read has, of all levels.
func testAnnotateMany(t *testing.T, s history.Store) {
	docs, run := grid("a"), NewRun("a", "g")
	for n := range 300 {
		docs = append(docs, Interval("a", "g", 10+n))
	}
	run.Documents = mapping.Documents{}
	for _, d := range docs {
		run.Documents.Add(d.Level, 1)
	}
	put(t, s, docs...)
	finish(t, s, run)
	annotate(t, s, "a", mapping.Annotation{Labels: map[string]string{"release": "reef"}})
	for _, l := range mapping.Levels {
		n := 0
		for d, err := range s.Intervals(t.Context(), history.Selection{Runs: []string{ID("a")}, Level: l}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; d.Run.Labels["release"] != "reef" || d.Run.Edit == "" {
				t.Fatalf("document of level %s: %+v", l, d.Run)
			}
		}
		if n != run.Documents.Of(l) {
			t.Errorf("%d documents of level %s instead of %d", n, l, run.Documents.Of(l))
		}
	}
}

func testAnnotateRefused(t *testing.T, s history.Store) {
	run, docs := store(t, s, "a", "1", 10)
	for id, want := range map[string]error{ID("none"): history.ErrNotFound, ID("a")[:8]: history.ErrNotFound, "": history.ErrNotFound} {
		if _, err := s.Annotate(t.Context(), id, mapping.Annotation{Note: new("x")}); !errors.Is(err, want) {
			t.Errorf("%q: %v", id, err)
		}
	}
	wrong := mapping.Annotation{Labels: map[string]string{"": "x"}}
	if _, err := s.Annotate(t.Context(), ID("a"), wrong); !errors.Is(err, mapping.ErrAnnotation) {
		t.Errorf("%+v: %v", wrong, err)
	}
	annotated(t, s, run, docs, mapping.Annotation{})
}

// testAnnotateVersions: only documents of the current version get labels. Labels and notes stay if they are set
// before or while another version is stored.
func testAnnotateVersions(t *testing.T, s history.Store) {
	store(t, s, "a", "1", 10)
	before := mapping.Annotation{Labels: map[string]string{"release": "reef", "disk": "nvme"}, Note: new("before")}
	known := annotate(t, s, "a", before).Run.Annotation()

	run, docs := NewRun("a", "22"), Intervals("a", "22", 5)
	run.Documents.Cluster = 5
	plain := *run
	run.Run.Annotate(known)
	for _, d := range docs {
		d.Relabel(&run.Run)
	}
	put(t, s, docs...) // not finished
	set := mapping.Annotation{Labels: map[string]string{"release": "squid", "disk": "", "by.hand": "x"}, Note: new("meanwhile")}
	annotate(t, s, "a", set)
	finish(t, s, run)
	annotated(t, s, &plain, docs, set)
	if run.Run.Note != "before" {
		t.Error("Finish changed the run of its caller")
	}

	put(t, s, docs...) // the same again, as for a followed run
	finish(t, s, run)
	annotated(t, s, &plain, docs, set)
	annotate(t, s, "a", mapping.Annotation{Labels: map[string]string{"release": "squid", "by.hand": ""}, Note: new("")})
	put(t, s, docs...)
	finish(t, s, run)
	annotated(t, s, &plain, docs, mapping.Annotation{})
}

// testAnnotateAtOnce: of several annotations at the same time, none is lost.
func testAnnotateAtOnce(t *testing.T, s history.Store) {
	run, docs := store(t, s, "a", "1", 10)
	all := mapping.Annotation{Labels: map[string]string{}}
	var wait sync.WaitGroup
	for i := range 5 {
		label := map[string]string{fmt.Sprintf("label-%d", i): "x"}
		maps.Copy(all.Labels, label)
		wait.Go(func() {
			if _, err := s.Annotate(t.Context(), ID("a"), mapping.Annotation{Labels: label}); err != nil {
				t.Errorf("%v: %v", label, err)
			}
		})
	}
	wait.Wait()
	annotated(t, s, run, docs, all)
}

func removed(t *testing.T, s history.Store, want []string, hashes ...string) {
	t.Helper()
	runs, err := s.Removed(t.Context(), hashes)
	if err != nil {
		t.Fatalf("removed %q: %v", hashes, err)
	}
	var got []string
	for _, r := range runs {
		got = append(got, r.Title)
	}
	equal(t, want, got, "removed %q", hashes)
}

// testRemoved: a removed run is found by its files, and is not listed as a run.
func testRemoved(t *testing.T, s history.Store) {
	removed(t, s, nil)
	removed(t, s, nil, "1")
	a, b := withFiles("a", "1", "1", "2", "shared"), withFiles("b", "1", "3", "shared")
	put(t, s, Intervals("a", "1", 10)...)
	finish(t, s, a, b)
	removed(t, s, nil, "1", "2", "3", "shared")
	at := Start.AddDate(1, 0, 0)
	if err := history.Remove(t.Context(), s, a, "title of a", at); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		removed(t, s, nil)
		removed(t, s, nil, "3")
		removed(t, s, []string{"title of a"}, "3", "2")
		removed(t, s, []string{"title of a"}, "shared")
		holding(t, s, nil, "1")
		holding(t, s, []string{"b"}, "shared")
		equal(t, []string{"b"}, names(collect(t, s.Runs(t.Context(), history.RunFilter{}))), "runs")
		expect(t, s, history.Selection{}, nil)
	}
	check()
	runs, err := s.Removed(t.Context(), []string{"1"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, []*mapping.Removed{mapping.NewRemoved(a, "title of a", at)}, runs, "removed")
	if err := history.Remove(t.Context(), s, a, "title of a", at); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("remove again: %v", err)
	}
	if err := s.MarkRemoved(t.Context(), mapping.NewRemoved(a, "title of a", at)); err != nil {
		t.Errorf("mark again: %v", err)
	}
	check()
	if _, err := history.Check(t.Context(), s, true, func(f history.Finding) {
		if f.Run != ID("b") { // a removed run has no documents
			t.Errorf("check: %+v", f)
		}
	}); err != nil {
		t.Error(err)
	}
	check()
	if err := s.Restore(t.Context(), ID("none"), ID("b")); err != nil {
		t.Error(err)
	}
	check()
	if err := s.Restore(t.Context(), ID("a"), ID("none")); err != nil {
		t.Error(err)
	}
	removed(t, s, nil, "1", "2", "shared")
	finish(t, s, a)
	holding(t, s, []string{"a", "b"}, "shared")
}
