package elastic

import "testing"

// TestRunIDOfKey: the id of a run is a sort key of its hit. The key may be missing or of another type.
func TestRunIDOfKey(t *testing.T) {
	for keys, want := range map[string]string{`[1, "a"]`: "a", `[1]`: "", `[1, null]`: "", `[1, 2]`: "", `[1, ""]`: ""} {
		if id, err := sortKey(keys).runID(); id != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", keys, id, err, want)
		}
	}
}
