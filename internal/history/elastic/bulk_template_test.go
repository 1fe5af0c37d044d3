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
		options elastic.Options
		want    error
	}{
		"ready":           {func(s *estest.Server) { s.Templates["fio-runs"] = templates.Version }, elastic.Options{}, nil},
		"missing":         {func(s *estest.Server) { delete(s.Templates, "fio-latency-host") }, elastic.Options{}, elastic.ErrNoTemplate},
		"none":            {func(s *estest.Server) { clear(s.Templates) }, elastic.Options{}, elastic.ErrNoTemplate},
		"not ours":        {func(s *estest.Server) { s.Templates["fio-runs"] = 0 }, elastic.Options{}, elastic.ErrNoTemplate},
		"too old":         {func(s *estest.Server) { s.Templates["fio-runs"] = templates.Version - 1 }, elastic.Options{}, elastic.ErrNoTemplate},
		"newer":           {func(s *estest.Server) { s.Templates["fio-runs"] = templates.Version + 1 }, elastic.Options{}, nil},
		"alias":           {func(s *estest.Server) { s.Alias = "fio-latency.cluster-2026.11" }, elastic.Options{}, elastic.ErrAlias},
		"alias of runs":   {func(s *estest.Server) { s.Alias = "fio-runs" }, elastic.Options{}, elastic.ErrAlias},
		"other alias":     {func(s *estest.Server) { s.Alias = "logs" }, elastic.Options{}, nil},
		"index first":     {func(s *estest.Server) { s.Mapped = "long" }, elastic.Options{}, elastic.ErrMapping},
		"documents first": {func(s *estest.Server) { s.Mapped = "object" }, elastic.Options{}, elastic.ErrMapping},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, c.options, func(w *world) {
				docs := historytest.Intervals("a", "1", 2)
				if c.want == elastic.ErrMapping { // this error needs an existing index
					w.put(docs...)
					w.finish("a", "1")
					w.Store = elastic.New(w.client, c.options)
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
