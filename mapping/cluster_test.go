package mapping_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
)

// TestMarkPending: the mark is the only difference, for any names in a document.
func TestMarkPending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &mapping.Interval{
			Level: mapping.Job,
			Run:   mapping.RunRef{ID: rapid.String().Draw(t, "id"), Name: rapid.SampledFrom([]string{"", `"run":{`, `{"run":{"x":1}`}).Draw(t, "name"), Ingest: "1"},
			Host:  mapping.HostRef{Name: rapid.String().Draw(t, "host")},
		}
		const before = "{}\n"
		plain := d.AppendJSON(nil)
		marked, err := mapping.MarkPending(d.AppendJSON([]byte(before)), len(before))
		if err != nil {
			t.Fatal(err)
		}
		rest, ok := strings.CutPrefix(string(marked), before)
		if !ok || strings.Replace(rest, `"pending":true,`, "", 1) != string(plain) {
			t.Fatalf("%s\nis not %s with a mark", marked, plain)
		}
		var read struct{ Run map[string]any }
		if err := json.Unmarshal([]byte(rest), &read); err != nil || read.Run["pending"] != true || read.Run["name"] != name(d) {
			t.Fatalf("%v, %v", read, err)
		}
	})
	if _, err := mapping.MarkPending([]byte(`{"run":1}`), 0); !errors.Is(err, mapping.ErrIdentity) {
		t.Error(err)
	}
}

func name(d *mapping.Interval) any {
	if d.Run.Name == "" {
		return nil
	}
	return d.Run.Name
}
