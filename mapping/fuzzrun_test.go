package mapping_test

import (
	"encoding/json"
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

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

// FuzzDecodeCompact: the same for documents as the embedded history keeps them.
func FuzzDecodeCompact(f *testing.F) {
	f.Add(sample(9).AppendCompact(nil))
	f.Add(sample(0).AppendCompact(nil))
	f.Add([]byte(`{"level":"host","latency":{"histogram":{"deltas":[1,-1],"counts":[1]},"layout":"fio2/6"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d mapping.Interval
		if d.UnmarshalCompact(text) != nil || d.Check() != nil {
			return
		}
		var again mapping.Interval
		first := d.AppendCompact(nil)
		if err := again.UnmarshalCompact(first); err != nil {
			t.Fatalf("read back %s: %v", first, err)
		}
		if second := again.AppendCompact(nil); string(second) != string(first) {
			t.Fatalf("written again:\n%s\n%s", first, second)
		}
	})
}
