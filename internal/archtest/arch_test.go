package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture checks the module against its rules.
func TestArchitecture(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(text), "module "+module+"\n") {
		t.Fatalf("%s is not the root of %s: %v", root, module, err)
	}
	all, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(all, func(p pkg) bool { return p.folder == "pipeline" && len(p.imports) > 5 }) {
		t.Fatalf("package pipeline was not found among %d", len(all))
	}
	for _, v := range violations(all, rules) {
		t.Error(v)
	}
}

// TestRules: the rules themselves allow no cycle.
func TestRules(t *testing.T) {
	for _, c := range contradictions(rules) {
		t.Error(c)
	}
}

// sound returns a package that breaks no rule.
func sound(folder string, imports ...string) pkg {
	for i, path := range imports {
		if own, isOwn := strings.CutPrefix(path, "./"); isOwn {
			imports[i] = module + "/" + own
		}
	}
	return pkg{folder: folder, imports: imports, comment: true}
}

// TestViolations tests the check: each of these packages breaks one rule, or none.
func TestViolations(t *testing.T) {
	silent := sound("mapping", "./hist")
	silent.comment = false
	for _, c := range []struct {
		name string
		pkg  pkg
		want []string // the beginning of each violation
	}{
		{"standard library", sound("hist", "math", "slices"), nil},
		{"what it may", sound("pipeline/align", "context", "./hist", "./pipeline/fiolog"), nil},
		{"what it may, from outside", sound("pipeline/source", "os", "github.com/therootcompany/xz/lzma"), nil},
		{"higher level", sound("hist", "./pipeline/fiolog"), []string{"hist imports pipeline/fiolog: other programs"}},
		{"same level", sound("pipeline/source", "./pipeline/fiolog"), []string{"pipeline/source imports pipeline/fiolog: bytes come"}},
		{"lower, but not its business", sound("pipeline/plan", "./pipeline/layout"), []string{"pipeline/plan imports pipeline/layout: when jobs"}},
		{"module where only the standard library is allowed", sound("internal/fiotest", "example.com/x"), []string{"internal/fiotest imports example.com/x, not of the"}},
		{"files where only numbers are", sound("pipeline/align", "os"), []string{"pipeline/align imports os: it computes"}},
		{"library of another package", sound("pipeline", "github.com/spf13/viper"), []string{"pipeline imports github.com/spf13/viper, as only [config] may"}},
		{"part of a library of another package", sound("config", "modernc.org/sqlite/lib"), []string{"config imports modernc.org/sqlite/lib, as only"}},
		{"library with a similar name", sound("config", "modernc.org/sqlite3"), nil},
		{"tests' library", sound("mapping", "testing"), []string{"mapping imports testing, as only"}},
		{"command", sound("config", "./cmd/fio2es"), []string{"config imports cmd/fio2es: no package"}},
		{"fiotest, its program", sound("internal/fiotest/generate", "./internal/fiotest"), nil},
		{"fiotest, another", sound("pipeline", "./internal/fiotest"), []string{"pipeline imports internal/fiotest: it connects"}},
		{"unknown package", sound("internal/util"), []string{"internal/util has no rule"}},
		{"no comment", silent, []string{"mapping has no package comment"}},
		{"several", sound("kibana", "./hist", "./config"), []string{"kibana imports hist:", "kibana imports config:"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := violations([]pkg{c.pkg}, rules)
			if len(got) != len(c.want) {
				t.Fatalf("found %q, want %q", got, c.want)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("found %q, want %q", got[i], want)
				}
			}
		})
	}
}

// TestTestsOnly: if a rule allows the import of a package for tests, other packages still may not import it.
func TestTestsOnly(t *testing.T) {
	loose := map[string]rule{"pipeline": {imports: []string{"internal/fiotest"}, why: "a mistake"}}
	got := violations([]pkg{sound("pipeline", "./internal/fiotest")}, loose)
	if len(got) != 1 || !strings.Contains(got[0], "for tests") {
		t.Errorf("found %q", got)
	}
}

func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules map[string]rule
		want  string
	}{
		{"none", map[string]rule{"a": {why: "x"}, "b": {level: 1, imports: []string{"a"}, why: "x"}}, ""},
		{"circle", map[string]rule{"a": {imports: []string{"b"}, why: "x"}, "b": {level: 1, imports: []string{"a"}, why: "x"}}, "a (level 0) may import b (level 1)"},
		{"level", map[string]rule{"a": {why: "x"}, "b": {imports: []string{"a"}, why: "x"}}, "b (level 0) may import a (level 0)"},
		{"unknown", map[string]rule{"a": {level: 1, imports: []string{"z"}, why: "x"}}, "a may import z"},
		{"no reason", map[string]rule{"a": {}}, "a has a rule without a reason"},
		{"costs more", map[string]rule{"a": {why: "x"}, "b": {level: 1, imports: []string{"a"}, std: true, why: "x"}}, "b is to cost no more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(contradictions(c.rules), "\n")
			if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// TestLoad reads a small module: tests, testdata and hidden folders do not count.
func TestLoad(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go":          "package a\n\nimport (\n\t\"os\"\n\t_ \"example.com/x\"\n)\n\nfunc f() {\n\tos.Exit(1)\n}\n",
		"a/doc.go":        "// Package a is documented elsewhere.\npackage a\n",
		"a/a_test.go":     "package a\n\nimport \"testing\"\n",
		"a/testdata/b.go": "package b\n",
		"a/.hidden/c.go":  "package c\n",
		"b/b.go":          "package b\n",
		"b/notes.txt":     "none\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, err := load(root)
	if err != nil || len(all) != 2 {
		t.Fatalf("found %+v, %v", all, err)
	}
	a, b := all[0], all[1]
	if a.folder != "a" || !a.comment || !slices.Equal(a.imports, []string{"os", "example.com/x"}) {
		t.Errorf("a is %+v", a)
	}
	if b.folder != "b" || b.comment || b.imports != nil {
		t.Errorf("b is %+v", b)
	}
}
