package mapping

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
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
	interval, run, files := reflect.TypeFor[Interval](), reflect.TypeFor[Run](), []string{FilesField, FileRoleField, FileHashField, FileBeginField, FileSaysField}
	seen := map[string]bool{RemovedField: true, SharedField: true, WorkloadsField: true, SummaryField: true} // AppendJSON of [Removed], [Part] and [Run] writes them, the last one a store
	check := func(of reflect.Type, object string, names ...string) {
		for _, name := range names {
			seen[object+name] = true
			if !hasField(of, name) {
				t.Errorf("%s has no %s", of, name)
			}
		}
	}
	check(interval, "", TimeField, LengthField, RunField, IngestField, ExecutionField, EditField, LevelField, HostField, HostsField, JobField, SectionField, DirectionField, PartField,
		HistogramField, PendingField)
	check(run, "", RunField, IngestField, ExecutionField, StartField, WorkloadField, "all."+HistogramField, "sync."+HistogramField, "sections.all."+HistogramField)
	check(run, "", files...)
	check(reflect.TypeFor[Removed](), "", files...)
	check(reflect.TypeFor[Removed](), RemovedField+".", strings.TrimPrefix(RemovedIDField, RemovedField+"."))
	check(reflect.TypeFor[Part](), SharedField+".", strings.TrimPrefix(SharedRunField, SharedField+"."), strings.TrimPrefix(SharedIngestField, SharedField+"."),
		strings.TrimPrefix(SharedFilesField, SharedField+"."))

	set := token.NewFileSet()
	source, err := parser.ParseFile(set, "fields.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names, err := new(types.Config).Check("mapping", set, []*ast.File{source}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names.Scope().Names() {
		if value := constant.StringVal(names.Scope().Lookup(name).(*types.Const).Val()); !seen[value] {
			t.Errorf("%s is %s: this test does not know in which documents it is", name, value)
		}
	}
}
