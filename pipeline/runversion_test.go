package pipeline

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/mapping"
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

// TestProgramIsNoSetting: another version of the program does not make another version of a run.
func TestProgramIsNoSetting(t *testing.T) {
	e := &Execution{}
	for _, program := range []string{"", "v1.2.3"} {
		p, old := &input{Plan: &plan.Plan{Run: &cbt.Run{}}, opt: Options{Program: program}}, &input{Plan: &plan.Plan{Run: &cbt.Run{}}}
		if got, want := p.ingestOf(e), old.ingestOf(e); got != want {
			t.Errorf("%q: version %s, want %s", program, got, want)
		}
	}
}

// What people said about a run is in every version of it, and does not make another version.
func TestKeepAnnotations(t *testing.T) {
	note := "after the switch was replaced"
	have := &mapping.Run{Run: mapping.RunInfo{Labels: map[string]string{"disk": "nvme"}}}
	p := &input{Plan: &plan.Plan{Run: &cbt.Run{}}}
	e := &Execution{}
	e.Run.Labels = labelsOf(have, nil)
	before := p.ingestOf(e)
	have.Run.Annotate(mapping.Annotation{Labels: map[string]string{"disk": "", "release": "reef"}, Note: &note})
	e.Run.Labels = labelsOf(have, nil)
	if after := p.ingestOf(e); after != before {
		t.Errorf("version %s, and %s before the labels were changed", after, before)
	}
	e.Run.Labels = labelsOf(have, map[string]string{"osd": "bluestore", "disk": "ssd"})
	e.keep(have)
	doc := &mapping.Run{Run: mapping.RunInfo{Labels: e.Run.Labels}}
	e.complete(doc)
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
