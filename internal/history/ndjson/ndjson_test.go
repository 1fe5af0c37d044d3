package ndjson_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/ndjson"
	"github.com/fio2es/fio2es/mapping"
)

func TestNDJSON(t *testing.T) {
	docs := historytest.Intervals("a", "1", 3)
	docs[1].Level, docs[1].Host.Name = mapping.Host, "client-01.example.org"
	docs[2].Level, docs[2].Host.Name, docs[2].Fio.Job = mapping.Job, `odd "host"`, "1"
	docs[2].Part = 1
	var out bytes.Buffer
	s := ndjson.New(&out, "")
	if err := errors.Join(s.Put(t.Context(), docs), s.Finish(t.Context(), historytest.NewRun("a", "1"))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "bulk.ndjson")
	golden.File(t, path, out.String())
	// The output has all documents, complete.
	lines := bufio.NewScanner(&out)
	for _, d := range docs {
		var action struct {
			Index struct {
				Index string `json:"_index"`
				ID    string `json:"_id"`
			} `json:"index"`
		}
		var got mapping.Interval
		lines.Scan()
		if err := json.Unmarshal(lines.Bytes(), &action); err != nil || action.Index.ID != d.ID() || action.Index.Index != d.Index("fio", mapping.Months) {
			t.Errorf("action %s, %v", lines.Bytes(), err)
		}
		lines.Scan()
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil || !cmp.Equal(&got, d) {
			t.Errorf("document %s, %v", lines.Bytes(), err)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestFaults(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	bad := historytest.Interval("a", "1", 0)
	bad.DocCount++
	good, run, badRun := historytest.Interval("a", "1", 0), historytest.NewRun("a", "1"), historytest.NewRun("a", "")
	s := ndjson.New(io.Discard, "lab")
	if err := s.Put(t.Context(), []*mapping.Interval{good, bad}); !errors.Is(err, mapping.ErrDocCount) {
		t.Errorf("put a wrong document: %v", err)
	}
	if err := s.Finish(t.Context(), badRun); !errors.Is(err, mapping.ErrIdentity) {
		t.Errorf("finish a wrong run: %v", err)
	}
	if err := s.Put(cancelled, []*mapping.Interval{good}); !errors.Is(err, context.Canceled) {
		t.Errorf("put cancelled: %v", err)
	}
	if err := s.Finish(cancelled, run); !errors.Is(err, context.Canceled) {
		t.Errorf("finish cancelled: %v", err)
	}
	s = ndjson.New(full{}, "")
	if err := s.Finish(t.Context(), run); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("finish on a full disk: %v", err)
	}
	if err := s.Put(t.Context(), historytest.Intervals("a", "1", 100)); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("put on a full disk: %v", err)
	}
}

func BenchmarkNDJSON(b *testing.B) {
	docs := historytest.Intervals("a", "1", 100)
	s := ndjson.New(io.Discard, "")
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := s.Put(b.Context(), docs); err != nil {
			b.Fatal(err)
		}
		n += len(docs)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "docs/s")
}
