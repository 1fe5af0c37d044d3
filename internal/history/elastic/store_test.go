package elastic_test

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

const testPrefix = "lab"

// openElastic returns an empty history on its own server.
func openElastic(t *testing.T) (*elastic.Store, *fake) {
	t.Helper()
	f := newFake(t)
	return f.open(t), f
}

// open returns an empty history with templates.
func (f *fake) open(t *testing.T) *elastic.Store {
	t.Helper()
	if _, err := f.call(t.Context(), http.MethodPut, "/"+testPrefix+"-runs", ""); err != nil {
		t.Fatal(err)
	}
	return f.store(testPrefix)
}

// TestNow: the time is that of the cluster.
func TestNow(t *testing.T) {
	e, f := openElastic(t)
	f.Ahead = 10 * time.Second
	asked := time.Now().Truncate(time.Millisecond)
	now, err := e.Now(t.Context())
	if must(t, err); now.Before(asked.Add(f.Ahead)) || now.After(time.Now().Add(f.Ahead)) {
		t.Errorf("the cluster has %v, 10 s ahead of %v", now, asked)
	}
	if _, err := f.store("other").Now(t.Context()); !errors.Is(err, history.ErrNoIndex) {
		t.Errorf("without an index: %v", err)
	}
}

func TestElastic(t *testing.T) {
	type suite func(*testing.T, func(*testing.T) history.Store)
	for name, c := range map[string]struct {
		check            suite
		pageBytes, ahead int
	}{
		"many pages side by side": {historytest.Run, 10_000, 4},
		"a document each":         {historytest.Reading, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			c.check(t, func(t *testing.T) history.Store {
				e, f := openElastic(t)
				t.Cleanup(func() {
					if n := f.OpenPITs(); n != 0 {
						t.Errorf("%d points in time are open", n)
					}
				})
				return flushed{e.Hurry(c.pageBytes).Ahead(c.ahead)}
			})
		})
	}
}

func TestElasticIsSQLite(t *testing.T) {
	e, f := openElastic(t)
	isSQLite(t, f.store(testPrefix).Ahead(0), 60)
	isSQLite(t, e.Hurry(3000).Ahead(3), 60) // a second run of isSQLite overwrites the documents of the first
}

// isSQLite stores n documents of each of several runs in several months in both histories. The documents that e
// returns must have the same bytes and the same order as those of the embedded history.
func isSQLite(t *testing.T, e history.Store, n int) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	must(t, err)
	defer s.Close()
	for i, name := range []string{"a", "b", "c"} {
		docs := historytest.Intervals(name, "1", n)
		run := historytest.NewRun(name, "1")
		run.Run.Start = run.Run.Start.AddDate(0, i, 0)
		for k, d := range docs {
			d.Run.Start = run.Run.Start
			d.Level, d.Host.Name = mapping.Host, fmt.Sprintf("host-%d", k%7)
			d.Time = d.Time.Truncate(4 * time.Second) // all runs have several documents with one time
		}
		for _, store := range []history.Store{e, s} {
			for some := range slices.Chunk(docs, 1000) {
				must(t, store.Put(t.Context(), some))
			}
			must(t, store.Finish(t.Context(), run))
		}
	}
	for _, sel := range []history.Selection{
		{Level: mapping.Host}, {Level: mapping.Host, Hosts: []string{"host-3", ""}, To: historytest.Start.Add(time.Hour)},
		{Level: mapping.Host, Runs: []string{historytest.ID("b")}}, {Level: mapping.Job}, {Hosts: []string{""}},
	} {
		start := time.Now()
		got, want := encoded(t, e.Intervals(t.Context(), sel)), encoded(t, s.Intervals(t.Context(), sel))
		t.Logf("%d documents in %v", len(got), time.Since(start))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-SQLite +Elasticsearch):\n%.2000s", sel, diff)
		}
	}
}

func encoded(t *testing.T, docs iter.Seq2[*mapping.Interval, error]) []string {
	t.Helper()
	var out []string
	for d, err := range docs {
		must(t, err)
		out = append(out, string(d.AppendJSON(nil)))
	}
	return out
}
