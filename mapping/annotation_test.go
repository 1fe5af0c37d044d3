package mapping_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
	"github.com/fio2es/fio2es/mapping"
)

// The labels of the ingest remain known, and another version of the run gets the labels that people
// changed.
func TestAnnotate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, value := rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]string{"", "1", "2"})
		given := rapid.MapOf(name, rapid.SampledFrom([]string{"1", "2"})).Draw(t, "given")
		run, want := mapping.RunInfo{Labels: maps.Clone(given)}, maps.Clone(given)
		for range rapid.IntRange(0, 5).Draw(t, "changes") {
			a := mapping.Annotation{Labels: rapid.MapOfN(name, value, 0, 3).Draw(t, "labels")}
			if rapid.Bool().Draw(t, "with a note") {
				note := value.Draw(t, "note")
				a.Note = &note
			}
			before := run
			labels, edited := maps.Clone(run.Labels), maps.Clone(run.Edited)
			run.Annotate(a)
			if !maps.Equal(before.Labels, labels) || !maps.Equal(before.Edited, edited) {
				t.Fatal("Annotate changed maps of a copy")
			}
			maps.Copy(want, a.Labels)
			maps.DeleteFunc(want, func(_, value string) bool { return value == "" })
			if a.Note != nil && run.Note != *a.Note {
				t.Fatalf("note %q, want %q", run.Note, *a.Note)
			}
		}
		same := cmpopts.EquateEmpty()
		if diff := cmp.Diff(want, run.Labels, same); diff != "" {
			t.Fatalf("labels (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(given, run.GivenLabels(), same); diff != "" {
			t.Fatalf("labels of the ingest (-want +got):\n%s", diff)
		}
		again := mapping.RunInfo{Labels: maps.Clone(given)}
		again.Annotate(run.Annotation())
		if diff := cmp.Diff(run, again, same); diff != "" {
			t.Fatalf("another version (-want +got):\n%s", diff)
		}
		if (run.Edit() == "") != maps.Equal(given, run.Labels) {
			t.Fatalf("edit %q of %v, the ingest gave %v", run.Edit(), run.Labels, given)
		}
		if a := run.Annotation(); a.IsZero() != (len(run.Edited) == 0 && run.Note == "") {
			t.Fatalf("annotation %+v of %+v", a, run)
		}
	})
}

// An ingest that gives a label that people changed changes what it gave, and not the label.
func TestAnnotationTakesPrecedence(t *testing.T) {
	run := mapping.RunInfo{Labels: map[string]string{"release": "reef", "disk": "nvme"}}
	run.Annotate(mapping.Annotation{Labels: map[string]string{"release": "squid", "disk": "", "by": "hand"}})
	next := mapping.RunInfo{Labels: map[string]string{"release": "quincy", "disk": "ssd", "osd": "bluestore"}}
	next.Annotate(run.Annotation())
	want := mapping.RunInfo{
		Labels: map[string]string{"release": "squid", "by": "hand", "osd": "bluestore"},
		Edited: map[string]string{"release": "quincy", "by": "", "disk": "ssd"},
	}
	if diff := cmp.Diff(want, next); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRelabel(t *testing.T) {
	run := mapping.RunInfo{Labels: map[string]string{"a": "1"}}
	d := mapping.Interval{Run: mapping.RunRef{Labels: map[string]string{"a": "1"}}}
	if d.Relabel(&run) {
		t.Error("nothing was to change")
	}
	run.Annotate(mapping.Annotation{Labels: map[string]string{"b": "2"}})
	if !d.Relabel(&run) || d.Relabel(&run) || d.Run.Edit != run.Edit() || d.Run.Labels["b"] != "2" {
		t.Errorf("%+v", d.Run)
	}
	run.Annotate(mapping.Annotation{Labels: map[string]string{"b": ""}})
	if !d.Relabel(&run) || d.Run.Edit != "" || len(d.Run.Labels) != 1 {
		t.Errorf("%+v", d.Run)
	}
}

func TestAnnotationCheck(t *testing.T) {
	for _, a := range []mapping.Annotation{
		{}, {Note: new("")}, {Note: new("retry after the switch was replaced\nsee ticket 4711")},
		{Labels: map[string]string{"a.b": "", "ä": strings.Repeat("x", mapping.MaxLabel)}},
	} {
		if err := a.Check(); err != nil {
			t.Errorf("%+v: %v", a, err)
		}
	}
	for _, a := range []mapping.Annotation{
		{Labels: map[string]string{"": "x"}}, {Labels: map[string]string{" ": "x"}}, {Labels: map[string]string{".a": "x"}},
		{Labels: map[string]string{"a.": "x"}}, {Labels: map[string]string{"a": "\xff"}},
		{Labels: map[string]string{"a": strings.Repeat("x", mapping.MaxLabel+1)}},
		{Note: new("\xff")}, {Note: new(strings.Repeat("x", mapping.MaxNote+1))},
	} {
		if err := a.Check(); !errors.Is(err, mapping.ErrAnnotation) {
			t.Errorf("%.80v: %v", a, err)
		}
	}
}

// What is kept of a removed run finds the same files again, and no others.
func TestRemoved(t *testing.T) {
	run, note := sampleRun(), "a note"
	run.Run.Annotate(mapping.Annotation{Labels: map[string]string{"release": "", "by": "hand"}, Note: &note})
	r := mapping.NewRemoved(run, "archive:name", time.Unix(1e9, 0))
	if !mapping.SameExecution(&r.Source, &run.Source) || r.Source.Hash != run.Source.Hash {
		t.Errorf("%+v is not of %+v", r.Source, run.Source)
	}
	var doc struct{ Removed mapping.Removed }
	decode(t, r.AppendJSON(nil), &doc)
	if diff := cmp.Diff(*r, doc.Removed); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(run.Run.Annotation(), r.Annotation()); diff != "" {
		t.Errorf("annotation (-want +got):\n%s", diff)
	}
	if id := r.DocumentID(); id == run.ID() || !strings.HasSuffix(id, run.ID()) {
		t.Errorf("id %s", id)
	}
}
