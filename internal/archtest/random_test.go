package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	rapidPath = "pgregory.net/rapid"
	seedsPath = module + "/internal/testcost"
)

// TestRandom: every random test has a seed, so that it is never red by chance and each find can be repeated.
func TestRandom(t *testing.T) {
	root := filepath.Join("..", "..")
	imports := map[string][]string{} // of the tests of each folder
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		folder := filepath.Dir(path)
		imports[folder] = append(imports[folder], pathsOf(tree)...)
		for _, found := range unseeded(tree) {
			t.Errorf("%s: %s", set.Position(found.at), found.what)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for folder, paths := range imports {
		if slices.Contains(paths, rapidPath) {
			found++
			if !slices.Contains(paths, seedsPath) {
				t.Errorf("%s uses rapid without internal/testcost, which gives it a fixed seed", folder)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d packages use rapid", found)
	}
}

func pathsOf(tree *ast.File) (paths []string) {
	for _, spec := range tree.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// chance is a use of random numbers that cannot be repeated.
type chance struct {
	at   token.Pos
	what string
}

// unseeded returns the calls in a file that draw from the generator without a seed, or that take a seed from the clock.
func unseeded(tree *ast.File) (found []chance) {
	if !slices.ContainsFunc(pathsOf(tree), func(path string) bool { return path == "math/rand" || path == "math/rand/v2" }) {
		return nil
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if x, ok := call.Fun.(*ast.Ident); ok && x.Name == "uint64" && len(call.Args) == 1 {
			if inner, ok := call.Args[0].(*ast.CallExpr); ok && strings.HasPrefix(selected(inner.Fun), ".Unix") {
				found = append(found, chance{call.Pos(), "a seed from the clock: use testcost.Seed()"})
			}
		}
		name, ok := strings.CutPrefix(selected(call.Fun), "rand.")
		if ok && !isLocal(call.Fun) && !strings.HasPrefix(name, "New") {
			found = append(found, chance{call.Pos(), fmt.Sprintf("rand.%s has no seed: use rand.New with one", name)})
		}
		return true
	})
	return found
}

// selected returns "x.Name" for a selector, also if it has type parameters, and ".Name" if x is an expression.
func selected(e ast.Expr) string {
	if index, ok := e.(*ast.IndexExpr); ok {
		e = index.X
	}
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
		return "." + s.Sel.Name
	}
	return ""
}

// isLocal reports whether the x of a selector x.Name is a variable, not a package.
func isLocal(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Obj != nil
}

// TestUnseeded tests the check.
func TestUnseeded(t *testing.T) {
	const text = `package a
import ("math/rand/v2"; "time")
func f() {
	r := rand.New(rand.NewPCG(1, 2))
	_ = r.IntN(3)
	_ = rand.IntN(3)
	_ = rand.N[int](3)
	_ = rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	{ rand := r; _ = rand.IntN(3) }
}`
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "a.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, c := range unseeded(tree) {
		lines = append(lines, set.Position(c.at).Line)
	}
	if want := []int{6, 7, 8}; !slices.Equal(lines, want) {
		t.Errorf("lines %v, want %v", lines, want)
	}
}
