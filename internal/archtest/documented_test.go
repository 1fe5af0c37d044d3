package archtest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestDocumented prints the rules of [rules] with -v, and each says why.
func TestDocumented(t *testing.T) {
	byLevel := slices.SortedFunc(maps.Keys(rules), func(a, b string) int {
		return cmp.Or(cmp.Compare(rules[a].level, rules[b].level), cmp.Compare(a, b))
	})
	for _, folder := range byLevel {
		r := rules[folder]
		may := strings.Join(slices.Sorted(slices.Values(r.imports)), ", ")
		if r.all {
			may = "everything"
		}
		if t.Logf("%2d %s: %s\n   may import %s", r.level, folder, r.why, may); r.why == "" {
			t.Errorf("%s: nothing says why", folder)
		}
	}
}
