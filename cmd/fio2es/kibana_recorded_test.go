package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// requests returns the searches of all panels.
func requests(t *testing.T, b *kibana.Bundle) []kibanatest.Request {
	t.Helper()
	list, err := kibanatest.Requests(b.Specs)
	check(t, err)
	return list
}

// TestKibanaRecorded: the recorded answers are those of the documents that the example archive gives today. So
// outdated ones are found without a cluster.
func TestKibanaRecorded(t *testing.T) {
	b, err := kibana.New(kibana.Options{})
	check(t, err)
	example := newExampleDocuments(t)
	total := 0
	for _, r := range requests(t, b) {
		kinds := []string{kibanatest.Full}
		if p, ok := pictured[r.Panel]; ok && p.of == 0 {
			kinds = append(kinds, kibanatest.Pictured)
		}
		for _, kind := range kinds {
			t.Run(r.Panel+"/"+r.Data+kind, func(t *testing.T) {
				text, err := kibanatest.ReadAnswer(recordedAnswers, r.Panel, r.Data, kind)
				var answer any
				if err = errors.Join(err, json.Unmarshal(text, &answer)); err != nil {
					t.Fatal(err)
				}
				known, stale := example.compare(answer)
				total += known // some answers have only counts
				if slices.Sort(stale); len(stale) > 0 {
					t.Errorf("out of date: run TestKibanaElastic with -update against a cluster:\n%s", strings.Join(stale[:min(len(stale), 5)], "\n"))
				}
			})
		}
	}
	if total == 0 {
		t.Error("nothing in the answers was compared with the archive")
	}
}

// exampleDocuments are the documents that ingest makes of the example archive.
type exampleDocuments struct {
	runs  map[string]map[string]any // documents by run.id
	times map[string]bool           // when runs and windows begin and end, as Elasticsearch writes times
}

func newExampleDocuments(t *testing.T) *exampleDocuments {
	t.Helper()
	e := &exampleDocuments{runs: map[string]map[string]any{}, times: map[string]bool{}}
	isolate(t)
	text := outputOf(t, "ingest", "--output=-", allLevels, exampleArchive)
	d := json.NewDecoder(strings.NewReader(text))
	for d.More() {
		var doc map[string]any
		check(t, d.Decode(&doc))
		id, _ := field(doc, "run.id").(string)
		for _, path := range []string{"@timestamp", "interval.end", "run.start", "run.end"} {
			if at, ok := field(doc, path).(string); ok {
				e.times[at] = true
			}
		}
		if doc["index"] == nil && doc["level"] == nil {
			e.runs[id] = doc
		}
	}
	if len(e.runs) != 3 {
		t.Fatalf("%d runs in the example archive", len(e.runs))
	}
	return e
}

var runID = regexp.MustCompile(`^[0-9a-f]{20}$`)

// compare counts the parts of an answer that show to which documents it belongs: ids of runs, times, and contents of
// run documents. It describes the parts that belong to none.
func (e *exampleDocuments) compare(answer any) (known int, stale []string) {
	expect := func(ok bool, format string, args ...any) {
		if known++; !ok {
			stale = append(stale, fmt.Sprintf(format, args...))
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if runID.MatchString(v) {
				expect(e.runs[v] != nil, "run %s", v)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case map[string]any:
			if at, ok := v["value_as_string"].(string); ok {
				expect(e.times[at], "time %s", at)
			}
			if source, ok := v["_source"].(map[string]any); ok {
				id, _ := field(source, "run.id").(string)
				delete(source, "ingested") // the time of recording
				delete(source, "changes")  // see markExample
				expect(within(source, e.runs[id]), "document of run %s", id)
			}
			if fields, ok := v["fields"].(map[string]any); ok {
				e.compareFields(fields, expect)
			}
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(answer)
	return known, stale
}

// compareFields compares the fields of a hit, which are lists, with the fields of its run document.
func (e *exampleDocuments) compareFields(fields map[string]any, expect func(ok bool, format string, args ...any)) {
	var id string
	if ids, ok := fields["run.id"].([]any); ok && len(ids) == 1 {
		id, _ = ids[0].(string)
	}
	for path, got := range fields {
		if path == "run.start" || path == "options" {
			continue // a time in milliseconds, and what a script makes
		}
		want := field(e.runs[id], path)
		if _, ok := want.([]any); !ok {
			want = []any{want}
		}
		expect(reflect.DeepEqual(got, want), "%s of run %s: %v, the archive gives %v", path, id, got, want)
	}
}

// within reports whether a document contains everything in a part of it.
func within(part, document any) bool {
	inner, ok := part.(map[string]any)
	if !ok {
		return reflect.DeepEqual(part, document)
	}
	whole, ok := document.(map[string]any)
	for name, v := range inner {
		ok = ok && within(v, whole[name])
	}
	return ok
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
