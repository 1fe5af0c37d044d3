package archtest

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
)

// TestDocumented: ARCHITECTURE.md has the rules of [rules] as a table; -update writes it.
func TestDocumented(t *testing.T) {
	var text strings.Builder
	text.WriteString("| level | package | may import | because |\n|---|---|---|---|\n")
	byLevel := slices.SortedFunc(maps.Keys(rules), func(a, b string) int {
		return cmp.Or(cmp.Compare(rules[a].level, rules[b].level), cmp.Compare(a, b))
	})
	for _, folder := range byLevel {
		r := rules[folder]
		may := strings.Join(slices.Sorted(slices.Values(r.imports)), ", ")
		if r.all {
			may = "everything"
		}
		fmt.Fprintf(&text, "| %d | `%s` | %s | %s |\n", r.level, folder, may, r.why)
	}
	golden.Section(t, filepath.Join("..", "..", "ARCHITECTURE.md"), "<!-- rules: go test ./internal/archtest -update -->", "<!-- /rules -->", text.String())
}
