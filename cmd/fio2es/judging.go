package main

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/mapping"
)

// judging is a store that notes in the document of each run which of the objectives in the
// settings it met, when it was stored. Several runs may go on at the same time.
type judging struct {
	history.Store
	rules   []slo.Rule
	windows bool // a rule is about windows

	mu   sync.Mutex
	runs map[[2]string]*slo.Evaluator // by id and version: of runs that are not over
}

func newJudging(store history.Store, rules []slo.Rule) *judging {
	return &judging{
		Store: store, rules: rules, windows: slices.ContainsFunc(rules, slo.Rule.InWindows),
		runs: make(map[[2]string]*slo.Evaluator),
	}
}

// Put implements [pipeline.Sink].
func (j *judging) Put(ctx context.Context, docs []*mapping.Interval) error {
	if j.windows {
		for _, d := range docs {
			if d.Level != mapping.Cluster {
				continue
			}
			if err := j.of(d.Run.ID, d.Run.Ingest).AddDocument(d); err != nil {
				return err
			}
		}
	}
	return j.Store.Put(ctx, docs)
}

// of are the windows of a run so far. Documents of one run come one after the other.
func (j *judging) of(id, ingest string) *slo.Evaluator {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := [2]string{id, ingest}
	if j.runs[key] == nil {
		j.runs[key] = slo.New(j.rules)
	}
	return j.runs[key]
}

// Finish implements [pipeline.Sink].
func (j *judging) Finish(ctx context.Context, run *mapping.Run) error {
	e := j.of(run.Run.ID, run.Run.Ingest)
	if err := e.SetRun(run, nil); err != nil {
		return err
	}
	run.SLA = storedVerdicts(e.Verdicts())
	if !run.Run.Live() { // else there are more to come; a live version is over, too
		j.mu.Lock()
		maps.DeleteFunc(j.runs, func(key [2]string, _ *slo.Evaluator) bool { return key[0] == run.Run.ID })
		j.mu.Unlock()
	}
	return j.Store.Finish(ctx, run)
}

// storedVerdicts are those that are known, as documents have them: latencies in
// microseconds.
func storedVerdicts(verdicts []slo.Verdict) (stored []mapping.Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.State == slo.Unknown {
			continue
		}
		r, per := v.Rule, 1.0
		if r.Unit() == slo.Nanoseconds {
			per = 1000
		}
		r.Direction = v.Direction
		stored = append(stored, mapping.Verdict{Rule: r.String(), Holds: v.State == slo.Met, Value: v.Value / per, Limit: r.Limit() / per})
	}
	return stored
}
