package kibana_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/kibana"
)

// The part of docs/kibana.md that is made from the sources.
const (
	panelsBegin = "<!-- made of kibana/objects: go test ./kibana -update -->"
	panelsEnd   = "<!-- end -->"
)

// TestDoc: docs/kibana.md says what each panel shows.
func TestDoc(t *testing.T) {
	file := filepath.Join("..", "docs", "kibana.md")
	golden.Section(t, file, panelsBegin, panelsEnd, panelList(t, bundle(t, kibana.Options{})))
}

// panelList returns a table of panels for each dashboard.
func panelList(t *testing.T, b *kibana.Bundle) string {
	t.Helper()
	byID := map[string]kibana.Object{}
	for _, o := range b.Objects {
		byID[o.ID] = o
	}
	var text strings.Builder
	for _, o := range b.Objects {
		if o.Type != "dashboard" {
			continue
		}
		fmt.Fprintf(&text, "\n### %s\n\n%s\n\n| panel | shows |\n|---|---|\n", o.Title(), o.Attributes["description"])
		for _, r := range o.References {
			panel := byID[r.ID]
			if panel.Type == "index-pattern" {
				continue
			}
			name := strings.TrimPrefix(panel.ID, "fio2es-")
			description, _ := panel.Attributes["description"].(string)
			if description == "" {
				t.Errorf("panel %s has no description", name)
			}
			fmt.Fprintf(&text, "| %s | %s |\n", cell(panel.Title()), cell(description))
		}
	}
	text.WriteString("\n")
	return text.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
