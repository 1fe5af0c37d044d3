package history_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// realServer is the Elasticsearch that FIO2ES_TEST_ELASTICSEARCH names, such as
// http://user:password@localhost:9200, with templates for a prefix of the test's own,
// all of which is removed in the end.
func realServer(t *testing.T, shards int) (*direct, string) {
	t.Helper()
	address := os.Getenv("FIO2ES_TEST_ELASTICSEARCH")
	if address == "" {
		t.Skip("FIO2ES_TEST_ELASTICSEARCH names no server")
	}
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	server := &direct{base: base, client: new(http.Client)}
	prefix := fmt.Sprintf("fio2es-history-%08x", rand.Uint32())
	objects, err := templates.All(templates.Options{Prefix: prefix, Shards: shards})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background() // the test's own has ended
		dropIndices(ctx, t, server, prefix)
		for i := len(objects) - 1; i >= 0; i-- {
			if _, err := server.call(ctx, http.MethodDelete, objects[i].Path, ""); err != nil {
				t.Errorf("clean up: %v", err)
			}
		}
	})
	for _, o := range objects {
		if _, err := server.call(t.Context(), o.Method, o.Path, string(o.Body)); err != nil {
			t.Fatal(err)
		}
	}
	return server, prefix
}

// dropIndices removes them by name, since a server may refuse patterns.
func dropIndices(ctx context.Context, t *testing.T, server *direct, prefix string) {
	t.Helper()
	text, err := server.call(ctx, http.MethodGet, "/_cat/indices/"+prefix+"-*?format=json&h=index", "")
	if err != nil {
		t.Fatal(err)
	}
	var indices []struct{ Index string }
	if err := json.Unmarshal(text, &indices); err != nil {
		t.Fatal(err)
	}
	for _, i := range indices {
		if !strings.HasPrefix(i.Index, prefix+"-") {
			t.Fatalf("pattern found %s", i.Index)
		}
		if _, err := server.call(ctx, http.MethodDelete, "/"+i.Index, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func TestElasticOnServer(t *testing.T) {
	server, prefix := realServer(t, 1)
	historytest.Run(t, func(t *testing.T) history.Store {
		dropIndices(t.Context(), t, server, prefix)
		if _, err := server.call(t.Context(), http.MethodPut, "/"+prefix+"-runs", ""); err != nil {
			t.Fatal(err)
		}
		return history.NewElastic(server, prefix, &writer{server, prefix})
	})
}

// forgetful closes points in time behind the history's back.
type forgetful struct {
	*direct
	searches atomic.Int32
}

func (f *forgetful) Perform(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/_search" && f.searches.Add(1)%4 == 3 {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		var request struct{ PIT json.RawMessage }
		if err := json.NewDecoder(body).Decode(&request); err != nil {
			return nil, err
		}
		var pit struct{ ID string }
		if err := json.Unmarshal(request.PIT, &pit); err != nil {
			return nil, err
		}
		if _, err := f.call(r.Context(), http.MethodDelete, "/_pit", `{"id":"`+pit.ID+`"}`); err != nil {
			return nil, err
		}
	}
	return f.direct.Perform(r)
}

// TestElasticOnServerIsSQLite: thousands of documents of several months, on several
// shards, page by page, with points in time that are lost: the same bytes in the same
// order as from the embedded history.
func TestElasticOnServerIsSQLite(t *testing.T) {
	server, prefix := realServer(t, 3)
	transport := &forgetful{direct: server}
	e := history.NewElastic(transport, prefix, &writer{server, prefix})
	s := open(t, filepath.Join(t.TempDir(), "history.db"))
	defer closing(t, s)
	for i, name := range []string{"a", "b", "c"} {
		docs := historytest.Intervals(name, "1", 2500)
		run := historytest.NewRun(name, "1")
		run.Run.Start = run.Run.Start.AddDate(0, i, 0)
		for n, d := range docs {
			d.Run.Start = run.Run.Start
			d.Level, d.Host.Name = mapping.Host, fmt.Sprintf("host-%d", n%7)
			d.Time = d.Time.Truncate(4 * time.Second) // many of one time, in all runs
		}
		for _, store := range []history.Store{e, s} {
			for some := range slices.Chunk(docs, 1000) {
				if err := store.Put(t.Context(), some); err != nil {
					t.Fatal(err)
				}
			}
			if err := store.Finish(t.Context(), run); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, sel := range []history.Selection{
		{Level: mapping.Host}, {Level: mapping.Host, Hosts: []string{"host-3", ""}, To: historytest.Start.Add(time.Hour)},
		{Level: mapping.Host, Runs: []string{mapping.RunID("suite", "b")}}, {Level: mapping.Job}, {Hosts: []string{""}},
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
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(d.AppendJSON(nil)))
	}
	return out
}
