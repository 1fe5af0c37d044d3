package query

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// asked counts the lists of documents that are read from a store.
type asked struct {
	history.Store
	lists int
}

func (a *asked) Intervals(ctx context.Context, sel history.Selection) iter.Seq2[*mapping.Interval, error] {
	if a.lists++; len(sel.Runs) == 0 {
		panic("the documents of all runs are read")
	}
	return a.Store.Intervals(ctx, sel)
}

// oddRuns stores runs with documents: whole, without some of them, without any, with other levels, and compacted.
func oddRuns(t *testing.T, store history.Store) (list []*mapping.Run) {
	t.Helper()
	for i, change := range []func(run *mapping.Run){
		func(*mapping.Run) {},
		func(run *mapping.Run) { run.Documents.Cluster = 12 },
		func(run *mapping.Run) { run.Documents, run.NoWindows = mapping.Documents{}, "no logs" },
		func(run *mapping.Run) {
			run.Run.Compacted = mapping.Compacted{From: "x", At: historytest.Start, IntervalMS: 1000}
		},
		func(*mapping.Run) {},
		func(run *mapping.Run) { run.Levels = []mapping.Level{mapping.Host} },
		func(*mapping.Run) {},
	} {
		name := fmt.Sprint("run", i)
		run := historytest.NewRun(name, "1")
		run.Read, run.IntervalMS = run.Write, 1000
		change(run)
		var docs []*mapping.Interval
		if run.Documents.Cluster > 0 {
			docs = historytest.Intervals(name, "1", 10)
		}
		for n, d := range docs {
			if n%2 == 1 {
				d.Fio.Direction = "read"
			}
		}
		check(t, store.Put(t.Context(), docs))
		check(t, store.Finish(t.Context(), run))
		list = append(list, run)
	}
	return list
}

// TestTogether: runs that are read together give the windows, documents, messages and errors of each of them alone, in
// fewer lists of documents.
func TestTogether(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	check(t, err)
	t.Cleanup(func() { store.Close() })
	docs := oddRuns(t, store)
	type answer struct {
		Document    *mapping.Run
		Windows     []*window.Window
		Texts       [][]string
		WhyNotFound string
		Err         string
	}
	read := func(from history.Store, runs []*Run, q *Query, isAlone bool) (answers []answer) {
		chunks := Together(runs, q)
		if isAlone {
			chunks = nil
			for _, r := range runs {
				chunks = append(chunks, []*Run{r})
			}
		}
		for _, some := range chunks {
			windows := map[*Run][]*window.Window{}
			docs, err := ReadTogether(t.Context(), from, some, q, func(r *Run, w *window.Window) error {
				windows[r] = append(windows[r], w)
				return nil
			})
			for i, doc := range docs {
				r := some[i]
				answers = append(answers, answer{doc, windows[r], [][]string{r.Warnings, r.Notes, r.Details}, r.NoMatch(doc).Error(), ""})
			}
			if err != nil {
				return append(answers, answer{Err: err.Error()})
			}
		}
		return answers
	}
	for name, tt := range map[string]struct {
		query    Query
		runs     []*mapping.Run
		joinMS   int64
		most     int // lists
		hasError bool
	}{
		"all":              {runs: docs[:5], most: 1},
		"run without any":  {runs: docs[2:3], most: 0},
		"a level is not":   {runs: docs[3:], most: 1, hasError: true},
		"the first one":    {runs: docs[5:], most: 0, hasError: true},
		"a direction":      {query: Query{Directions: []string{"read"}}, runs: docs[:5], most: 1},
		"no such host":     {query: Query{Hosts: []string{"x"}, Levels: []mapping.Level{mapping.Cluster}}, runs: docs[:5], most: 1},
		"two levels":       {query: Query{Levels: []mapping.Level{mapping.Cluster, mapping.Host}}, runs: docs[:5], most: 2},
		"a time":           {query: Query{From: "+3s"}, runs: docs[:5], most: 4},
		"no such job":      {query: Query{Jobs: []string{"x"}, Levels: []mapping.Level{mapping.Cluster}}, runs: docs[:5], most: 8},
		"of longer length": {runs: docs[:5], joinMS: 2000, most: 4},
	} {
		t.Run(name, func(t *testing.T) {
			counted := &asked{Store: store}
			of := func(from history.Store) (runs []*Run) {
				for _, doc := range tt.runs {
					r := Stored(from, doc)
					r.JoinMS = tt.joinMS
					runs = append(runs, r)
				}
				return runs
			}
			want, got := read(store, of(store), &tt.query, true), read(counted, of(counted), &tt.query, false)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(window.Window{})); diff != "" {
				t.Errorf("(-alone +together):\n%s", diff)
			}
			if hasError := got[len(got)-1].Err != ""; hasError != tt.hasError || counted.lists > tt.most {
				t.Errorf("error %v, %d lists, want %v and at most %d", hasError, counted.lists, tt.hasError, tt.most)
			}
		})
	}
}

// TestTogetherSizes: a chunk has few documents, or one run.
func TestTogetherSizes(t *testing.T) {
	var runs []*Run
	for _, n := range []int{10, 990, 1, 5000, 0, 0, 1000, 1} {
		runs = append(runs, &Run{Stored: &mapping.Run{Documents: mapping.Documents{Cluster: n}}})
	}
	var got []int
	for _, some := range Together(runs, &Query{}) {
		got = append(got, len(some))
	}
	if diff := cmp.Diff([]int{2, 1, 1, 3, 1}, got); diff != "" {
		t.Error(diff)
	}
	if got := Together(runs, &Query{From: "+1s"}); len(got) != len(runs) {
		t.Errorf("%d chunks with a time, want %d", len(got), len(runs))
	}
}
