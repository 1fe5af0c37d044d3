package mapping_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
)

// TestBrief: a brief run has no field that is not brief, and all others as they were; it can be read again.
func TestBrief(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := genRun(t)
		var want map[string]any
		if err := json.Unmarshal(run.AppendJSON(nil), &want); err != nil {
			t.Fatal(err)
		}
		for _, field := range mapping.NotBrief {
			drop(want, strings.Split(field, "."))
		}
		text, err := json.Marshal(want)
		filtered := new(mapping.Run)
		if err == nil {
			err = json.Unmarshal(text, filtered)
		}
		if err != nil {
			t.Fatal(err)
		}
		indented, err := json.MarshalIndent(run, "", " ") // is decoded in another way
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{run.AppendLight(nil), run.AppendJSON(nil), indented} {
			got := new(mapping.Run)
			if err := got.UnmarshalBrief(text); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(filtered.AppendJSON(nil)), string(got.AppendJSON(nil))); diff != "" {
				t.Errorf("a filtered document, and a brief one of %s: %s", text, diff)
			}
		}
	})
}

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

// drop removes a field from a document.
func drop(from any, path []string) {
	switch v := from.(type) {
	case []any:
		for _, item := range v {
			drop(item, path)
		}
	case map[string]any:
		for name, item := range v {
			switch {
			case path[0] != name:
			case len(path) == 1:
				delete(v, name)
			default:
				drop(item, path[1:])
			}
		}
	}
}
