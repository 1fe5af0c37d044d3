package pipeline

import (
	"context"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/plan"
)

func TestLabelsOf(t *testing.T) {
	for _, c := range []struct{ have, given, want map[string]string }{
		{nil, nil, nil},
		{map[string]string{"a": "1"}, nil, map[string]string{"a": "1"}},
		{map[string]string{"a": "1"}, map[string]string{"b": "2"}, map[string]string{"a": "1", "b": "2"}},
		{map[string]string{"a": "1"}, map[string]string{"a": "2"}, map[string]string{"a": "2"}},
		{map[string]string{"a": "1"}, map[string]string{"a": ""}, nil},
		{nil, map[string]string{"a": "", "b": "2"}, map[string]string{"b": "2"}},
	} {
		have := &mapping.Run{Run: mapping.RunInfo{Labels: c.have}}
		if got := labelsOf(have, c.given); !maps.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%v and %v: %v", c.have, c.given, got)
		}
	}
}

// versionOf identifies a run without files, which a store may have.
func versionOf(t *testing.T, opt Options, have *mapping.Run) *Execution {
	t.Helper()
	p := &input{Plan: &plan.Plan{Run: &cbt.Run{}}, opt: opt}
	e, _, err := p.identify(t.Context(), &Execution{}, func(_ context.Context, e *Execution) (string, *mapping.Run, error) { return e.Run.ID, have, nil })
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestProgramIsNoSetting: another version of the program does not make another version of a run.
func TestProgramIsNoSetting(t *testing.T) {
	for _, program := range []string{"", "v1.2.3"} {
		if got, want := versionOf(t, Options{Program: program}, nil).Run.Ingest, versionOf(t, Options{}, nil).Run.Ingest; got != want {
			t.Errorf("%q: version %s, want %s", program, got, want)
		}
	}
}

// What people said about a run is in every version of it, and does not make another version.
func TestKeepAnnotations(t *testing.T) {
	note := "after the switch was replaced"
	have := &mapping.Run{Run: mapping.RunInfo{Labels: map[string]string{"disk": "nvme"}}}
	before := versionOf(t, Options{}, have).Run.Ingest
	have.Run.Annotate(mapping.Annotation{Labels: map[string]string{"disk": "", "release": "reef"}, Note: &note})
	if after := versionOf(t, Options{}, have).Run.Ingest; after != before {
		t.Errorf("version %s, and %s before the labels were changed", after, before)
	}
	e := versionOf(t, Options{Labels: map[string]string{"osd": "bluestore", "disk": "ssd"}}, have)
	r := newRunReader(&input{Plan: &plan.Plan{Run: &cbt.Run{}}}, &problems{})
	r.execution = e
	doc := r.summary(&account.Account{})
	if diff := cmp.Diff(map[string]string{"release": "reef", "osd": "bluestore"}, doc.Run.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if doc.Run.Note != note || e.Run.Edit != doc.Run.Edit() {
		t.Errorf("note %q, edit %q instead of %q", doc.Run.Note, e.Run.Edit, doc.Run.Edit())
	}
	if diff := cmp.Diff(map[string]string{"disk": "ssd", "osd": "bluestore"}, doc.Run.GivenLabels()); diff != "" {
		t.Errorf("labels of the ingest (-want +got):\n%s", diff)
	}
}
