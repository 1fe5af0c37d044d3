package mapping_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/mapping"
)

// FuzzReadBins: a histogram is read as encoding/json reads it.
func FuzzReadBins(f *testing.F) {
	for _, text := range []string{
		`{"values":[1.5,2e3],"counts":[2,3]}`, `{"values":[],"counts":[]}`, `{"values":[1.5,2],"counts":[2,3], "other":1}`, `{"counts":[2],"values":[1]}`,
		`{"values":[1,"],"],"counts":[2]}`, `{"values":[1e400],"counts":[2]}`, `{"values":[null],"counts":[2]}`, `{"values":[1],"counts":[2.0]}`,
		`{"values":[[1]],"counts":[2]}`, `{"values":[ 1],"counts":[9223372036854775808]}`, `{"values":[-0],"counts":[-0]}`, `{}`, `null`, ``, `{"values":null}`,
	} {
		f.Add([]byte(text))
	}
	type plain mapping.Bins
	f.Fuzz(func(t *testing.T, text []byte) {
		var got mapping.Bins
		var want plain
		gotErr, wantErr := json.Unmarshal(text, &got), json.Unmarshal(text, &want)
		if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !reflect.DeepEqual(got, mapping.Bins(want)) {
			t.Fatalf("%s: %v, %v: %s", text, gotErr, wantErr, cmp.Diff(mapping.Bins(want), got))
		}
	})
}
