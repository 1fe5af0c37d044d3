package templates

import (
	"reflect"
	"strings"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// The JSON files of mappings have the fields that no Go type has, and fields whose type does not follow from the Go
// type. All others come from the types of package mapping.

func latencyMappings() Tree {
	t := load("component-latency-mappings.json", "", "")
	fields := t.At("template", "mappings", "properties")
	fields.fill(reflect.TypeFor[mapping.Interval](), map[string]any{"type": "double", "index": false})
	delete(fields, "_doc_count") // every index has it
	return t
}

func runMappings() Tree {
	t := load("component-runs-mappings.json", "", "")
	fields, double := t.At("template", "mappings", "properties"), map[string]any{"type": "double"}
	fields.fill(reflect.TypeFor[mapping.Run](), double)
	fields.At(mapping.RemovedField, "properties").fill(reflect.TypeFor[mapping.Removed](), double)
	fields.At(mapping.SharedField, "properties").fill(reflect.TypeFor[mapping.Part](), double)
	return t
}

// fill adds the fields of a struct that are missing.
func (t Tree) fill(of reflect.Type, double map[string]any) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		typ := f.Type
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice && typ != configType {
			typ = typ.Elem()
		}
		if t[name] == nil {
			t[name] = fieldOf(typ, double)
		}
		if inner := t.At(name, "properties"); inner != nil {
			inner.fill(typ, double)
		}
	}
}

var configType = reflect.TypeOf(mapping.Run{}.Config)

func fieldOf(t reflect.Type, double map[string]any) map[string]any {
	switch t {
	case reflect.TypeFor[mapping.Bins]():
		return map[string]any{"type": "histogram"}
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "date"}
	case reflect.TypeFor[mapping.FioLatency](): // documents have fields of its percentiles, too
		fields := map[string]any{}
		for i := range mapping.Percentiles {
			fields[mapping.Percentiles[i].Field] = double
		}
		return map[string]any{"properties": fields}
	case reflect.TypeFor[mapping.Level]():
		return map[string]any{"type": "keyword"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return map[string]any{"properties": map[string]any{}}
	case reflect.Map, reflect.Slice: // a configuration is JSON
		return map[string]any{"type": "flattened", "depth_limit": 100, "ignore_above": 1024}
	case reflect.String:
		return map[string]any{"type": "keyword", "ignore_above": 1024}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return double
	}
	return map[string]any{"type": "long"}
}
