package sqlite_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// TestEncoded: documents that are sent without decoding equal those of Intervals, encoded.
func TestEncoded(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "history.db"))
	defer closing(t, s)
	docs := historytest.Intervals("a", "1", 60)
	for i, d := range docs {
		switch d.Level = mapping.Cluster + mapping.Level(i%3); {
		case i%3 > 0:
			d.Host.Name = []string{"x", "y"}[i%2]
		case i%4 == 0:
			d.Part = 1
		}
		if i%5 == 0 {
			d.Latency, d.DocCount = mapping.Latency{}, 0
		}
	}
	run := historytest.NewRun("a", "1")
	if err := errors.Join(
		s.Put(t.Context(), historytest.Intervals("b", "1", 5)), s.Finish(t.Context(), historytest.NewRun("b", "1")),
		s.Put(t.Context(), docs), s.Put(t.Context(), historytest.Intervals("a", "2", 5)), s.Finish(t.Context(), run),
	); err != nil {
		t.Fatal(err)
	}
	type sent struct{ Index, ID, Run, Ingest, JSON string }
	var want, got []sent
	for _, level := range mapping.Levels {
		for d, err := range s.Intervals(t.Context(), history.Selection{Runs: []string{run.Run.ID}, Level: level}) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, sent{d.Index("fio"), d.ID(), d.Run.ID, d.Run.Ingest, string(d.AppendJSON(nil))})
		}
	}
	for d, err := range s.Encoded(t.Context(), run) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, sent{d.Index("fio"), d.ID, d.Run, d.Ingest, string(d.JSON)})
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != len(docs) {
		t.Errorf("%d documents (-want +got):\n%s", len(got), diff)
	}
	for range s.Encoded(t.Context(), historytest.NewRun("a", "2")) { // which is not the finished one
		t.Error("a version that is not finished is sent")
	}
}
