package elastic_test

import (
	"errors"
	"testing"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping/templates"
)

func TestNotSetUp(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*estest.Server)
		want    error
	}{
		"ready":           {func(s *estest.Server) { s.Templates["fio-runs"] = templates.Version }, nil},
		"missing":         {func(s *estest.Server) { delete(s.Templates, "fio-latency-host") }, elastic.ErrNoTemplate},
		"none":            {func(s *estest.Server) { clear(s.Templates) }, elastic.ErrNoTemplate},
		"not ours":        {func(s *estest.Server) { s.Templates["fio-runs"] = 0 }, elastic.ErrNoTemplate},
		"too old":         {func(s *estest.Server) { s.Templates["fio-runs"] = templates.Version - 1 }, elastic.ErrNoTemplate},
		"newer":           {func(s *estest.Server) { s.Templates["fio-runs"] = templates.Version + 1 }, nil},
		"alias":           {func(s *estest.Server) { s.Alias = "fio-latency.cluster-2026" }, elastic.ErrAlias},
		"alias of runs":   {func(s *estest.Server) { s.Alias = "fio-runs" }, elastic.ErrAlias},
		"other alias":     {func(s *estest.Server) { s.Alias = "logs" }, nil},
		"index first":     {func(s *estest.Server) { s.Mapped = "long" }, elastic.ErrMapping},
		"documents first": {func(s *estest.Server) { s.Mapped = "object" }, elastic.ErrMapping},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				docs := historytest.Intervals("a", "1", 2)
				if c.want == elastic.ErrMapping { // this error needs an existing index
					w.put(docs...)
					w.finish("a", "1")
					w.Store = elastic.New(w.client, "fio")
					defer w.Close()
				}
				c.prepare(w.server)
				before := w.server.Requests("_bulk")
				if err := w.Put(w.t.Context(), docs); !errors.Is(err, c.want) {
					t.Errorf("put: %v", err)
				}
				if err := w.Finish(w.t.Context(), historytest.NewRun("a", "1")); !errors.Is(err, c.want) {
					t.Errorf("finish: %v", err)
				}
				if n := w.server.Requests("_bulk"); c.want != nil && n != before {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}
