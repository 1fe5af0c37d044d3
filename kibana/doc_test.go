package kibana_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
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

// TestDoc: docs/kibana.md says what each panel shows and queries.
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
		fmt.Fprintf(&text, "\n### %s\n\n%s\n\n| panel | shows | queries |\n|---|---|---|\n", o.Title(), o.Attributes["description"])
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
			fmt.Fprintf(&text, "| %s | %s | %s |\n", cell(panel.Title()), cell(description), cell(asks(t, b, name, panel)))
		}
	}
	text.WriteString("\n")
	return text.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// asks describes the searches of a panel.
func asks(t *testing.T, b *kibana.Bundle, name string, o kibana.Object) string {
	t.Helper()
	if o.Type == "lens" {
		return lensAsks(o)
	}
	var list []string
	for _, r := range requests(t, b) {
		if r.Panel != name {
			continue
		}
		var url struct {
			Body struct {
				Size int
				Aggs map[string]any
			}
		}
		if err := json.Unmarshal(r.URL, &url); err != nil {
			t.Fatal(err)
		}
		text := "`" + r.Index + "`: "
		if url.Body.Size > 0 {
			text += fmt.Sprintf("up to %d documents", url.Body.Size)
		}
		text += aggsText(url.Body.Aggs)
		if n := len(list); n > 0 && list[n-1] == text {
			list[n-1] += ", twice"
			continue
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, "; ")
}

func lensAsks(o kibana.Object) string {
	text, err := json.Marshal(o.Attributes["state"])
	if err != nil {
		panic(err) // cannot fail: it was decoded from JSON
	}
	var state struct {
		DatasourceStates struct {
			Indexpattern struct {
				Layers map[string]struct {
					Columns     map[string]struct{ OperationType, SourceField string }
					ColumnOrder []string
				}
			}
		}
	}
	if err := json.Unmarshal(text, &state); err != nil {
		panic(err)
	}
	var list []string
	for _, layer := range state.DatasourceStates.Indexpattern.Layers {
		for _, id := range layer.ColumnOrder {
			c := layer.Columns[id]
			list = append(list, strings.ReplaceAll(c.OperationType, "_", " ")+" `"+c.SourceField+"`")
		}
	}
	return "Lens: " + strings.Join(list, ", ")
}

// aggsText describes aggregations. Those of one level are separated by commas, and those of the next level follow an
// arrow.
func aggsText(aggs map[string]any) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(aggs)) {
		one := aggs[name].(map[string]any)
		text := ""
		for _, kind := range slices.Sorted(maps.Keys(one)) {
			if kind != "aggs" && kind != "meta" {
				text = aggText(kind, one[kind].(map[string]any))
			}
		}
		if below, ok := one["aggs"].(map[string]any); ok {
			inner := aggsText(below)
			if len(below) > 1 {
				inner = "(" + inner + ")"
			}
			text += " → " + inner
		}
		list = append(list, text)
	}
	return strings.Join(slices.Compact(list), ", ")
}

func aggText(kind string, p map[string]any) string {
	field := fmt.Sprintf("`%v`", p["field"])
	switch kind {
	case "date_histogram":
		interval, _ := p["interval"].(map[string]any)
		return fmt.Sprintf("%s in %v buckets or up to seven times as many", field, interval["%autointerval%"])
	case "auto_date_histogram":
		return fmt.Sprintf("%s in at most %v buckets", field, p["buckets"])
	case "range":
		return fmt.Sprintf("%d bands of %s", len(p["ranges"].([]any)), field)
	case "percentiles":
		return fmt.Sprintf("percentiles %s of %s by hdr", numbers(p["percents"]), field)
	case "percentile_ranks":
		return fmt.Sprintf("share of %s within %s by hdr", field, numbers(p["values"]))
	case "weighted_avg":
		return fmt.Sprintf("mean `%v`, weighted by `%v`", p["value"].(map[string]any)["field"], p["weight"].(map[string]any)["field"])
	case "terms":
		return "by " + field
	case "filter", "filters":
		return kind
	}
	if p["field"] == nil {
		return strings.ReplaceAll(kind, "_", " ")
	}
	return strings.ReplaceAll(kind, "_", " ") + " " + field
}

func numbers(v any) string {
	list, _ := v.([]any)
	if len(list) == 0 {
		return "(Elasticsearch's default)"
	}
	var texts []string
	for _, n := range list {
		texts = append(texts, fmt.Sprint(n))
	}
	return strings.Join(texts, ", ")
}
