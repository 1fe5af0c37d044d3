package query

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// asked is a store that counts how often lists of documents are read.
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

// oddRuns stores runs whose documents are complete, incomplete, all missing, of other levels, or compacted.
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

// TestTogether: for runs whose documents were read together, Read returns the same windows, documents, messages and
// errors as for each run alone.
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
	read := func(runs []*Run, q *Query) (answers []answer) {
		for range 2 { // the second time the prefetched documents are gone
			for _, r := range runs {
				var one answer
				doc, err := r.Read(t.Context(), q, func(w *window.Window) error {
					one.Windows = append(one.Windows, w)
					return nil
				})
				if one.Document, one.Texts = doc, [][]string{r.Warnings, r.Notes, r.Details}; err == nil {
					one.WhyNotFound = r.NoMatch(doc).Error()
				} else {
					one.Err = err.Error()
				}
				answers = append(answers, one)
			}
		}
		return answers
	}
	for name, tt := range map[string]struct {
		query  Query
		joinMS int64
		lists  int // lists read in advance, for 7 runs
	}{
		"all":              {lists: 1},
		"a direction":      {query: Query{Directions: []string{"read"}}, lists: 1},
		"no such host":     {query: Query{Hosts: []string{"x"}, Levels: []mapping.Level{mapping.Cluster}}, lists: 1},
		"a level is not":   {query: Query{Levels: []mapping.Level{mapping.Cluster, mapping.Host}}, lists: 2},
		"no such job":      {query: Query{Jobs: []string{"x"}, Levels: []mapping.Level{mapping.Cluster}}, lists: 1},
		"without bins":     {query: Query{Light: true}, lists: 1},
		"totals":           {query: Query{Totals: true}},
		"a time":           {query: Query{From: "+3s"}},
		"of longer length": {joinMS: 2000},
	} {
		t.Run(name, func(t *testing.T) {
			counted := &asked{Store: store}
			of := func(from history.Store) (runs []*Run) {
				for _, doc := range docs {
					r := Stored(from, doc)
					r.JoinMS = tt.joinMS
					runs = append(runs, r)
				}
				return runs
			}
			fetched := of(counted)
			for _, list := range Together(fetched, &tt.query) {
				Prefetch(t.Context(), list, &tt.query)
			}
			if counted.lists != tt.lists {
				t.Errorf("%d lists are read before, want %d", counted.lists, tt.lists)
			}
			if diff := cmp.Diff(read(of(store), &tt.query), read(fetched, &tt.query), cmpopts.EquateComparable(hist.Layout{})); diff != "" {
				t.Errorf("(-alone +together):\n%s", diff)
			}
		})
	}
}

// unread is a store that cannot read documents.
type unread struct {
	history.Store
	of string // method that fails: Count or Intervals
}

var errUnread = errors.New("cannot be read")

func (u unread) Count(ctx context.Context, runs []string, levels ...mapping.Level) (history.Counts, error) {
	if u.of == "Count" {
		return nil, errUnread
	}
	return u.Store.Count(ctx, runs, levels...)
}

func (u unread) Intervals(context.Context, history.Selection) iter.Seq2[*mapping.Interval, error] {
	return func(yield func(*mapping.Interval, error) bool) { yield(nil, errUnread) }
}

// TestTogetherFails: if documents cannot be read together, each run returns the error.
func TestTogetherFails(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	check(t, err)
	t.Cleanup(func() { store.Close() })
	docs := oddRuns(t, store)
	for _, of := range []string{"Count", "Intervals"} {
		runs := []*Run{Stored(unread{store, of}, docs[0]), Stored(unread{store, of}, docs[1])}
		Prefetch(t.Context(), runs, &Query{})
		for _, r := range runs {
			if _, err := r.Read(t.Context(), &Query{}, func(*window.Window) error { return nil }); !errors.Is(err, errUnread) {
				t.Errorf("%s: %v, want %v", of, err, errUnread)
			}
		}
	}
}

// TestTogetherSizes: a list has few documents, or one run.
func TestTogetherSizes(t *testing.T) {
	var runs []*Run
	for _, n := range []int{10, 970, 5000, 0, 0, 1000, 1} {
		runs = append(runs, &Run{Stored: &mapping.Run{Documents: mapping.Documents{Cluster: n}}})
	}
	var got []int
	for _, some := range Together(runs, &Query{}) {
		got = append(got, len(some))
	}
	if diff := cmp.Diff([]int{2, 1, 2, 1, 1}, got); diff != "" {
		t.Error(diff)
	}
	for _, q := range []*Query{nil, {From: "+1s"}} {
		if got := Together(runs, q); len(got) != len(runs) {
			t.Errorf("%d lists with %v, want %d", len(got), q, len(runs))
		}
	}
}

// flipping is a store whose runs are replaced by another version and back while their documents are counted.
type flipping struct {
	history.Store
	empty int           // number of counts that find no documents
	later time.Duration // how much later the version is stored than the one that was listed
}

func (f *flipping) Count(ctx context.Context, runs []string, levels ...mapping.Level) (history.Counts, error) {
	if f.empty--; f.empty >= 0 {
		return history.Counts{}, nil
	}
	return f.Store.Count(ctx, runs, levels...)
}

func (f *flipping) Run(ctx context.Context, id string) (*mapping.Run, error) {
	run, err := f.Store.Run(ctx, id)
	if err == nil {
		run.Ingested = run.Ingested.Add(f.later)
	}
	return run, err
}

// TestReplacedMeanwhile: documents are missing only if a run that was not replaced lacks them. One that was replaced while
// it was counted has a complete answer.
func TestReplacedMeanwhile(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	check(t, err)
	defer store.Close()
	for _, name := range []string{"a", "b"} {
		run := historytest.NewRun(name, "1")
		run.Documents = mapping.Documents{Cluster: 10}
		check(t, store.Put(t.Context(), historytest.Intervals(name, "1", 10)))
		check(t, store.Finish(t.Context(), run))
	}
	for name, c := range map[string]struct {
		flipping
		warnings int
	}{
		"counted between two versions": {flipping{empty: 1}, 0}, "replaced since": {flipping{empty: 10, later: time.Second}, 0},
		"documents are missing": {flipping{empty: 10}, 2},
	} {
		for _, isTogether := range []bool{false, true} {
			f := c.flipping
			f.Store = store
			var runs []*Run
			for run, err := range store.Runs(t.Context(), history.RunFilter{}) {
				check(t, err)
				runs = append(runs, Stored(&f, run))
			}
			if isTogether {
				Prefetch(t.Context(), runs, &Query{})
			}
			got, windows := 0, 0
			for _, run := range runs {
				_, err := run.Read(t.Context(), &Query{}, func(*window.Window) error { windows++; return nil })
				check(t, err)
				got += len(run.Warnings)
			}
			if got != c.warnings || windows != 20 {
				t.Errorf("%s, together %v: %d warnings, %d windows", name, isTogether, got, windows)
			}
		}
	}
}
