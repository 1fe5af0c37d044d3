package mapping_test

import (
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// TestCompact: a version keeps from which reading of its files it comes, however often it is compacted.
func TestCompact(t *testing.T) {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	run := sampleRun()
	run.IntervalMS, run.Documents = 1000, mapping.Documents{Cluster: 60}
	before := run.Run.Ingest
	once := run.Compact(10_000, at)
	want := mapping.Compacted{From: before, IntervalMS: 1000, At: at}
	if once.Run.Compacted != want || once.Run.Reading() != before || once.Run.Ingest == before || once.IntervalMS != 10_000 || once.Documents != (mapping.Documents{}) {
		t.Errorf("%+v", once)
	}
	if run.Run.Ingest != before || run.Run.Reading() != before || run.Documents.Cluster != 60 {
		t.Errorf("changed: %+v", run.Run)
	}
	if again := run.Compact(10_000, at.Add(time.Hour)); again.Run.Ingest != once.Run.Ingest {
		t.Errorf("%s, then %s", once.Run.Ingest, again.Run.Ingest)
	}
	twice := once.Compact(60_000, at.Add(time.Hour))
	want.At = at.Add(time.Hour)
	if twice.Run.Compacted != want || twice.Run.Reading() != before || twice.Run.Ingest == once.Run.Ingest {
		t.Errorf("%+v", twice.Run)
	}
	if err := twice.Check(); err != nil {
		t.Error(err)
	}
}
