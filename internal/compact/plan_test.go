package compact

import (
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// aRun returns a run of five and a half minutes, with one-second windows of the cluster and of two hosts.
func aRun(id string, change func(*mapping.Run)) *mapping.Run {
	r := &mapping.Run{
		Run:        mapping.RunInfo{ID: id, Name: id, Start: start, End: start.Add(330 * time.Second), Ingest: "1", Complete: true},
		IntervalMS: 1000, Documents: mapping.Documents{Cluster: 330, Host: 650},
	}
	if change != nil {
		change(r)
	}
	return r
}

// TestPlan: which runs are compacted, which are left out, and why.
func TestPlan(t *testing.T) {
	none := func(*mapping.Run) {}
	for reason, change := range map[string]func(*mapping.Run){
		"":                              none,
		"still followed":                func(r *mapping.Run) { r.Run.Ingest, r.Run.Complete = mapping.LiveIngest(start), false },
		"some of its files are missing": func(r *mapping.Run) { r.Run.Partial = true },
		"no windows":                    func(r *mapping.Run) { r.Documents = mapping.Documents{} },
		"not of one length":             func(r *mapping.Run) { r.IntervalMS = 0 },
		"windows of 7s do not fit into longer ones of 1m": func(r *mapping.Run) { r.IntervalMS = 7000 },
	} {
		p := NewPlan([]*mapping.Run{aRun("aa", change)}, time.Minute)
		switch {
		case reason == "" && (len(p.Runs) != 1 || len(p.LeftOut) > 0 || p.Before != 980 || p.After != 6+12):
			t.Errorf("%+v", p)
		case reason != "" && (len(p.Runs) > 0 || len(p.LeftOut) != 1 || !strings.Contains(p.LeftOut[0].Reason, reason)):
			t.Errorf("%s: %+v", reason, p)
		}
	}
	compacted := func(id string, ms int64, at int) *mapping.Run {
		return aRun(id, func(r *mapping.Run) {
			r.IntervalMS, r.Run.Compacted = ms, mapping.Compacted{From: "0", IntervalMS: 1000, At: start.Add(time.Duration(at) * time.Hour)}
		})
	}
	late := aRun("dd", func(r *mapping.Run) { r.Run.Start, r.Run.End = start.Add(time.Hour), start.Add(2*time.Hour) })
	p := NewPlan([]*mapping.Run{late, compacted("aa", 60_000, 1), compacted("bb", 300_000, 3), compacted("cc", 60_000, 2), aRun("ee", nil)}, time.Minute)
	if p.Already != 3 || p.Last == nil || p.Last.Run.ID != "bb" || len(p.Runs) != 2 || p.Runs[0].Run.ID != "ee" {
		t.Errorf("%+v", p)
	}
}
