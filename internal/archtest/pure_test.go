package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadsNothing: jobs, plans and accounts are made of evidence. No file of these steps opens one, or asks the system about one.
func TestReadsNothing(t *testing.T) {
	steps := []string{"covers", "entry", "evidence", "job", "jobfile", "jobs", "options"}
	for folder, least := range map[string]int{"plan": 5, "account": 5, "assign": len(steps)} {
		files, err := filepath.Glob(filepath.Join("..", "..", "pipeline", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = slices.DeleteFunc(files, func(name string) bool {
			base := strings.TrimSuffix(filepath.Base(name), ".go")
			return strings.HasSuffix(base, "_test") || folder == "assign" && !slices.Contains(steps, base)
		})
		if len(files) < least {
			t.Errorf("%s has only %q", folder, files)
		}
		for _, name := range files {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec:
					if slices.Contains([]string{`"os"`, `"io"`, `"io/fs"`, `"context"`}, n.Path.Value) {
						t.Errorf("%s imports %s", name, n.Path.Value)
					}
				case *ast.SelectorExpr:
					if slices.Contains([]string{"Open", "State", "Configure", "Look", "Claims", "Digest", "Printed", "JobFile", "YAML"}, n.Sel.Name) {
						t.Errorf("%v: %s", set.Position(n.Pos()), n.Sel.Name)
					}
				}
				return true
			})
		}
	}
}
