package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// load reads all packages below root, without their tests.
func load(root string) ([]pkg, error) {
	found := map[string]*pkg{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name := e.Name()
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && (name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_'):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(name, ".go") || name[0] == '.' || name[0] == '_':
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		if found[folder] == nil {
			found[folder] = &pkg{folder: folder}
		}
		return found[folder].parse(path)
	})
	var all []pkg
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		all = append(all, *found[folder])
	}
	return all, err
}

// parse adds a file to its package.
func (p *pkg) parse(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	tree, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, spec := range tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if !slices.Contains(p.imports, imported) {
			p.imports = append(p.imports, imported)
		}
	}
	p.comment = p.comment || tree.Doc.Text() != ""
	return nil
}
