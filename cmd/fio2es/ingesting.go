package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/sink"
)

// ingesting is one call of ingest.
type ingesting struct {
	*app
	opt     pipeline.Options
	to      pipeline.Sink
	store   history.Store // nil when documents go to a file
	replace bool
	began   time.Time

	closeStore func() error // nil when documents go to stdout
	ends       *finishing
	cluster    *clusterHistory   // nil when the history is embedded
	stored     map[string]string // versions of runs that the cluster had in the beginning, by id

	runs      []*mapping.Run // without what is large
	documents int
	unchanged int
	leftOut   bool
}

// openOutput sends documents to a file, which finish closes.
func (in *ingesting) openOutput(name string) error {
	if name == "-" {
		in.to = sink.NewNDJSON(in.stdout, in.cfg.Prefix)
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	in.to, in.closeStore = sink.NewNDJSON(f, in.cfg.Prefix), f.Close
	return nil
}

// openStore opens the history that the settings name, for some runs.
func (in *ingesting) openStore(ctx context.Context, runs []*cbt.Run) error {
	judged := func(s history.Store) history.Store { return s }
	if len(in.cfg.SLA) > 0 {
		rules, err := parseRules("sla:", in.cfg.SLA)
		if err != nil {
			return err
		}
		judged = func(s history.Store) history.Store { return newJudging(s, rules) }
	}
	if !in.cfg.Elasticsearch.Enabled() {
		store, err := history.OpenSQLite(ctx, in.cfg.History)
		if err != nil {
			return err
		}
		in.to, in.store, in.closeStore = stamped{judged(store)}, store, store.Close
		return nil
	}
	store, closeStore, err := in.openCluster(ctx)
	if err != nil {
		return err
	}
	in.to, in.store, in.closeStore = stamped{judged(store)}, store, closeStore
	in.cluster, in.ends = store, newFinishing(mostFinishing)
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = mapping.RunID(archiveName(in.opt, r), r.Path)
	}
	if in.stored, err = store.Versions(ctx, ids); err != nil {
		return in.finish(err)
	}
	return nil
}

// finish ends storing; err is what ended the runs, if anything.
func (in *ingesting) finish(err error) error {
	if in.closeStore == nil {
		return err
	}
	closed := in.closeStore()
	if errors.Is(closed, errLeftOut) {
		in.leftOut = true
		return err
	}
	return errors.Join(err, closed)
}

// stamped is a store that notes when a version of a run was stored first. What goes to a
// file has no such note: it is the same every time.
type stamped struct{ history.Store }

// Finish implements [pipeline.Sink].
func (s stamped) Finish(ctx context.Context, run *mapping.Run) error {
	run.Ingested = time.Now().UTC().Truncate(time.Millisecond)
	return s.Store.Finish(ctx, run)
}

// outcome is what became of a run.
type outcome struct {
	*pipeline.Result
	err error
}

// all ingests the runs: several at a time, as long as there are enough for all CPUs, so
// that the many small runs of an archive need not wait for one another. A file gets them
// one after the other, so that it is the same every time. What there is to tell comes in
// the order of the runs.
func (in *ingesting) all(ctx context.Context, runs []*cbt.Run) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := in.opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	side := 1
	if in.store != nil {
		side = max(min(workers, len(runs)), 1)
	}
	opt := in.opt
	opt.Workers = max(workers/side, 1)
	outcomes := make([]chan outcome, len(runs))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	next := make(chan int)
	var working sync.WaitGroup
	defer in.ends.wait()
	defer working.Wait() // before the ends that the workers begin
	for range side {
		working.Go(func() {
			for i := range next {
				to := &unfinished{Sink: in.to}
				res, err := pipeline.Ingest(ctx, runs[i], opt, to, in.known)
				over := func() {
					if to.run != nil && err == nil {
						err = in.to.Finish(ctx, to.run)
					}
					outcomes[i] <- outcome{res, err}
					if err != nil && !errors.As(err, new(conflictError)) {
						stop()
					}
				}
				if to.run == nil {
					over()
					continue
				}
				in.ends.end(over)
			}
		})
	}
	working.Go(func() {
		defer close(next)
		for i := range runs {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	return in.collect(ctx, runs, outcomes)
}

// collect waits for the runs in their order.
func (in *ingesting) collect(ctx context.Context, runs []*cbt.Run, outcomes []chan outcome) error {
	bar := newBar(in.progress, runs)
	for i, run := range runs {
		bar.show(i)
		select {
		case o := <-outcomes[i]:
			if err := in.take(o); err != nil {
				return err
			}
		case <-ctx.Done():
			// The run that failed may be a later one.
			for _, c := range outcomes[i:] {
				select {
				case o := <-c:
					if o.err != nil && !errors.Is(o.err, context.Canceled) {
						return o.err
					}
				default:
				}
			}
			return ctx.Err()
		}
		bar.done(run)
	}
	in.progress.Clear()
	return nil
}

// take notes what became of a run. Only what concerns all runs is an error.
func (in *ingesting) take(o outcome) error {
	var conflict conflictError
	if errors.As(o.err, &conflict) {
		in.log.Warn(conflict.Error())
		in.leftOut = true
		return nil
	}
	if o.err != nil {
		return o.err
	}
	in.tellResult(o.Result)
	in.leftOut = in.leftOut || len(o.Lost) > 0
	if o.Run == nil {
		return nil
	}
	if o.Unchanged {
		in.unchanged++
	} else {
		d := o.Run.Documents
		in.documents += d.Cluster + d.Host + d.Job
	}
	in.runs = append(in.runs, o.Run.Light())
	return nil
}

// bar is the progress of all runs, by the size of their files as far as it is known.
type bar struct {
	*term.Progress
	began       time.Time
	runs        int
	total, past int64
}

func newBar(p *term.Progress, runs []*cbt.Run) *bar {
	b := &bar{Progress: p, began: time.Now(), runs: len(runs)}
	for _, r := range runs {
		b.total += weight(r)
	}
	return b
}

// weight is how much work a run is: some for each file, and its bytes.
func weight(r *cbt.Run) int64 {
	sum := int64(0)
	for _, f := range r.Files() {
		sum += max(f.Size, 0) + 16<<10
	}
	return sum
}

func (b *bar) done(r *cbt.Run) { b.past += weight(r) }

func (b *bar) show(run int) {
	share := float64(b.past) / float64(max(b.total, 1))
	left := ""
	if elapsed := time.Since(b.began); share > 0.01 && elapsed > time.Second {
		left = ", " + unit.Elapsed(time.Duration(float64(elapsed)*(1-share)/share)) + " left"
	}
	b.Show("%s %3.0f %%  run %d of %d%s", term.Bar(share, 24), share*100, run+1, b.runs, left)
}

// conflictError refuses to take one run for another.
type conflictError struct {
	have *mapping.Run
	ref  mapping.RunRef
}

func (e conflictError) Error() string {
	return fmt.Sprintf("%s of archive %s is in the history already, but began at %s, this one at %s: left out; "+
		"give this archive another name with --archive NAME, or say --replace",
		e.ref.Name, e.ref.Archive, e.have.Run.Start.Format(time.RFC3339), e.ref.Start.Format(time.RFC3339))
}

// known looks for the run in the history.
func (in *ingesting) known(ctx context.Context, ref mapping.RunRef) (*mapping.Run, error) {
	if in.cluster != nil && in.stored[ref.ID] == "" {
		return nil, nil // saves a request for each new run
	}
	have, err := inStore(ctx, in.store, ref.ID)
	switch {
	case err != nil || have == nil:
		return nil, err
	case have.Run.Ingest == ref.Ingest && have.Run.Start.Equal(ref.Start):
		return have, nil
	case !have.Run.Start.Equal(ref.Start) && !in.replace && !isLiveOf(have, ref):
		return nil, conflictError{have, ref}
	}
	return nil, nil
}

// isLiveOf tells whether what the history has is what was stored of the run while it went
// on: when it began is known better at its end, by some milliseconds.
func isLiveOf(have *mapping.Run, ref mapping.RunRef) bool {
	return have.Run.Live() && have.Run.Start.Sub(ref.Start).Abs() < time.Minute
}
