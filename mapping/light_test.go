package mapping_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
)

// TestLightOfDocument: what lists read of a run is what its document has, to the byte: a check compares them.
func TestLightOfDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := genRun(t)
		document, light := new(mapping.Run), new(mapping.Run)
		if err := errors.Join(json.Unmarshal(run.AppendJSON(nil), document), json.Unmarshal(run.AppendLight(nil), light)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(document.AppendLight(nil)), string(light.AppendLight(nil))); diff != "" {
			t.Error(diff)
		}
	})
}
