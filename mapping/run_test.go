package mapping_test

import (
	"encoding/json"
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

// FuzzDecodeRun: no text makes decoding a run panic, and what passes Check is written
// and read back as the same document.
func FuzzDecodeRun(f *testing.F) {
	f.Add(sampleRun().AppendJSON(nil))
	f.Add([]byte(`{"run":{"id":"a","ingest":"b","start":"2026-01-01T00:00:00Z","labels":{"a":null}},"levels":["job","x"],"read":{"latency":{"layout":"fio3/9"}}}`))
	f.Add([]byte(`{"run":{"id":"a","ingest":"live-x"},"hosts":[{},{"name":"\u0000"}],"cbt":{"iteration":-1},"source":{"files":[{"hash":"","bytes":-1}]}}`))
	f.Add([]byte(`{"all":{"latency":{"histogram":{"values":[1e308,1],"counts":[9223372036854775807,1]}},"fio":{"percentiles":{"x":1}}},"config":{"a":{"b":[null]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r mapping.Run
		if json.Unmarshal(text, &r) != nil {
			return
		}
		r.Light()
		r.WithFiles()
		r.Source.Hashes()
		first := r.AppendJSON(nil)
		if err := r.Check(); err != nil {
			if !json.Valid(first) {
				t.Fatalf("not JSON: %s", first)
			}
			return
		}
		var again mapping.Run
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("read back %s: %v", first, err)
		}
		if second := again.AppendJSON(nil); string(second) != string(first) {
			t.Fatalf("written again:\n%s\n%s", first, second)
		}
	})
}

// FuzzDecodeCompact: the same for documents as the embedded history keeps them, of this version and of version 1.
func FuzzDecodeCompact(f *testing.F) {
	like := sample(9).Common()
	f.Add(sample(9).AppendCompact(nil))
	f.Add(sample(0).AppendCompact(nil))
	f.Add([]byte("\x30{\"level\":\"host\",\"latency\":{\"layout\":\"fio3/0\"}}\x02\x09\x07\x04"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_ = new(mapping.Interval).UnmarshalVersion1(text)
		d := *like
		if d.UnmarshalCompact(text) != nil || d.Check() != nil {
			return
		}
		again, first := *like, d.AppendCompact(nil)
		if err := again.UnmarshalCompact(first); err != nil {
			t.Fatalf("read back %x: %v", first, err)
		}
		if second := again.AppendCompact(nil); string(second) != string(first) {
			t.Fatalf("written again:\n%x\n%x", first, second)
		}
	})
}
