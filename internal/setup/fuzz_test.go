package setup

import (
	"encoding/json"
	"testing"

	"github.com/fio2es/fio2es/mapping/templates"
)

// FuzzObjects: comparing any object of a server does not panic, and an object equals itself.
func FuzzObjects(f *testing.F) {
	f.Add([]byte(`{"_meta":{"managed_by":"fio2es","version":2},"template":{"settings":{"index":{"number_of_shards":"1"},"index.codec":null}},"composed_of":["a"]}`))
	f.Add([]byte(`{"_meta":[],"template":{"settings":{"":{"":1}}}}`))
	f.Add([]byte(`{"phases":{"hot":{"actions":{"rollover":{"max_age":"30d"}}}},"version":1e400}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var o object
		if json.Unmarshal(text, &o) != nil {
			return
		}
		owner(o)
		o.At("template", "settings")
		for _, kind := range []templates.Kind{templates.Policy, templates.Component, templates.Index} {
			if d := differences(nil, "", canonical(kind, o), canonical(kind, o)); len(d) > 0 {
				t.Errorf("differs from itself: %q", d)
			}
		}
	})
}
