package kibanatest_test

import (
	"bytes"
	"testing"

	"github.com/fio2es/fio2es/kibana/kibanatest"
)

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
