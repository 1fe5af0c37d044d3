package templates_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// family is one of the two sorts of documents and the component that maps it.
type family struct {
	component string
	document  document   // a pointer to a zero one
	metadata  []string   // fields of the struct that Elasticsearch has itself
	others    []document // pointers to zero ones of other types in the same index
}

type document interface{ AppendJSON([]byte) []byte }

var documents = []family{
	{"fio-latency-mappings", new(mapping.Interval), []string{"_doc_count"}, nil},
	{"fio-runs-mappings", new(mapping.Run), nil, []document{new(mapping.Removed), new(mapping.Part), new(summary)}},
}

// summary is what a store adds to run documents.
type summary struct{}

func (summary) AppendJSON(b []byte) []byte {
	return append(b, `{"`+mapping.SummaryField+`":"AA=="}`...)
}

// objectsByName are all objects for options.
func objectsByName(t *testing.T, opt templates.Options) map[string]map[string]any {
	t.Helper()
	all, err := templates.All(opt)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]map[string]any{}
	for _, o := range all {
		byName[o.Name+" "+string(o.Kind)] = decode(t, o.Body.JSON())
	}
	return byName
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return v
}

// at goes into objects.
func at(v any, path ...string) any {
	for _, k := range path {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	return v
}

func mappings(t *testing.T, component string) map[string]any {
	t.Helper()
	m, ok := at(objectsByName(t, templates.Options{})[component+" component template"], "template", "mappings").(map[string]any)
	if !ok {
		t.Fatalf("%s has no mappings", component)
	}
	return m
}

// leaves are the types of all mapped fields, by path.
func leaves(properties any, path string, into map[string]string) map[string]string {
	for name, f := range properties.(map[string]any) {
		if inner, isObject := f.(map[string]any)["properties"]; isObject {
			leaves(inner, path+name+".", into)
			continue
		}
		into[path+name] = at(f, "type").(string)
	}
	return into
}

// TestFullDocumentsAreMapped: every field that the encoders write has its place, and a type that takes it.
func TestFullDocumentsAreMapped(t *testing.T) {
	for _, d := range documents {
		text := fullText(d.document)
		content := decode(t, text)
		for _, other := range d.others {
			maps.Copy(content, decode(t, fullText(other)))
		}
		properties := mappings(t, d.component)["properties"]
		mapped := leaves(properties, "", map[string]string{})
		seen := map[string]bool{}
		for _, fault := range check(content, properties, "", d.metadata, seen) {
			t.Errorf("%s: %s", d.component, fault)
		}
		for _, name := range slices.Sorted(maps.Keys(mapped)) {
			if !seen[name] {
				t.Errorf("%s: %s is mapped, but in no document", d.component, name)
			}
		}
	}
}

// fullText is a document of the same type in which every field is written.
func fullText(d document) []byte {
	v := reflect.New(reflect.TypeOf(d).Elem())
	full(v.Elem())
	return v.Interface().(document).AppendJSON(nil)
}

// full gives every field a value that is written.
func full(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 21, 10, 0, 0, 5e6, time.UTC)))
			return
		}
		for i := range v.NumField() {
			full(v.Field(i))
		}
		if fio, ok := v.Addr().Interface().(*mapping.FioLatency); ok { // the ranks that have fields of their own
			fio.Percentiles = nil
			for i := range mapping.Percentiles {
				fio.Percentiles = append(fio.Percentiles, mapping.FioPercentile{Rank: mapping.Percentiles[i].Rank})
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeOf(mapping.Run{}.Config) {
			v.SetBytes([]byte(`{"key.with.dots":"value"}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		full(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key.with.dots"), reflect.ValueOf("value"))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Uint8:
		v.SetUint(uint64(mapping.Job))
	default:
		v.SetInt(3)
	}
}

// check says what of a document a strict index would refuse.
func check(document map[string]any, properties any, path string, metadata []string, seen map[string]bool) (faults []string) {
	for name, value := range document {
		if slices.Contains(metadata, path+name) {
			continue
		}
		field, ok := at(properties, name).(map[string]any)
		if !ok {
			faults = append(faults, path+name+" is in documents, but not mapped")
			continue
		}
		values, isList := value.([]any)
		if !isList {
			values = []any{value}
		}
		for _, v := range values {
			if inner, isObject := field["properties"]; isObject {
				faults = append(faults, check(v.(map[string]any), inner, path+name+".", metadata, seen)...)
				continue
			}
			seen[path+name] = true
			if !takes(field["type"].(string), v) {
				faults = append(faults, fmt.Sprintf("%s%s is %v, which type %v does not take", path, name, v, field["type"]))
			}
		}
	}
	return faults
}

// takes reports whether a field of a type takes a value without changing it.
func takes(typ string, value any) bool {
	switch v := value.(type) {
	case json.Number:
		return typ == "double" || typ == "long" && !strings.ContainsAny(v.String(), ".eE")
	case bool:
		return typ == "boolean"
	case string:
		_, err := time.Parse(time.RFC3339, v)
		return typ == "keyword" || typ == "text" || typ == "binary" || typ == "date" && err == nil
	case map[string]any:
		_, hasValues := v["values"]
		return typ == "flattened" || typ == "object" || typ == "histogram" && hasValues && len(v) == 2
	}
	return false
}

// TestCheckFindsFaults tries the test itself.
func TestCheckFindsFaults(t *testing.T) {
	properties := decode(t, []byte(`{"a":{"type":"long"},"o":{"properties":{"k":{"type":"keyword"}}}}`))
	for text, want := range map[string]string{
		`{"a":1,"o":{"k":"x"}}`: "", `{"a":1.5}`: "a is 1.5", `{"b":1}`: "b is in documents",
		`{"o":{"x":1}}`: "o.x is in documents", `{"o":[{"k":"x"},{"k":true}]}`: "o.k is true",
	} {
		got := strings.Join(check(decode(t, []byte(text)), properties, "", nil, map[string]bool{}), "; ")
		if !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q instead of %q", text, got, want)
		}
	}
}
