package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping/templates"
)

// TestFieldNames: only package mapping writes names of fields of documents. Others take its constants, or the Go types, so that a
// field with a new name has no old one elsewhere: Elasticsearch finds nothing by that, without an error.
func TestFieldNames(t *testing.T) {
	fields := map[string]bool{} // names with dots; others are words
	for _, of := range []map[string]string{templates.RunFields(), templates.LatencyFields()} {
		for name := range of {
			for end := strings.Index(name, "."); end >= 0 && !fields[name]; end = strings.LastIndex(name, ".") {
				fields[name], name = true, name[:end]
			}
		}
	}
	if !fields["run.id"] || !fields["latency.histogram"] || fields["level"] {
		t.Fatalf("%v", fields)
	}
	ofConditions := map[string]bool{"internal/where workload.id": true, "internal/where workload.name": true} // called so, too
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(file string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() && (file == "mapping" || e.Name() == "testdata" || file != "." && e.Name()[0] == '.') {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, text, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if l, isLiteral := n.(*ast.BasicLit); isLiteral && l.Kind == token.STRING {
				if value, _ := strconv.Unquote(l.Value); fields[strings.Trim(value, ".*")] && !ofConditions[path.Dir(file)+" "+value] {
					t.Errorf("%s: %q is the name of a field: take its constant in package mapping, or the Go type", set.Position(l.Pos()), value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
