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
	for level := range mapping.Levels {
		for i := level; i < len(docs); i += 3 {
			if err := direct.Put(t.Context(), docs[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	to := ndjson.New(&got, "x")
	p := &push{from: from, to: Target{Sink: to}}
	n, err := p.put(t.Context(), run)
	if err := errors.Join(err, direct.Flush(), to.Flush()); err != nil || n != len(docs) {
		t.Fatal(n, err)
	}
	if !bytes.Equal(want.Bytes(), got.Bytes()) {
		t.Error("other documents than those of the run")
	}
	if _, err := p.put(t.Context(), historytest.NewRun("a", "2")); !errors.Is(err, history.ErrReplaced) {
		t.Errorf("a run that was replaced meanwhile: %v", err)
	}
}

// TestHasVersion: a run that the cluster has in longer or shorter windows is the same version, whichever history was
// compacted. A run that was read again is another version.
func TestHasVersion(t *testing.T) {
	fine := historytest.NewRun("a", "1")
	fine.IntervalMS = 1000
	minutes, hours := fine.Compact(60_000, historytest.Start), fine.Compact(3600_000, historytest.Start)
	again := historytest.NewRun("a", "2")
	for i, c := range []struct {
		here, there *mapping.Run
		want        bool
	}{
		{fine, nil, false}, {fine, fine, true}, {fine, minutes, true}, {minutes, fine, true}, {hours, minutes, true},
		{again, minutes, false}, {minutes, again, false},
	} {
		in := there{runs: map[string]*mapping.Run{}}
		if c.there != nil {
			in.runs[c.there.Run.ID] = c.there
		}
		if got := in.hasVersion(c.here); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}
