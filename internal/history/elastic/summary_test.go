package elastic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// TestSummaries: lists read the summaries of runs. If an earlier fio2es has stored some runs without, they read the documents of these, and
// a damaged summary is a damaged run.
func TestSummaries(t *testing.T) {
	f := newFake(t)
	s := f.store("fio")
	historytest.FinishABC(t, s)
	want := list(t, s, history.RunFilter{})
	expect := func(name string, searches int) {
		t.Helper()
		before := f.Requests("_search")
		got := list(t, s, history.RunFilter{Light: true})
		if diff := cmp.Diff(each(want, (*mapping.Run).Light), got); diff != "" {
			t.Errorf("%s (-whole +got):\n%s", name, diff)
		}
		if n := f.Requests("_search") - before; n != searches {
			t.Errorf("%s: %d searches, want %d", name, n, searches)
		}
	}
	change := func(name, summary string) {
		t.Helper()
		var doc map[string]any
		must(t, json.Unmarshal(f.Documents("fio-runs")[historytest.ID(name)], &doc))
		if summary == "same" {
			summary = doc[mapping.SummaryField].(string)
			doc["weighting"] = "changed by hand"
		}
		if doc[mapping.SummaryField] = summary; summary == "" {
			delete(doc, mapping.SummaryField)
		}
		text, err := json.Marshal(doc)
		must(t, err)
		_, err = f.call(t.Context(), http.MethodPost, "/_bulk", fmt.Sprintf("{\"index\":{\"_index\":\"fio-runs\",\"_id\":%q}}\n%s\n", historytest.ID(name), text))
		must(t, err)
		_, err = f.call(t.Context(), http.MethodPost, "/fio-runs/_refresh", "")
		must(t, err)
	}
	expect("all have one", 1)
	change("b", "")
	expect("one has none", 2)
	must(t, s.Put(t.Context(), []*mapping.Interval{historytest.Interval("b", "1", 0), historytest.Interval("b", "1", 1)})) // as ingest --force does
	must(t, s.Finish(t.Context(), historytest.NewRun("b", "1")))
	expect("it is stored again", 1)
	change("c", "same")
	for i, want := range []string{"which was changed without fio2es: let them show the document with --repair", "which was changed without fio2es: mended: ", ""} {
		got := ""
		_, err := history.Check(t.Context(), s, i > 0, func(f history.Finding) {
			if strings.HasPrefix(f.Problem, "lists") {
				got += f.Problem + ": " + f.Remedy
			}
		})
		if must(t, err); !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%d: %q", i, got)
		}
	}
	if got := list(t, s, history.RunFilter{Light: true, IDs: []string{historytest.ID("c")}}); len(got) != 1 || got[0].Weighting != "changed by hand" {
		t.Errorf("lists show %+v", got)
	}
	change("b", "AAAA")
	damaged := 0
	for _, err := range s.Runs(t.Context(), history.RunFilter{Light: true}) {
		if one, ok := errors.AsType[*history.DamagedRunError](err); ok && one.ID == historytest.ID("b") {
			damaged++
		} else if err != nil {
			t.Error(err)
		}
	}
	if damaged != 1 {
		t.Errorf("%d damaged runs, want 1", damaged)
	}
}
