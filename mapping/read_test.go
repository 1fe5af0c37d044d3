package mapping_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
)

// TestRead: documents as AppendJSON writes them are read without encoding/json, and as it reads them.
func TestRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := genRun(t)
		for _, text := range [][]byte{run.AppendJSON(nil), run.AppendLight(nil)} {
			checkRun(t, text, true)
		}
		text := genInterval(t).AppendJSON(nil)
		pending, err := mapping.MarkPending(slices.Clone(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		checkInterval(t, text, true)
		checkInterval(t, pending, true)
	})
}

// FuzzRead: all that is read without encoding/json is read as it does.
func FuzzRead(f *testing.F) {
	f.Add(sampleRun().AppendJSON(nil))
	f.Add(sampleRun().AppendLight(nil))
	f.Add(sample(3).AppendJSON(nil))
	for _, text := range []string{
		``, `{}`, `{ }`, `null`, `{"run":null}`, `{"run":{"id":"a","id":"b"}}`, `{"run":{"ID":"a"}}`, `{"run":{"labels":{"a":"b","a":"c"}}}`,
		`{"run":{"name":"a\u0041\n\ud800"}}`, "{\"run\":{\"name\":\"\xff\"}}", "{\"run\":{\"name\":\"a\tb\"}}", `{"run":{"start":"2026-13-01T00:00:00Z"}}`,
		`{"config":{"a":{"b":[1,-0,1e400,{"c":null}]},"d":[],"e":{}}}`, `{"config":{"a":01}}`, `{"config":{"a":1.}}`, `{"config":{"a":.5}}`, `{"config":{"a":truth}}`,
		`{"fio":{"jobs":1e2}}`, `{"fio":{"jobs":9223372036854775808}}`, `{"fio":{"usr_cpu":0x1p3}}`, `{"fio":{"usr_cpu":1_0}}`, `{"fio":{"usr_cpu":+1}}`,
		`{"levels":["host","x"]}`, `{"levels":["host",]}`, `{"levels":[]}`, `{"read":{"iops":1e3,"latency":{"histogram":{"values":[1],"counts":[2]}}}}`,
		`{"@timestamp":["x"}`, `{"interval":{"ms":1}}x`, `{"latency":{"histogram":]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkRun(t, text, false)
		checkInterval(t, text, false)
	})
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkRun(t failer, text []byte, mustRead bool) {
	t.Helper()
	got, ok := mapping.ReadRun(text)
	checkRead(t, text, got, ok, mustRead, mapping.PlainRun)
}

func checkInterval(t failer, text []byte, mustRead bool) {
	t.Helper()
	got, ok := mapping.ReadInterval(text)
	checkRead(t, text, got, ok, mustRead, mapping.PlainInterval)
}

func checkRead[T any](t failer, text []byte, got *T, ok, mustRead bool, plain func([]byte) (*T, error)) {
	t.Helper()
	if !ok {
		if mustRead {
			t.Fatalf("not read: %s", text)
		}
		return
	}
	want, err := plain(text)
	if err != nil {
		t.Fatalf("read, but %v: %s", err, text)
	}
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("%s: %s", text, cmp.Diff(want, got))
	}
}
