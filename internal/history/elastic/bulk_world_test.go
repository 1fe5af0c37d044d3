package elastic_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/pack"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// world is a stand-in cluster and a writer to it, in a synctest bubble.
type world struct {
	t      *testing.T
	server *estest.Server
	client *es.Client
	*elastic.Store
}

// inBubble runs a test in a synctest bubble, where waiting takes no time. synctest fails the test if a goroutine has
// not ended.
func inBubble(t *testing.T, test func(w *world)) {
	t.Helper()
	inBubbleOf(t, es.Config{}, test)
}

// inBubbleOf is like inBubble, with these settings of the client.
func inBubbleOf(t *testing.T, c es.Config, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, server: estest.New(templates.Names("fio")...)}
		dial, stop := w.server.Pipe()
		defer stop()
		c.Dial, c.Timeout = dial, 30*time.Second
		w.client = newClient(t, c)
		defer w.client.Close()
		w.Store = elastic.New(w.client, "fio")
		defer w.Close()
		test(w)
	})
}

func newClient(t testing.TB, c es.Config) *es.Client {
	t.Helper()
	client, err := es.New(c)
	must(t, err)
	return client
}

// hasExactly fails unless the store has exactly these documents, except those in without.
func hasExactly(server *estest.Server, docs []*mapping.Interval, without map[string]bool) error {
	want := make(map[string]map[string]string)
	for _, d := range docs {
		if index := d.Index("fio", mapping.Years); !without[d.ID()] {
			if want[index] == nil {
				want[index] = make(map[string]string)
			}
			want[index][d.ID()] = string(d.AppendJSON(nil))
		}
	}
	for _, index := range server.Indices() {
		if !strings.HasPrefix(index, "fio-latency.") {
			continue
		}
		got := server.Documents(index)
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want[index]))) {
			return fmt.Errorf("%s has %d documents, want %d", index, len(got), len(want[index]))
		}
		for id, text := range got {
			if string(text) != want[index][id] {
				return fmt.Errorf("%s %s has another content", index, id)
			}
		}
		delete(want, index)
	}
	if len(want) > 0 && len(docs) > len(without) {
		return fmt.Errorf("there is no index %v", slices.Collect(maps.Keys(want)))
	}
	return nil
}

func (w *world) hasExactly(docs []*mapping.Interval) {
	w.t.Helper()
	if err := hasExactly(w.server, docs, nil); err != nil {
		w.t.Error(err)
	}
}

func (w *world) put(docs ...*mapping.Interval) {
	w.t.Helper()
	if err := w.Put(w.t.Context(), docs); err != nil {
		w.t.Fatal(err)
	}
}

// stores puts documents and, if that succeeds, finishes their run.
func (w *world) stores(name, ingest string, docs ...*mapping.Interval) error {
	if err := w.Put(w.t.Context(), docs); err != nil {
		return err
	}
	return w.Finish(w.t.Context(), historytest.NewRun(name, ingest))
}

func (w *world) finish(name, ingest string) {
	w.t.Helper()
	run := historytest.NewRun(name, ingest)
	if err := w.Finish(w.t.Context(), run); err != nil {
		w.t.Fatal(err)
	}
	want := strings.TrimSuffix(string(run.AppendJSON(nil)), "}") + `,"summary":"` + base64.StdEncoding.EncodeToString(pack.Summary(run)) + `"}`
	if got := w.server.Documents("fio-runs")[run.ID()]; string(got) != want {
		w.t.Errorf("the run's document is %s", got)
	}
}

// counted returns the number of visible documents that a query finds, by run.id and run.ingest.
func counted(ctx context.Context, client *es.Client, query any, index string) (map[[2]string]int64, error) {
	var answer struct {
		Hits struct {
			Hits []struct {
				Source struct{ Run mapping.RunRef } `json:"_source"`
			}
		}
	}
	err := client.Do(ctx, es.Request{URI: "/" + index + "/_search", Body: map[string]any{"query": query, "size": 10_000}}, &answer)
	out := map[[2]string]int64{}
	for _, h := range answer.Hits.Hits {
		out[[2]string{h.Source.Run.ID, h.Source.Run.Ingest}]++
	}
	return out, err
}
