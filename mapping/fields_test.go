package mapping

import (
	"reflect"
	"strings"
	"testing"
)

// hasField reports whether documents of a type have a field.
func hasField(of reflect.Type, path string) bool {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	name, rest, isDeeper := strings.Cut(path, ".")
	for i := range of.NumField() {
		f := of.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" && hasField(f.Type, path) || tag == name && (!isDeeper || hasField(f.Type, rest)) {
			return true
		}
	}
	return false
}

// TestFields: documents have the fields of queries. Elasticsearch finds nothing, without an error, by a name that does not exist.
func TestFields(t *testing.T) {
	interval, run := reflect.TypeFor[Interval](), reflect.TypeFor[Run]()
	for _, name := range []string{
		TimeField, RunField, IngestField, ExecutionField, LevelField, HostField, HostsField, JobField, SectionField, DirectionField, PartField, HistogramField, PendingField,
	} {
		if !hasField(interval, name) {
			t.Errorf("interval documents have no %s", name)
		}
	}
	for _, name := range []string{RunField, IngestField, ExecutionField, StartField, FilesField, "all." + HistogramField} {
		if !hasField(run, name) {
			t.Errorf("run documents have no %s", name)
		}
	}
}
