// Package ingest stores runs. It finds which runs of some files a history already has, stores the others, and copies
// runs from one history to another.
//
// A run is the contents of its files, so its name and its path do not matter. Equal runs of one call, such as a
// folder and its tar, wait for one another. Several runs are read at the same time, and a cluster finishes many at
// the same time. The package prints nothing. Messages go to a logger, and results are returned.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// Sink takes the documents of runs. Every store of a history is a Sink, and so is the writer of NDJSON.
type Sink interface {
	// Put takes any number of interval documents. It does not use them after it has returned. They need not be on disk
	// before Finish. Put fails if a document does not pass its Check.
	Put(ctx context.Context, docs []*mapping.Interval) error

	// Finish takes the document of a run after all its interval documents were put. When it returns nil, all of them
	// are stored safely. To finish the run again, put all of its documents again.
	Finish(ctx context.Context, run *mapping.Run) error
}

// Target says where documents are stored.
type Target struct {
	Sink  Sink
	Store history.Store // the history that Sink writes to; nil for a file

	IsCluster bool // many runs can be finished at the same time
}

// Options says how runs are stored.
type Options struct {
	Pipeline pipeline.Options
	Log      *slog.Logger
	Restore  bool           // also store runs that people removed from the history
	Progress func(done int) // called with the number of finished runs; may be nil

	// Skipped is called, instead of logging, for each part of a run that is skipped. The result is then incomplete.
	Skipped func(run *assign.Run, err error)

	again bool // also store versions that the target has, because it lacks documents of them
}

// Stored is a run that is in the target now.
type Stored struct {
	Files     *assign.Run
	Run       *mapping.Run // run document without histograms and source files
	Unchanged bool         // the target had the run before
}

// NotStored is a run that is not in the target.
type NotStored struct {
	Files   *assign.Run
	Removed []*mapping.Removed // removed runs that are the same run
	// the run in the target that shares files with it and is the reason; nil if the reason is in the files
	Because *mapping.Run
}

// Result says what was stored.
type Result struct {
	Stored    []Stored    // in the order of the runs
	NotStored []NotStored // the other runs; messages say why
	LeftOut   bool        // something was skipped, apart from removed runs; a message says what

	replaced []*assign.Run // runs whose documents are gone, because another process stored or removed them meanwhile
	why      error         // the error of the last of them
}

// News returns the runs that are new or changed in the target, each once.
func (r *Result) News() []*mapping.Run {
	return r.once(func(s Stored) bool { return !s.Unchanged })
}

// Runs returns the runs that are in the target, each once.
func (r *Result) Runs() []*mapping.Run {
	return r.once(func(Stored) bool { return true })
}

// once returns the runs of the wanted entries, each once. Of several entries of a run it takes the last.
func (r *Result) once(isWanted func(Stored) bool) (runs []*mapping.Run) {
	seen := map[string]bool{}
	for _, s := range slices.Backward(r.Stored) {
		if isWanted(s) && !seen[s.Run.Run.ID] {
			runs, seen[s.Run.Run.ID] = append(runs, s.Run), true
		}
	}
	slices.Reverse(runs)
	return runs
}

// Count returns how many documents were stored, and how many runs were unchanged.
func (r *Result) Count() (documents, unchanged int) {
	for _, s := range r.Stored {
		if s.Unchanged {
			unchanged++
			continue
		}
		documents += s.Run.Documents.All()
	}
	return documents, unchanged
}

// Runs stores the runs that are not in the target yet. It reads several runs at the same time, if that keeps more
// CPUs busy. A file gets runs one after the other, so that it is the same every time. Messages come in the order of
// the runs. An error ends the call; the result has the runs before it.
func Runs(ctx context.Context, to Target, runs []*assign.Run, opt Options) (Result, error) {
	result, err := store(ctx, to, runs, opt)
	removed := 0
	for _, s := range result.NotStored {
		removed += min(len(s.Removed), 1)
	}
	LogRemoved(opt.Log, removed)
	if err == nil && to.Store != nil {
		err = restore(ctx, to, &result, opt)
	}
	return result, err
}

// store stores runs. It stores again the runs whose documents another process removed meanwhile, because it stored or removed
// the same run. Two processes may remove each other's documents several times, but the last one finds all that it has stored.
func store(ctx context.Context, to Target, runs []*assign.Run, opt Options) (result Result, _ error) {
	const most = 10 // attempts after the first
	for try := 0; ; try++ {
		more, err := each(ctx, to, runs, opt)
		result.Stored, result.NotStored = append(result.Stored, more.Stored...), append(result.NotStored, more.NotStored...)
		result.LeftOut = result.LeftOut || more.LeftOut
		if err != nil || len(more.replaced) == 0 {
			return result, err
		}
		runs, opt.again, opt.Progress = more.replaced, true, nil // again, because a run document may stay when its documents are gone
		if try == most {
			for _, run := range runs {
				result.skip(run, opt, fmt.Errorf("%s:%s is not stored, because other commands store the same run in other versions again and again: "+
					"run this ingest again when they have ended: %w", run.Archive, run.Name(), more.why))
				result.NotStored = append(result.NotStored, NotStored{Files: run})
			}
			return result, nil
		}
		pause := time.NewTimer(rand.N(time.Duration(try+1) * 100 * time.Millisecond)) // so that one process is ahead of the others
		select {
		case <-pause.C:
		case <-ctx.Done():
			return result, ctx.Err()
		}
	}
}

// LogRemoved logs how many runs are not stored because people removed them.
func LogRemoved(log *slog.Logger, runs int) {
	if runs > 0 {
		log.Info(fmt.Sprintf("note: left out %s, removed from the history before (fio2es rm); --restore takes them back", unit.Plural(runs, "run")))
	}
}

// restore counts the documents of unchanged runs, and stores again those runs that lack some.
func restore(ctx context.Context, to Target, result *Result, opt Options) error {
	kept := map[string]*mapping.Run{} // by id; nil for runs that were replaced in the meantime
	for _, s := range result.Stored {
		if kept[s.Run.Run.ID] = nil; s.Unchanged {
			kept[s.Run.Run.ID] = s.Run
		}
	}
	lacking, err := missing(ctx, to.Store, slices.DeleteFunc(result.Runs(), func(r *mapping.Run) bool { return kept[r.Run.ID] == nil }), opt.Log)
	if err != nil {
		return err
	}
	var again []*assign.Run
	seen := map[string]bool{}
	for _, s := range result.Stored {
		if id := s.Run.Run.ID; s.Unchanged && lacking[id] != "" && !seen[id] && kept[id].Run.Ingest == s.Run.Run.Ingest {
			if seen[id] = true; !slices.Contains(again, s.Files) { // with all stages
				again = append(again, s.Files)
			}
			opt.Log.Info(fmt.Sprintf("note: %s: the history lacked %s: its documents are stored again", s.Files.Name(), lacking[id]))
		}
	}
	if len(again) == 0 {
		return nil
	}
	opt.again, opt.Progress = true, nil
	restored, err := store(ctx, to, again, opt)
	result.LeftOut = result.LeftOut || restored.LeftOut
	for _, s := range restored.Stored {
		if s.Unchanged { // these files are fewer than those of the stored run
			result.skip(s.Files, opt, fmt.Errorf("%s: not restored: these are not all files of run %s: ingest the path that has all of them, or use --force",
				s.Files.Name(), facts.ShortID(s.Run.Run.ID)))
		}
		at := slices.IndexFunc(result.Stored, func(old Stored) bool { return old.Files == s.Files && old.Run.Run.ID == s.Run.Run.ID })
		if at >= 0 {
			result.Stored[at] = s
		}
	}
	return err
}

// outcome is what became of one stage of an execution.
type outcome struct {
	*pipeline.Result        // Run is in the target; nil if nothing of it is
	act              Act    // what was decided
	claim            *claim // nil if it was not looked up
	err              error
}

// isNew reports whether a run was read that must be finished.
func (o *outcome) isNew() bool { return o.err == nil && o.act == Store && o.Run != nil }

// refusedError says why one run is not stored. Other runs are stored.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// call is one call of each.
type call struct {
	Target
	Options
	claims    *claims
	finishing *finisher
	stop      context.CancelCauseFunc
}

// each stores each stage of each execution once. The results come in their order.
func each(ctx context.Context, to Target, runs []*assign.Run, opt Options) (result Result, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	workers, side := cmp.Or(max(opt.Pipeline.Workers, 0), runtime.GOMAXPROCS(0)), 1
	if to.Store != nil {
		side = max(min(workers, len(runs)), 1)
	}
	c := &call{to, opt, newClaims(to.Store, &opt, len(runs)), newFinisher(to.IsCluster), stop}
	c.Pipeline.Workers = max(workers/side, 1)
	outcomes := make([]chan []*outcome, len(runs)) // of the stages
	for i := range outcomes {
		outcomes[i] = make(chan []*outcome, 1)
	}
	var working sync.WaitGroup
	defer c.finishing.pending.Wait()
	defer working.Wait() // first, because workers start what finishing waits for
	working.Go(func() {
		ahead.Each(side, len(runs), func(i int) {
			if ctx.Err() == nil {
				(&execution{call: c, n: i, files: runs[i]}).store(ctx, outcomes[i])
			}
		})
	})
	for i, run := range runs {
		if opt.Progress != nil {
			opt.Progress(i)
		}
		select {
		case stages := <-outcomes[i]:
			for _, o := range stages {
				if err := result.take(run, o, opt); err != nil {
					return result, context.Cause(ctx)
				}
			}
		case <-ctx.Done():
			return result, context.Cause(ctx)
		}
	}
	return result, nil
}

// execution is one execution of a call.
type execution struct {
	*call
	n       int // its number in the call
	files   *assign.Run
	id      string       // as its stages before were found; "" if none was
	offsets clockOffsets // those that the history has; nil before the first stage was looked up
}

// store stores the stages, one after another. It sends their outcomes when all are finished.
func (x *execution) store(ctx context.Context, outcomes chan<- []*outcome) {
	defer x.claims.pass(x.n)
	var stages []*outcome
	var ends sync.WaitGroup
	for isPlanned := false; !isPlanned; {
		isPlanned = true
		opt := x.Pipeline
		opt.Offsets = x.offsets.with(opt.Offsets)
		for stage, err := range pipeline.Stages(ctx, x.files, opt, true) {
			o := &outcome{err: err}
			if err == nil {
				o.err = x.read(ctx, stage, o)
			}
			if errors.Is(o.err, errClocks) {
				isPlanned = false
				break
			}
			stages = append(stages, o)
			ends.Add(1)
			end := func() {
				defer ends.Done()
				x.finish(ctx, o)
			}
			if o.isNew() {
				x.finishing.run(end)
			} else {
				end()
			}
		}
	}
	x.finishing.pending.Go(func() {
		ends.Wait()
		outcomes <- stages
	})
}

// read looks a stage up, and puts its documents into the sink if the run is to be stored.
func (x *execution) read(ctx context.Context, stage *pipeline.Stage, o *outcome) error {
	e, err := stage.Execution(ctx)
	if err != nil {
		return err
	}
	if e == nil {
		o.Result = stage.Planned()
		return nil
	}
	e.SetID(x.id)
	if o.claim, err = x.claims.take(ctx, x.n, e); err != nil {
		return err
	}
	if x.offsets == nil {
		if x.offsets = offsetsOf(o.claim.Have, e.Hosts, x.Pipeline.Offsets); len(x.offsets) > 0 {
			x.claims.end(o.claim)
			return errClocks
		}
	}
	d := Decide(e, &o.claim.Found, &x.Options)
	x.id, o.act = d.Run.Execution, d.Act
	switch d.Act {
	case Store:
		if o.Result, err = x.put(ctx, stage, d.Run); err == nil && o.Run != nil {
			x.offsets.note(o.Run.Hosts)
		}
	case Keep:
		o.Result = &pipeline.Result{Run: o.claim.Have, Skipped: d.Skipped, Notes: d.Notes}
	default:
		o.Result = &pipeline.Result{Skipped: d.Skipped}
	}
	return err
}

// put puts the documents of a stage into the sink. They are stored while the next are made.
func (x *execution) put(ctx context.Context, stage *pipeline.Stage, run mapping.RunInfo) (result *pipeline.Result, err error) {
	const most = 1000 // documents at once: a few megabytes; the embedded history waits for the disk once for them
	err = ahead.Push(ctx, 1, func(ctx context.Context, give func([]*mapping.Interval) error) (err error) {
		var docs []*mapping.Interval
		result, err = stage.Documents(ctx, run, func(_ *window.Window, parts []*mapping.Interval) (err error) {
			if docs = append(docs, parts...); len(docs) >= most {
				err, docs = give(docs), nil
			}
			return err
		})
		if err != nil || len(docs) == 0 {
			return err
		}
		return give(docs)
	}, func(docs []*mapping.Interval) error { return x.Sink.Put(ctx, docs) })
	return result, err
}

// finish makes a run that was read visible, and removes others with the same files. Equal runs of the call wait until then.
func (x *execution) finish(ctx context.Context, o *outcome) {
	isNew := o.isNew()
	if isNew {
		o.err = x.Sink.Finish(ctx, o.Run)
	}
	o.err = refuse(x.files, o.err)
	switch {
	case o.err != nil || o.Run == nil:
	case x.Store != nil:
		o.err = x.tidy(ctx, o)
	case isNew:
		x.claims.wrote(o.Run)
	}
	x.claims.end(o.claim)
	if err := o.err; err != nil && !errors.As(err, new(refusedError)) && !errors.Is(err, history.ErrReplaced) {
		x.stop(err)
	}
}

// tidy removes other runs of the history with the files of one, and records of their removal.
func (x *execution) tidy(ctx context.Context, o *outcome) error {
	duplicates := contained(o.claim.Duplicates, &o.Run.Source, &o.claim.of.Source)
	if o.act == Store {
		duplicates = append(duplicates, o.claim.Replaced...)
	}
	if err := removeDuplicates(ctx, x.Store, o.Run, duplicates, x.Log); err != nil {
		return err
	}
	return takeBack(ctx, x.Store, o.Run.Run.ID, o.claim.Removed, x.Log)
}

// refuse makes a refusedError of an error about the run's own documents.
func refuse(run *assign.Run, err error) error {
	if errors.Is(err, history.ErrRejected) {
		return refusedError{fmt.Errorf("%s:%s is not stored; mend the cause and ingest it again: %w", run.Archive, run.Name(), err)}
	}
	for _, fault := range []error{
		mapping.ErrIdentity, mapping.ErrTime, mapping.ErrNumber, mapping.ErrBins, mapping.ErrCountLimit, mapping.ErrDocCount,
		mapping.ErrSize, mapping.ErrUnreadable,
	} {
		if errors.Is(err, fault) {
			return refusedError{fmt.Errorf("%s:%s is not stored, because its files make an invalid document: %w", run.Archive, run.Name(), err)}
		}
	}
	return err
}

// take adds the result of a run. It returns an error only if the error concerns all runs.
func (r *Result) take(run *assign.Run, o *outcome, opt Options) error {
	var refused refusedError
	switch {
	case errors.As(o.err, &refused):
		r.skip(run, opt, refused)
		r.NotStored = append(r.NotStored, NotStored{Files: run})
		return nil
	case errors.Is(o.err, history.ErrReplaced):
		opt.Log.Debug(run.Archive + ":" + run.Name() + ": " + o.err.Error())
		if r.why = o.err; !slices.Contains(r.replaced, run) {
			r.replaced = append(r.replaced, run)
		}
		return nil
	case o.err != nil:
		return o.err
	}
	for _, err := range o.Skipped {
		r.skip(run, opt, err)
	}
	rest := *o.Result
	rest.Skipped = nil
	rest.Log(opt.Log)
	if o.Run != nil {
		r.Stored = append(r.Stored, Stored{Files: run, Run: o.Run.Light(), Unchanged: o.act == Keep})
		return nil
	}
	not := NotStored{Files: run}
	switch o.act {
	case Refuse:
		not.Because = o.claim.Have
	case LeaveOut:
		opt.Log.Debug(run.Archive + ":" + run.Name() + ": " + ErrRemoved.Error())
		not.Removed = o.claim.Removed
	}
	r.NotStored = append(r.NotStored, not)
	return nil
}

func (r *Result) skip(run *assign.Run, opt Options, err error) {
	if r.LeftOut = true; opt.Skipped != nil {
		opt.Skipped(run, err)
	} else {
		opt.Log.Warn(err.Error())
	}
}

// missing says which documents a store lacks of some runs, by id. For the other runs it completes interrupted
// replacements: it removes documents of other versions, and dashboards show those of the current one.
func missing(ctx context.Context, store history.Store, runs []*mapping.Run, log *slog.Logger) (map[string]string, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.Run.ID
	}
	counts, err := store.Count(ctx, ids)
	if err != nil {
		return nil, err
	}
	lacking := map[string]string{}
	for _, r := range runs {
		switch {
		case r.Run.Live():
		case !counts.IsWhole(r):
			lacking[r.Run.ID] = counts.LackText(r)
		case !counts.IsCurrent(r):
			if err := store.MakeCurrent(ctx, r.Run.ID, r.Run.Ingest); err != nil {
				return nil, err
			}
			log.Info(fmt.Sprintf("note: finished replacing %s %s: an ingest or compact was interrupted", facts.ShortID(r.Run.ID), facts.Title(r)))
		}
	}
	return lacking, nil
}

// mostFinishing is how many runs are finished at the same time: those of a cluster share requests.
const mostFinishing = 32

// finisher finishes runs in a cluster while other runs are read.
type finisher struct {
	slots   chan struct{} // nil: each run is finished before the next one is read
	pending sync.WaitGroup
}

func newFinisher(isCluster bool) *finisher {
	if !isCluster {
		return &finisher{}
	}
	return &finisher{slots: make(chan struct{}, mostFinishing)}
}

// run calls finish, directly or in the background.
func (f *finisher) run(finish func()) {
	if f.slots == nil {
		finish()
		return
	}
	f.slots <- struct{}{}
	f.pending.Go(func() {
		finish()
		<-f.slots
	})
}
