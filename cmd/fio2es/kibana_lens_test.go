package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/kibana"
)

// TestKibanaElasticTables sends to a real cluster the searches that Lens makes for the columns of our tables. There
// must be a row for each run of the example archive, with the numbers of the run document.
func TestKibanaElasticTables(t *testing.T) {
	real, prefixes := cluster(t, "tables")
	prefix := prefixes[0]
	ingestExample(t, real, prefix)
	runs := map[string]any{} // documents by run.link
	var found struct {
		Hits struct {
			Hits []struct {
				Source map[string]any `json:"_source"`
			}
		}
	}
	request(t, real, "POST", "/"+prefix+"-runs/_search", `{"size":100}`, &found)
	for _, h := range found.Hits.Hits {
		runs[field(h.Source, "run.link").(string)] = h.Source
	}
	b, err := kibana.New(kibana.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, o := range b.Objects {
		if o.Type != "lens" {
			continue
		}
		tables++
		columns := lensColumns(t, o)
		var answer struct {
			Aggregations struct {
				Rows struct{ Buckets []map[string]json.RawMessage }
			}
		}
		request(t, real, "POST", "/"+prefix+"-runs/_search", lensSearch(t, columns), &answer)
		if len(runs) != 3 || len(answer.Aggregations.Rows.Buckets) != len(runs) {
			t.Fatalf("%s: %d rows of %d runs", o.ID, len(answer.Aggregations.Rows.Buckets), len(runs))
		}
		for _, row := range answer.Aggregations.Rows.Buckets {
			var link string
			if err := json.Unmarshal(row["key"], &link); err != nil || runs[link] == nil {
				t.Fatalf("%s: a row of %q, %v", o.ID, link, err)
			}
			for id, c := range columns {
				var cell struct {
					Value any
					Top   []struct{ Metrics map[string]any }
				}
				if c.OperationType == "terms" {
					continue
				}
				if err := json.Unmarshal(row[id], &cell); err != nil {
					t.Fatalf("%s, column %s: %v", o.ID, id, err)
				}
				if len(cell.Top) == 1 {
					cell.Value = cell.Top[0].Metrics[c.SourceField]
				}
				// compared as text, because true may be "true"
				if want := field(runs[link], c.SourceField); want == nil || fmt.Sprint(cell.Value) != fmt.Sprint(want) {
					t.Errorf("%s, %s: %s is %v, in the run's document %v", o.ID, link, c.SourceField, cell.Value, want)
				}
			}
		}
	}
	if tables == 0 {
		t.Error("there are no tables")
	}
}

type lensColumn struct{ OperationType, SourceField string }

// lensColumns returns the columns of a table with one layer.
func lensColumns(t *testing.T, o kibana.Object) map[string]lensColumn {
	t.Helper()
	text, err := json.Marshal(o.Attributes["state"])
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		DatasourceStates struct {
			Indexpattern struct {
				Layers map[string]struct{ Columns map[string]lensColumn }
			}
		}
	}
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	for _, l := range state.DatasourceStates.Indexpattern.Layers {
		return l.Columns
	}
	t.Fatalf("%s has no layer", o.ID)
	return nil
}

// lensSearch splits by the column of terms and measures the others, as Lens does.
func lensSearch(t *testing.T, columns map[string]lensColumn) string {
	t.Helper()
	split, measures := "", map[string]any{}
	for id, c := range columns {
		switch c.OperationType {
		case "terms":
			split = c.SourceField
		case "max":
			measures[id] = map[string]any{"max": map[string]any{"field": c.SourceField}}
		case "last_value":
			measures[id] = map[string]any{"top_metrics": map[string]any{
				"metrics": map[string]any{"field": c.SourceField}, "sort": map[string]any{"@timestamp": "desc"},
			}}
		default:
			t.Fatalf("operation %s: say here what Lens asks for it", c.OperationType)
		}
	}
	text, err := json.Marshal(map[string]any{"size": 0, "aggs": map[string]any{"rows": map[string]any{
		"terms": map[string]any{"field": split, "size": 100}, "aggs": measures,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// field returns the value of a document at a path with dots, or nil.
func field(doc any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, ok := doc.(map[string]any)
		if !ok {
			return nil
		}
		doc = object[name]
	}
	return doc
}
