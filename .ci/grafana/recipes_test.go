package grafana

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// expression matches the expression of an alert in docs/operate.md.
var expression = regexp.MustCompile(`(?m)^ *(?:- )?expr: (.+)$`)

// TestRecipes parses the alerts in docs/operate.md.
func TestRecipes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operate.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := expression.FindAllStringSubmatch(string(text), -1)
	if len(found) == 0 {
		t.Error("no alerts")
	}
	for _, m := range found {
		if len(selectors(t, m[1])) == 0 {
			t.Errorf("%s reads no metric", m[1])
		}
	}
}
