package archtest

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noImports imports nothing, because only what the files of a package use of one another matters.
type noImports struct{ types.Importer }

// Import implements [types.Importer].
func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

// arrows returns which files of a package use which others, with the names that they use.
func arrows(t *testing.T, dir string) map[string]map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set, files := token.NewFileSet(), []*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	check := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := check.Check("main", set, files, info) // with errors, because imports are missing
	nameOf := func(at token.Pos) string { return filepath.Base(set.Position(at).Filename) }
	list := map[string]map[string][]string{}
	for ident, used := range info.Uses {
		from, to := nameOf(ident.Pos()), nameOf(used.Pos())
		if used.Pkg() != pkg || !used.Pos().IsValid() || from == to {
			continue
		}
		if list[from] == nil {
			list[from] = map[string][]string{}
		}
		if !slices.Contains(list[from][to], used.Name()) {
			list[from][to] = append(list[from][to], used.Name())
		}
	}
	return list
}

// TestOneWay: no two files of these packages use one another, also not through others. So their files can be read in one order.
func TestOneWay(t *testing.T) {
	for folder, least := range map[string]int{"cmd/fio2es": 20, "pipeline": 10, "pipeline/account": 5, "pipeline/assign": 10, "pipeline/plan": 5} {
		list := arrows(t, filepath.Join("..", "..", filepath.FromSlash(folder)))
		if len(list) < least {
			t.Fatalf("only %d files of %s use others", len(list), folder)
		}
		reaches := func(from, to string) bool {
			seen := map[string]bool{}
			var visit func(string) bool
			visit = func(file string) bool {
				if seen[file] {
					return false
				}
				seen[file] = true
				return file == to || slices.ContainsFunc(slices.Collect(maps.Keys(list[file])), visit)
			}
			return visit(from)
		}
		for from, used := range list {
			for to, names := range used {
				if reaches(to, from) {
					t.Errorf("%s: %s uses %s of %s, which uses %[2]s, too", folder, from, names, to)
				}
			}
		}
	}
}
