package ingest_test

import (
	"cmp"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// sourceOf returns files, each given as ROLE:NAME. A log may have its bytes behind a slash, a report its format behind an @. A
// file that ends in ? has no hash.
func sourceOf(files string) mapping.Source {
	s := mapping.Source{Hash: files}
	for _, file := range strings.Fields(files) {
		file, isChanged := strings.CutSuffix(file, "?")
		role, name, _ := strings.Cut(file, ":")
		name, format, _ := strings.Cut(name, "@")
		name, size, _ := strings.Cut(name, "/")
		f := mapping.SourceFile{Path: name, Role: role, Bytes: 5000, Hash: "hash " + file}
		if n, err := strconv.ParseInt(size, 10, 64); err == nil {
			f.Bytes = n
		}
		switch role {
		case mapping.RoleReport:
			f.Says, f.Begin = "says "+name+format, cmp.Or(format, mapping.FormatJSONPlus)+"-"+name
		case mapping.RoleLog, mapping.RoleRaw:
			f.Begin = "begin " + name
		}
		if isChanged {
			f.Hash, f.Says = "", ""
		}
		s.List = append(s.List, f)
	}
	return s
}

// found returns an execution of these files, and a history that has a run of those.
func found(mine, theirs string) (*pipeline.Execution, *ingest.Found) {
	e := &pipeline.Execution{Title: "lab:out", Source: sourceOf(mine), Run: mapping.RunInfo{
		ID: "new", Execution: "new", Archive: "lab", Name: "out", Path: "out", Stage: 1, Stages: 1,
	}}
	f := &ingest.Found{ID: "new"}
	if theirs != "" {
		f.ID, f.Have = "stored", &mapping.Run{Source: sourceOf(theirs), Run: mapping.RunInfo{
			ID: "stored", Execution: "stored", Archive: "lab", Name: "out", Path: "out", Stage: 1, Stages: 1,
		}}
		f.Have.Run.Ingest = (&pipeline.Execution{Source: f.Have.Source}).Version(nil)
	}
	return e, f
}

// TestDecide: what the history has of a run decides what becomes of it.
func TestDecide(t *testing.T) {
	const whole = "report:out log:1 log:2"
	for name, c := range map[string]struct {
		mine, theirs string
		but          func(e *pipeline.Execution, f *ingest.Found, opt *ingest.Options)
		want         ingest.Act
		says         string // of its messages
	}{
		"new":                         {whole, "", nil, ingest.Store, ""},
		"the same":                    {whole, whole, nil, ingest.Keep, ""},
		"more files":                  {whole, "report:out log:1", nil, ingest.Store, ""},
		"fewer files":                 {"report:out log:1", whole, nil, ingest.Keep, "lab:out: already there as stored lab:out, which has more files; --force stores this one instead"},
		"no report":                   {"log:1 log:2", whole, nil, ingest.Keep, "which has more files"},
		"a log that was cut":          {"report:out log:1 log:2/4000", whole, nil, ingest.Keep, "lab:out: not stored: its 2 was cut: run stored lab:out has more of it"},
		"the whole log":               {whole, "report:out log:1 log:2/4000", nil, ingest.Store, ""},
		"other settings":              {"report:out config:cbt.yaml", "report:out", nil, ingest.Store, ""},
		"no configuration":            {"report:out", "report:out config:cbt.yaml", nil, ingest.Keep, "which has more of its configuration"},
		"a less exact report":         {"report:out@normal", "report:out", nil, ingest.Keep, "which has a more exact report of fio"},
		"a more exact report":         {"report:out", "report:out@normal", nil, ingest.Store, ""},
		"no logs of completions":      {"report:out", "report:out raw:1", nil, ingest.Keep, "which has its logs"},
		"logs that were copied again": {"report:out log:3 log:4", whole, nil, ingest.Store, ""},
		"fewer logs, others":          {"report:out log:3", whole, nil, ingest.Refuse, "lab:out: not stored: it shares files with run stored lab:out, but lacks some of its files, such as 1;"},
		"files of two runs":           {"report:out log:1 log:3", "report:out report:other log:1", nil, ingest.Refuse, "such as other;"},
		"a file that changed while it was read": {whole, "report:out log:1 log:2?", func(_ *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			f.Have.Run.Ingest = (&pipeline.Execution{Source: sourceOf(whole)}).Version(nil)
		}, ingest.Store, ""},
		"the same in another place": {whole, whole, func(e *pipeline.Execution, _ *ingest.Found, _ *ingest.Options) {
			e.Run.Path = "copy/out"
		}, ingest.Keep, "lab:out: already there as stored lab:out"},
		"the same, whose documents are missing": {whole, whole, func(_ *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			f.Lacking = true
		}, ingest.Store, ""},
		"fewer files, and documents are missing": {"report:out log:1", whole, func(_ *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			f.Lacking = true
		}, ingest.Keep, "which has more files"},
		"the same, compacted": {whole, whole, func(_ *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			f.Have.Run.Compacted.From, f.Have.Run.Ingest = f.Have.Run.Ingest, "longer windows"
		}, ingest.Keep, ""},
		"live before": {"report:out log:1", whole, func(_ *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			f.Have.Run.Ingest = mapping.LivePrefix + "1"
		}, ingest.Store, ""},
		"fewer files, with --force": {"report:out log:1", whole, func(_ *pipeline.Execution, _ *ingest.Found, opt *ingest.Options) {
			opt.Pipeline.Force = true
		}, ingest.Store, ""},
		"a label": {whole, whole, func(_ *pipeline.Execution, _ *ingest.Found, opt *ingest.Options) {
			opt.Pipeline.Labels = map[string]string{"disk": "nvme"}
		}, ingest.Store, ""},
		"fewer files, and a label": {"report:out log:1", whole, func(_ *pipeline.Execution, _ *ingest.Found, opt *ingest.Options) {
			opt.Pipeline.Labels = map[string]string{"disk": "nvme"}
		}, ingest.Keep, "lab:out: the labels of run stored were not changed"},
		"an archive that is cut": {whole, whole, func(e *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			e.Source.Hash, e.MayLackFiles, f.Have.Run.Complete = "torn", true, true
		}, ingest.Keep, "which has all of its files"},
		"the rest of the archive": {whole, whole, func(e *pipeline.Execution, _ *ingest.Found, _ *ingest.Options) {
			e.Source.Hash, e.MayLackFiles = "torn", true
		}, ingest.Store, ""},
		"no names of hosts": {whole, whole, func(e *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			e.Source.Hash, f.Have.Hosts = "nameless", []mapping.RunHost{{Name: "a"}}
		}, ingest.Keep, "which has the names of its hosts"},
		"no settings": {whole, whole, func(e *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			e.Source.Hash, f.Have.CBT.OpSize = "without", 4096
		}, ingest.Keep, "which has more of its settings"},
		"settings that an earlier version stored twice": {whole, whole, func(e *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			e.Settings.TotalIODepth, f.Have.CBT.TotalIODepth, f.Have.CBT.IODepth = 8, 8, 4
		}, ingest.Store, ""},
		"a report that has grown": {"report:later", "report:early", func(e *pipeline.Execution, _ *ingest.Found, _ *ingest.Options) {
			e.Grows, e.Says = true, map[string]bool{"says early": true, "says later": true}
		}, ingest.Store, ""},
		"a report that was longer": {"report:early", "report:later", func(e *pipeline.Execution, _ *ingest.Found, _ *ingest.Options) {
			e.Grows, e.Says = true, map[string]bool{"says early": true}
		}, ingest.Refuse, "such as later;"},
		"removed": {whole, "", func(_ *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			f.Removed = []*mapping.Removed{{}}
		}, ingest.LeaveOut, ""},
		"removed, with --restore": {whole, "", func(_ *pipeline.Execution, f *ingest.Found, opt *ingest.Options) {
			f.Removed, opt.Restore = []*mapping.Removed{{}}, true
		}, ingest.Store, ""},
		"the same in a file": {whole, whole, func(_ *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			f.InFile = true
		}, ingest.Keep, ""},
		"a part of it is in a file": {whole, "report:out log:1", func(_ *pipeline.Execution, f *ingest.Found, _ *ingest.Options) {
			f.InFile = true
		}, ingest.Refuse, "lab:out is not written, because it shares files with lab:out"},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := found(c.mine, c.theirs)
			opt := &ingest.Options{}
			if c.but != nil {
				c.but(e, f, opt)
			}
			d := ingest.Decide(e, f, opt)
			var said []string
			for _, err := range append(d.Skipped, d.Notes...) {
				said = append(said, err.Error())
			}
			all := strings.Join(said, "\n")
			if d.Act != c.want || !strings.Contains(all, c.says) || (c.says == "") != (all == "") {
				t.Errorf("act %d, want %d; says %q, want %q", d.Act, c.want, all, c.says)
			}
		})
	}
}

// TestReference: as which run of a history an execution is stored, with which labels and note.
func TestReference(t *testing.T) {
	note, other := "after the switch was replaced", "was removed"
	people := mapping.Annotation{Labels: map[string]string{"disk": "", "release": "reef"}, Note: &note}
	for name, c := range map[string]struct {
		have, removed        bool
		stages               int
		isOther              bool              // the run there is of another division of the execution
		given                map[string]string // labels of this ingest
		id, execution        string
		labels, ofIngest     map[string]string
		note                 string
		isSameAsWithoutLabel bool // the version
	}{
		"new":               {id: "new", execution: "new", isSameAsWithoutLabel: true},
		"new, with a label": {given: map[string]string{"disk": "ssd", "b": ""}, id: "new", execution: "new", labels: map[string]string{"disk": "ssd"}, ofIngest: map[string]string{"disk": "ssd"}},
		"stored, and people changed it": {have: true, id: "stored", execution: "all of it", labels: map[string]string{"release": "reef"},
			ofIngest: map[string]string{"disk": "nvme"}, note: note},
		"the same, with labels": {have: true, given: map[string]string{"osd": "bluestore", "disk": "ssd"}, id: "stored", execution: "all of it",
			labels: map[string]string{"release": "reef", "osd": "bluestore"}, ofIngest: map[string]string{"disk": "ssd", "osd": "bluestore"}, note: note},
		"another division": {have: true, isOther: true, stages: 3, id: "new", execution: "new", labels: map[string]string{"release": "reef"},
			ofIngest: map[string]string{"disk": "nvme"}, note: note},
		"a stage of it": {have: true, stages: 3, id: "stored", execution: "all of it", labels: map[string]string{"release": "reef"},
			ofIngest: map[string]string{"disk": "nvme"}, note: note},
		"removed before": {removed: true, id: "new", execution: "new", labels: map[string]string{"rack": "7"}, note: other, isSameAsWithoutLabel: true},
		"stored, and a copy was removed": {have: true, removed: true, id: "stored", execution: "all of it",
			labels: map[string]string{"release": "reef", "rack": "7"}, ofIngest: map[string]string{"disk": "nvme"}, note: note},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := found("report:out", "")
			e.Run.Stages = max(c.stages, 1)
			if c.have {
				_, f = found("report:out", "report:out")
				f.Have.Run.Execution, f.Have.Run.Labels = "all of it", map[string]string{"disk": "nvme"}
				f.Have.Run.Annotate(people)
			}
			if c.isOther {
				f.ID = "new"
			}
			if c.removed {
				f.Removed = []*mapping.Removed{{Labels: map[string]string{"rack": "7"}, Note: other}}
			}
			got := f.Reference(e, &pipeline.Options{Labels: c.given})
			if got.ID != c.id || got.Execution != c.execution || got.Note != c.note {
				t.Errorf("%+v", got)
			}
			if given := got.GivenLabels(); !maps.Equal(got.Labels, c.labels) || !maps.Equal(given, c.ofIngest) {
				t.Errorf("labels %v, of the ingest %v", got.Labels, given)
			}
			if want := e.Version(c.ofIngest); got.Ingest != want || (want == e.Version(nil)) != c.isSameAsWithoutLabel {
				t.Errorf("version %s, want %s", got.Ingest, want)
			}
		})
	}
}
