package es_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/es"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
)

// readers return the same text in pieces of different sizes.
func readers(text []byte) []io.Reader {
	return []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text)), iotest.DataErrReader(bytes.NewReader(text))}
}

// walk reads an array or an object item by item, and any other value at once.
func walk(v *es.Values, text []byte) (any, error) {
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		object := map[string]any{}
		return object, v.Object(func(name string) (err error) {
			var value any
			err = v.Decode(&value)
			object[name] = value
			return err
		})
	case bytes.HasPrefix(text, []byte("[")):
		array := []any{}
		return array, v.Array(func() error {
			text, err := v.Take()
			var value any
			if err == nil {
				err = json.Unmarshal(text, &value)
			}
			array = append(array, value)
			return err
		})
	}
	var value any
	return value, v.Decode(&value)
}

// TestValues: the values are those of encoding/json, for any size of the pieces and with spaces anywhere.
func TestValues(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		text := rapid.StringOf(rapid.SampledFrom([]rune(`a"\{}[],: é` + "\n")))
		kinds := []*rapid.Generator[any]{
			text.AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
		}
		if depth > 0 {
			kinds = append(kinds, rapid.SliceOfN(value(depth-1), 0, 4).AsAny(),
				rapid.MapOfN(rapid.StringMatching(`[a-z_]{1,8}`), value(depth-1), 0, 4).AsAny())
		}
		return rapid.OneOf(kinds...)
	}
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(value(4).Draw(t, "value"))
		if err == nil && rapid.Bool().Draw(t, "has spaces") {
			var spaced bytes.Buffer
			err = json.Indent(&spaced, text, "\n", " \t")
			text = spaced.Bytes()
		}
		var want any
		if err := errors.Join(err, json.Unmarshal(text, &want)); err != nil {
			t.Fatal(err)
		}
		text = append(text, ' ') // a number ends only when another character follows
		for _, r := range readers(text) {
			v := es.NewValues(r)
			got, err := walk(v, text)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("%s: %v %s", text, err, diff)
			}
			if v.Bytes() == 0 || v.Failed() != nil {
				t.Fatalf("%s: %d bytes, %v", text, v.Bytes(), v.Failed())
			}
		}
	})
}

// TestBadValues: unexpected text is an ErrAnswer; text that ends too early is another error.
func TestBadValues(t *testing.T) {
	for text, want := range map[string]error{
		``: io.ErrUnexpectedEOF, `{`: io.ErrUnexpectedEOF, `{"a`: io.ErrUnexpectedEOF, `{"a"`: io.ErrUnexpectedEOF,
		`{"a":`: io.ErrUnexpectedEOF, `{"a":1`: io.ErrUnexpectedEOF, `{"a":"\"`: io.ErrUnexpectedEOF, `{"a":{"b":1}`: io.ErrUnexpectedEOF,
		`<html>`: es.ErrAnswer, `[1]`: es.ErrAnswer, `{1:2}`: es.ErrAnswer, `{"a" 1}`: es.ErrAnswer, `{"a":}`: es.ErrAnswer,
		`{"a":1 "b":2}`: es.ErrAnswer, `{"a":1]`: es.ErrAnswer, `{,}`: es.ErrAnswer, `{"a":1,}`: es.ErrAnswer,
	} {
		for _, r := range readers([]byte(text)) {
			v := es.NewValues(r)
			err := v.Object(func(string) error { _, err := v.Take(); return err })
			if !errors.Is(err, want) {
				t.Errorf("%q: %v, want %v", text, err, want)
			}
		}
	}
	broken := errors.New("broken")
	v := es.NewValues(io.MultiReader(strings.NewReader(`[1, `), iotest.ErrReader(broken)))
	if err := v.Array(func() error { _, err := v.Take(); return err }); !errors.Is(err, broken) || !errors.Is(v.Failed(), broken) {
		t.Errorf("%v, %v", err, v.Failed())
	}
}

// FuzzValues: reading always ends, and a text that encoding/json accepts is no error.
func FuzzValues(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":"c\\\"d"}],"e":null}`, `[{}, [] , "x",-1e9]`, `{"a":1,}`, `[1 2]`, `["\`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want any
		isValid := json.Unmarshal(text, &want) == nil && len(text) > 0 && (text[0] == '{' || text[0] == '[')
		for _, r := range readers(text) {
			if _, err := walk(es.NewValues(r), text); isValid && err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
