package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/evidence"
)

func TestYAMLAliases(t *testing.T) {
	m, err := evidence.ParseYAML([]byte("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}\n"))
	if err != nil || fmt.Sprint(m) != "map[a:map[x:1] b:map[x:1] c:map[x:1 y:2]]" {
		t.Errorf("%v, %v", m, err)
	}
}

// TestYAMLKeys: keys that are no texts are texts as they are written. Two of one text are refused.
func TestYAMLKeys(t *testing.T) {
	for text, want := range map[string]string{
		"1: a\n1.0: b\ntrue: c\n~: d\n2026-01-02: e\n": "map[1:a 1.0:b 2026-01-02:e null:d true:c]",
		"k: &k 1\n*k : 2\nm: {1.50: [{0x10: x}]}\n":    "map[1:2 k:1 m:map[1.50:[map[0x10:x]]]]",
		"null: a\n~: b\n": `mapping key "null" already defined`,
		"? [a]\n: b\n":    "invalid map key",
	} {
		m, err := evidence.ParseYAML([]byte(text))
		if got := fmt.Sprint(m, err); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
