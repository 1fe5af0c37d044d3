package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/ndjson"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// ingesting is one call of ingest.
type ingesting struct {
	*app
	opt   pipeline.Options
	to    pipeline.Sink
	store history.Store // nil when documents go to a file
	began time.Time

	closeStore func() error // nil when documents go to stdout
	ends       *finishing
	ids        *identities
	idOf       map[*cbt.Run]string // of those that are in the history now

	kept      []kept         // runs that were left as they are
	runs      []*mapping.Run // without what is large
	documents int
	unchanged int
	leftOut   bool
	failed    error // what ended the runs
}

// openOutput sends documents to a file, which finish closes. If a run fails, the file of that
// name stays as it was.
func (in *ingesting) openOutput(name string) error {
	in.ids = newIdentities(in.app, nil)
	if name == "-" {
		in.to = ndjson.New(in.stdout, in.cfg.Prefix)
		return nil
	}
	f, err := createFile(name)
	if err != nil {
		return err
	}
	in.to, in.closeStore = ndjson.New(f, in.cfg.Prefix), func() error { return f.close(in.failed) }
	return nil
}

// openStore opens the history that the settings name.
func (in *ingesting) openStore(ctx context.Context) error {
	judged := func(s history.Store) history.Store { return s }
	if len(in.cfg.SLA) > 0 {
		rules, err := parseRules("sla:", in.cfg.SLA)
		if err != nil {
			return err
		}
		judged = func(s history.Store) history.Store { return newJudging(s, rules) }
	}
	if in.cfg.Elasticsearch.Enabled() {
		store, closeStore, err := in.openCluster(ctx)
		if err != nil {
			return err
		}
		in.to, in.store, in.closeStore = stamped{judged(store)}, store, closeStore
		in.ids, in.ends = newIdentities(in.app, store), newFinishing(mostFinishing)
		return nil
	}
	store, err := in.openEmbedded(ctx)
	if err != nil {
		return err
	}
	in.to, in.store, in.closeStore = stamped{judged(store)}, store, store.Close
	if err := store.QuickCheck(ctx, mostChecked); err != nil {
		return in.finish(err)
	}
	in.ids = newIdentities(in.app, store)
	if err := in.ids.removeOldDoubles(ctx, store); err != nil {
		return in.finish(err)
	}
	return nil
}

// mostChecked is how large a file is checked before it is written to: a quarter of a second.
const mostChecked = 256 << 20

// finish ends storing; err is what ended the runs, if anything.
func (in *ingesting) finish(err error) error {
	if in.closeStore == nil {
		return err
	}
	in.failed = err
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
	in.kept = nil
	if err := in.each(ctx, runs, false); err != nil || in.store == nil {
		return err
	}
	return in.restore(ctx)
}

// restore looks whether the runs that were left as they are have all of their documents in
// the history, and no others. It stores those once more that have not.
func (in *ingesting) restore(ctx context.Context) error {
	var kept []*mapping.Run
	for _, k := range in.kept {
		kept = append(kept, k.Run)
	}
	lacking, err := in.notWhole(ctx, in.store, kept)
	if err != nil {
		return err
	}
	var again []*cbt.Run
	seen := map[string]bool{}
	for _, k := range in.kept {
		if id := k.Run.Run.ID; lacking[id] != "" && !seen[id] {
			again, seen[id] = append(again, k.files), true
			in.log.Info(fmt.Sprintf("note: %s: the history lacked %s: its documents are stored again", k.files.Name(), lacking[id]))
		}
	}
	if len(again) == 0 {
		return nil
	}
	in.unchanged -= len(again)
	in.kept = nil
	if err := in.each(ctx, again, true); err != nil {
		return err
	}
	for _, k := range in.kept { // they have fewer files
		in.log.Warn(fmt.Sprintf("%s: not restored: these are not all files of run %s: ingest the path that has all of them, or use --force",
			k.files.Name(), k.Run.Run.ID[:8]))
		in.leftOut = true
	}
	return nil
}

// kept is a run that the history has, as it was found in files.
type kept struct {
	files *cbt.Run
	*mapping.Run
}

// each ingests the runs; restore is to store once more what the history has.
func (in *ingesting) each(ctx context.Context, runs []*cbt.Run, restore bool) error {
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
	next, turns := make(chan int), newTurns()
	var working sync.WaitGroup
	defer in.ends.wait()
	defer working.Wait() // before the ends that the workers begin
	for range side {
		working.Go(func() {
			for i := range next {
				to, claim := &unfinished{Sink: in.to}, &claim{identities: in.ids, turns: turns, n: i, restore: restore}
				res, err := pipeline.Ingest(ctx, runs[i], opt, to, claim.known)
				over := func() {
					if to.run != nil && err == nil {
						err = in.to.Finish(ctx, to.run)
					}
					err = refuse(runs[i], err)
					err = claim.end(ctx, res, err)
					outcomes[i] <- outcome{res, err}
					if err != nil && !errors.As(err, new(refusedError)) {
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

// refuse makes an error of a run's own documents one that concerns no other run.
func refuse(run *cbt.Run, err error) error {
	for _, fault := range []error{mapping.ErrIdentity, mapping.ErrTime, mapping.ErrNumber, mapping.ErrBins, mapping.ErrCountLimit, mapping.ErrDocCount, mapping.ErrSize, mapping.ErrUnreadable} {
		if errors.Is(err, fault) {
			return refusedError{fmt.Errorf("%s:%s is not stored, because its files make a document that cannot be: %w", run.Archive, run.Name(), err)}
		}
	}
	return err
}

// collect waits for the runs in their order.
func (in *ingesting) collect(ctx context.Context, runs []*cbt.Run, outcomes []chan outcome) error {
	bar := newBar(in.progress, runs)
	for i, run := range runs {
		bar.show(i)
		select {
		case o := <-outcomes[i]:
			if err := in.take(run, o); err != nil {
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
func (in *ingesting) take(run *cbt.Run, o outcome) error {
	var refused refusedError
	if errors.As(o.err, &refused) {
		in.log.Warn(refused.Error())
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
		in.kept = append(in.kept, kept{run, o.Run.Light()})
	} else {
		d := o.Run.Documents
		in.documents += d.Cluster + d.Host + d.Job
	}
	if in.idOf == nil {
		in.idOf = map[*cbt.Run]string{}
	}
	in.idOf[run] = o.Run.Run.ID
	in.runs = slices.DeleteFunc(in.runs, func(r *mapping.Run) bool { return r.Run.ID == o.Run.Run.ID }) // found twice
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
