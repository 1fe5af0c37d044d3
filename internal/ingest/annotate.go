package ingest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Annotate returns a sink that stores in a history, and sets in each run document when it was stored and which rules
// it meets. A file gets no such fields, because it must be the same every time.
func Annotate(store history.Store, rules []slo.Rule) Sink {
	return &annotated{
		Store: store, rules: rules, inWindows: slices.ContainsFunc(rules, slo.Rule.InWindows),
		open: map[history.Version]*slo.Evaluator{},
	}
}

type annotated struct {
	history.Store
	rules     []slo.Rule
	inWindows bool // at least one rule is about windows

	mu   sync.Mutex
	open map[history.Version]*slo.Evaluator // rules of versions that are not finished
}

// Put implements [Sink].
func (a *annotated) Put(ctx context.Context, docs []*mapping.Interval) error {
	if a.inWindows {
		for _, w := range window.RejoinAll(docs) {
			if w.Level != mapping.Cluster {
				continue
			}
			if err := a.of(history.Version{Run: w.Run.ID, Ingest: w.Run.Ingest}).Add(w); err != nil {
				return err
			}
		}
	}
	return a.Store.Put(ctx, docs)
}

// of returns the evaluator of the rules for a version of a run. Several runs may be stored at the same time, but the
// documents of one run come one after the other.
func (a *annotated) of(v history.Version) *slo.Evaluator {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[v] == nil {
		a.open[v] = slo.New(a.rules)
	}
	return a.open[v]
}

// Finish implements [Sink].
func (a *annotated) Finish(ctx context.Context, run *mapping.Run) error {
	run.Ingested = time.Now().UTC().Truncate(time.Millisecond)
	if len(a.rules) > 0 {
		e := a.of(history.Version{Run: run.Run.ID, Ingest: run.Run.Ingest})
		if err := e.SetRun(run, nil); err != nil {
			return err
		}
		run.SLA = slo.InDocuments(e.Verdicts())
	}
	if !run.Run.Live() { // the document of a live run is stored many times
		a.mu.Lock()
		maps.DeleteFunc(a.open, func(v history.Version, _ *slo.Evaluator) bool { return v.Run == run.Run.ID })
		a.mu.Unlock()
	}
	return a.Store.Finish(ctx, run)
}
