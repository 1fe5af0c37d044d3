package bulk_test

import (
	"errors"
	"testing"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping/templates"
)

func TestNotSetUp(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*estest.Server)
		options bulk.Options
		want    error
	}{
		"ready":         {func(s *estest.Server) { s.Templates["fio-runs"] = templates.Version }, bulk.Options{}, nil},
		"missing":       {func(s *estest.Server) { delete(s.Templates, "fio-latency-host") }, bulk.Options{}, bulk.ErrNoTemplate},
		"none":          {func(s *estest.Server) { clear(s.Templates) }, bulk.Options{}, bulk.ErrNoTemplate},
		"not ours":      {func(s *estest.Server) { s.Templates["fio-runs"] = 0 }, bulk.Options{}, bulk.ErrNoTemplate},
		"too old":       {func(s *estest.Server) { s.Templates["fio-runs"] = templates.Version - 1 }, bulk.Options{}, bulk.ErrNoTemplate},
		"newer":         {func(s *estest.Server) { s.Templates["fio-runs"] = templates.Version + 1 }, bulk.Options{}, nil},
		"no check":      {func(s *estest.Server) { clear(s.Templates) }, bulk.Options{NoTemplates: true}, nil},
		"alias":         {func(s *estest.Server) { s.Alias = "fio-latency.cluster-2026.11" }, bulk.Options{}, bulk.ErrAlias},
		"alias of runs": {func(s *estest.Server) { s.Alias = "fio-runs" }, bulk.Options{}, bulk.ErrAlias},
		"other alias":   {func(s *estest.Server) { s.Alias = "logs" }, bulk.Options{}, nil},
		"index first":   {func(s *estest.Server) { s.Mapped = "long" }, bulk.Options{}, bulk.ErrMapping},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, c.options, func(w *world) {
				docs := historytest.Intervals("a", "1", 2)
				if c.want == bulk.ErrMapping { // this error needs an existing index
					w.put(docs...)
					w.finish("a", "1")
					w.Writer = bulk.New(w.client, c.options)
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
