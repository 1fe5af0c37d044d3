package kibanatest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/kibana/kibanatest"
)

func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{`{"a":1}`, `{"a":"` + strings.Repeat("long ", 50000) + `"}`, `{"a":2}`} {
		if err := kibanatest.WriteAnswer(dir, "panel", "data", kibanatest.Empty, json.RawMessage(text)); err != nil {
			t.Fatal(err)
		}
		got, err := kibanatest.ReadAnswer(dir, "panel", "data", kibanatest.Empty)
		if err != nil || string(got) != text {
			t.Errorf("%.20s, %v; want %.20s", got, err, text)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != "panel.data.empty.json" {
		t.Errorf("%v, %v", files, err)
	}
	if _, err := kibanatest.ReadAnswer(dir, "panel", "data", kibanatest.Full); !os.IsNotExist(err) {
		t.Errorf("no answer: %v", err)
	}
}

func TestNormalize(t *testing.T) {
	got, err := kibanatest.Normalize([]byte(`{"took":3,"timed_out":false,"_shards":{"total":1},
		"hits":{"hits":[{"_index":"mine-runs","_id":"x","_source":{"n":12345678901234567890,"s":"<&>"}}]},
		"aggregations":{"top":{"hits":{"hits":[{"_index":"mine-x","_id":"y"}]}}}}`), "mine")
	want := `{"aggregations":{"top":{"hits":{"hits":[{"_index":"fio-x"}]}}},"hits":{"hits":[{"_index":"fio-runs","_source":{"n":12345678901234567890,"s":"<&>"}}]},"timed_out":false}`
	if err != nil || string(bytes.TrimSpace(got)) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if _, err := kibanatest.Normalize([]byte(`<html>`), "x"); err == nil {
		t.Error("no error")
	}
}
