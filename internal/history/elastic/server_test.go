package elastic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// realServer returns the Elasticsearch that the environment names, with templates for a prefix of the test's own.
// The end of the test removes everything.
func realServer(t testing.TB, shards int) (*direct, string) {
	t.Helper()
	real := estest.NewReal(t)
	base, err := url.Parse(real.Address)
	must(t, err)
	if real.Secured {
		base.User = url.UserPassword(real.Config.Username, string(real.Config.Password))
	}
	server := &direct{base: base, client: real.HTTP, real: real.Config}
	prefix := fmt.Sprintf("fio2es-history-%x", time.Now().UnixNano())
	objects, err := templates.All(templates.Options{Prefix: prefix, Shards: shards})
	must(t, err)
	folders := map[templates.Kind]string{
		templates.Policy: "/_ilm/policy/", templates.Component: "/_component_template/", templates.Index: "/_index_template/",
	}
	t.Cleanup(func() {
		ctx := context.Background() // the context of the test has ended
		dropIndices(ctx, t, server, prefix)
		for i := len(objects) - 1; i >= 0; i-- {
			if _, err := server.call(ctx, http.MethodDelete, folders[objects[i].Kind]+objects[i].Name, ""); err != nil {
				t.Errorf("clean up: %v", err)
			}
		}
	})
	for _, o := range objects {
		if _, err := server.call(t.Context(), http.MethodPut, folders[o.Kind]+o.Name, string(o.Body.JSON())); err != nil {
			t.Fatal(err)
		}
	}
	return server, prefix
}

// dropIndices removes indices by name, because a server may refuse patterns.
func dropIndices(ctx context.Context, t testing.TB, server *direct, prefix string) {
	t.Helper()
	text, err := server.call(ctx, http.MethodGet, "/_cat/indices/"+prefix+"-*?format=json&h=index", "")
	must(t, err)
	var indices []struct{ Index string }
	must(t, json.Unmarshal(text, &indices))
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
		return flushed{server.store(prefix)}
	})
}

func TestElasticOnServerIsSQLite(t *testing.T) {
	server, prefix := realServer(t, 3)
	isSQLite(t, server.store(prefix).Ahead(0), 2500)
	// a second run of isSQLite overwrites the documents of the first
	isSQLite(t, server.store(prefix).Hurry(100_000).Ahead(3), 2500)
}

// BenchmarkElasticIntervals reads a run of 46 minutes, 2,762 documents of 300 bins each, from the Elasticsearch that
// the environment names.
func BenchmarkElasticIntervals(b *testing.B) {
	server, prefix := realServer(b, 1)
	e := server.store(prefix)
	docs := historytest.Intervals("a", "1", 2762)
	for i, d := range docs {
		h := hist.New(hist.Fio3(0))
		for bin := range 300 {
			h.AddAt(850+bin, float64(1+(bin*bin*31+i*7)%900))
		}
		d.Latency = mapping.NewLatency(h, nil)
		d.DocCount = d.Latency.Bins.Total()
	}
	for some := range slices.Chunk(docs, 500) {
		must(b, e.Put(b.Context(), some))
	}
	must(b, e.Finish(b.Context(), historytest.NewRun("a", "1")))
	for _, ahead := range []int{0, 1, 2, 3, 4} {
		b.Run(fmt.Sprintf("ahead=%d", ahead), func(b *testing.B) {
			e.Ahead(ahead)
			n := 0
			for b.Loop() {
				for _, err := range e.Intervals(b.Context(), history.Selection{}) {
					must(b, err)
					n++
				}
			}
			if n != b.N*len(docs) {
				b.Fatalf("%d documents in %d rounds", n, b.N)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}
