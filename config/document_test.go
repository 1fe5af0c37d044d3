package config

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
)

// TestSettingsDocument: docs/settings.md has all settings, as the comments of Config describe them.
func TestSettingsDocument(t *testing.T) {
	structs := map[string]*ast.StructType{}
	for _, name := range []string{"config.go", "client.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if body, ok := s.Type.(*ast.StructType); ok {
					structs[s.Name.Name] = body
				}
			}
			return true
		})
	}
	t.Setenv("HOME", "/home/me")
	t.Setenv("XDG_DATA_HOME", "")
	defaults, found := flat(Default()), map[string]bool{}
	var table strings.Builder
	table.WriteString("| setting | variable | default | what it is |\n|---|---|---|---|\n")
	var rows func(of, section string)
	rows = func(of, section string) {
		for _, f := range structs[of].Fields.List {
			tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("mapstructure")
			named, _ := f.Type.(*ast.Ident)
			isStruct := named != nil && structs[named.Name] != nil
			switch {
			case tag == "-":
				continue
			case isStruct && tag == ",squash":
				rows(named.Name, section)
				continue
			case isStruct:
				rows(named.Name, tag+".")
				continue
			}
			name := section + tag
			text := strings.Join(strings.Fields(f.Doc.Text()+f.Comment.Text()), " ")
			if words, ok := strings.CutPrefix(text, f.Names[0].Name+" is "); ok {
				text = words
			}
			text = strings.TrimSuffix(strings.TrimPrefix(text, f.Names[0].Name+" "), ".")
			if found[name] = true; text == "" {
				t.Errorf("%s has no comment", name)
			}
			value := strings.Trim(fmt.Sprint(defaults[name]), "[]")
			if value = strings.TrimPrefix(value, "map"); value != "" && value != "0" && value != "false" {
				value = "`" + strings.TrimPrefix(value, "/home/me") + "`"
				value = strings.Replace(value, "`/.local", "`~/.local", 1)
			} else {
				value = ""
			}
			fmt.Fprintf(&table, "| `%s` | `%s` | %s | %s |\n", name, Variable(name), value, strings.ReplaceAll(text, "|", `\|`))
		}
	}
	rows("Config", "")
	for name := range defaults {
		if !found[name] {
			t.Errorf("docs/settings.md lacks %s", name)
		}
	}
	golden.Section(t, filepath.Join("..", "docs", "settings.md"), "<!-- settings -->", "<!-- /settings -->", table.String())
}
