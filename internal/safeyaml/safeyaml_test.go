package safeyaml

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var small = Limits{Bytes: 4 << 10, Values: 50, Text: 1 << 10, Keys: 5, Depth: 6}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a mapping", "a: 1\nb: [x, y]\n", "map[a:1 b:[x y]]"},
		{"an alias", "a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}\n", "map[a:map[x:1] b:map[x:1] c:map[x:1 y:2]]"},
		{"nothing", "# nothing\n", "<nil>"},
		{"more documents", "a: 1\n---\nb: 2\n", "map[a:1] and more"},
		{"a second one that is wrong", "a: 1\n---\nb: [\n", "map[a:1] and more"},
		{"long", strings.Repeat("#", 5<<10), "too much YAML: longer than 4096 bytes"},
		{"many values", "[" + strings.Repeat("a, ", 60) + "]", "line 1: too much YAML: more than 50 values, counting each use of an alias"},
		{"much text", "a: " + strings.Repeat("x", 2000), "line 1: too much YAML: more than 1024 bytes of text, counting each use of an alias"},
		{"aliases", "a: &a " + strings.Repeat("x", 300) + "\nb: [*a, *a, *a]", "line 1: too much YAML: more than 1024 bytes of text, counting each use of an alias"},
		{"many keys", "{a: 1, b: 1, c: 1, d: 1, e: 1, f: 1}", "line 1: too much YAML: a mapping of more than 5 keys"},
		{"deep", "[[[[[[x]]]]]]", "line 1: too much YAML: nested deeper than 6"},
		{"a key twice", "a: 1\nb: 2\na: 3\n", `line 3: the key "a" is there already, in line 1`},
		{"an alias of itself", "a: &a [x, *a]", `line 1: the alias "a" contains itself`},
		{"directives", strings.Repeat("%TAG !a! x\n", 101) + "---\na: b\n", "too much YAML: 101 times %TAG"},
		{"no YAML", "a: [", "yaml: line 1: did not find expected node content"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := parsed(t.Context(), tt.text); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// parsed returns the meaning of a text, or why it is refused.
func parsed(ctx context.Context, text string) string {
	node, more, err := Parse(ctx, []byte(text), small)
	var v any
	if err == nil && node != nil {
		err = node.Decode(&v)
	}
	switch {
	case err != nil:
		return err.Error()
	case more:
		return fmt.Sprint(v, " and more")
	}
	return fmt.Sprint(v)
}

func TestParseEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Parse(ctx, []byte("a: 1"), small); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// FuzzParse: an accepted text is within the limits after its aliases are resolved.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a: &a [x]\nb: *a", "{<<: {a: 1}}", "? [a]\n: b", "--- a\n--- b", "a: !!binary aGk=", "%TAG ! x\n---\na"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		node, _, err := Parse(t.Context(), []byte(text), small)
		if err != nil || node == nil {
			return
		}
		values := 0
		var count func(n *yaml.Node)
		count = func(n *yaml.Node) {
			if values++; values > small.Values {
				t.Fatalf("%q has more than %d values", text, small.Values)
			}
			if n.Alias != nil {
				count(n.Alias)
			}
			for _, below := range n.Content {
				count(below)
			}
		}
		count(node)
	})
}
