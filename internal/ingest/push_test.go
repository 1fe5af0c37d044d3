package ingest

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/ndjson"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// TestPushPut: all documents of a run are sent, of all levels, with the labels of the run document that is sent.
// Documents of another version are not sent.
func TestPushPut(t *testing.T) {
	from, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	docs := historytest.Intervals("a", "1", 1203)
	for i, d := range docs {
		if d.Level = mapping.Levels[i%3]; d.Level != mapping.Cluster {
			d.Host.Name = "h"
		}
	}
	run := historytest.NewRun("a", "1")
	if err := errors.Join(from.Put(t.Context(), docs), from.Put(t.Context(), historytest.Intervals("b", "1", 5)),
		from.Finish(t.Context(), run), from.Finish(t.Context(), historytest.NewRun("b", "1"))); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Annotate(t.Context(), run.Run.ID, mapping.Annotation{Labels: map[string]string{"later": "than run"}}); err != nil {
		t.Fatal(err)
	}
	var want, got bytes.Buffer
	direct := ndjson.New(&want, "x")
	for _, level := range mapping.Levels {
		for i, d := range docs {
			if d.Level != level {
				continue
			}
			d.Describe(run)
			if err := direct.Put(t.Context(), docs[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	to := ndjson.New(&got, "x")
	p := &push{from: from, to: Target{Sink: to}}
	all := mapping.Documents{Cluster: 1, Host: 1, Job: 1, Section: 1}
	n, err := p.put(t.Context(), run, all)
	if err := errors.Join(err, direct.Flush(), to.Flush()); err != nil || n != len(docs) {
		t.Fatal(n, err)
	}
	if !bytes.Equal(want.Bytes(), got.Bytes()) {
		t.Error("other documents than those of the run")
	}
	if _, err := p.put(t.Context(), historytest.NewRun("a", "2"), all); !errors.Is(err, history.ErrReplaced) {
		t.Errorf("a run that was replaced meanwhile: %v", err)
	}
}
