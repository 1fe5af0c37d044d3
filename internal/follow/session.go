package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/alert"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// mostSessions is how many runs are followed at the same time. A session has the windows of about 20 seconds in
// memory.
const mostSessions = 64

// session follows one live run.
type session struct {
	stop    context.CancelFunc
	done    chan error // gets one error when the session ends
	reports []string   // names of the reports at the start
	ids     []string   // of its stages in the history; read it only after the session has ended
}

// begin starts to follow a run. It calls done when the archive of the run is no longer needed.
func (f *follower) begin(ctx context.Context, w *watched, run *assign.Run, done func()) {
	ctx, stop := context.WithCancel(ctx)
	s := &session{stop: stop, done: make(chan error, 1), reports: reportsOf(run)}
	w.session = s
	f.live++
	f.reading.Go(func() {
		defer done()
		defer stop()
		s.done <- f.read(ctx, s, run)
	})
}

// lastStore limits the time for storing the last documents after following has ended.
const lastStore = 15 * time.Second

// read follows the stages of an execution until fio or ctx ends, each as a run of its own. When ctx ends, what was read is
// stored.
func (f *follower) read(ctx context.Context, s *session, run *assign.Run) error {
	storing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(lastStore):
			stop()
		case <-storing.Done():
		}
	})()
	late := &late{log: f.Ingest.Log}
	if f.Shared != nil {
		return f.share(ctx, storing, run, late)
	}
	var rules *alert.Watch
	said, execution := &pipeline.Result{}, ""
	for stage, err := range pipeline.Live(storing, ctx, run, f.Ingest.Pipeline, f.Quiet) {
		if err != nil {
			return err
		}
		e, err := stage.Execution(ctx)
		if err != nil {
			return err
		}
		e.SetID(execution)
		as, err := f.liveRun(storing, e)
		if err != nil {
			return err
		}
		execution = as.Execution
		if rules == nil {
			host := ""
			if len(e.Hosts) == 1 {
				host = e.Hosts[0].Name
			}
			rules = f.Alerts.Watch(f.Rules, host, f.Ingest.Log)
			defer rules.End(false)
		}
		s.ids = append(s.ids, as.ID)
		text := "following " + e.Run.Archive + ":" + e.Run.Name
		if e.Run.Stages > 1 {
			text += fmt.Sprintf(", %d of %d", e.Run.Stage, e.Run.Stages)
		}
		f.Ingest.Log.Info(text)
		result, err := f.storeLive(storing, stage, as, func(w *window.Window) error {
			if f.Ingest.Pipeline.Precision.Quantile == 0 { // otherwise windows differ in length
				late.window(w)
			}
			return rules.Window(w)
		})
		if err != nil {
			return err
		}
		said.Skipped, said.Notes = append(said.Skipped, result.Skipped...), append(said.Notes, result.Notes...)
	}
	if rules != nil && (ctx.Err() == nil || f.EndsFio) {
		rules.End(true)
	}
	said.Log(f.Ingest.Log)
	return nil
}

// share sends the stages of an execution to the run that its host shares with others, until fio or ctx ends.
func (f *follower) share(ctx, storing context.Context, run *assign.Run, late *late) error {
	attempt, err := f.Shared.attempt(ctx, run)
	if err != nil {
		return err
	}
	sending, lost := context.WithCancelCause(storing)
	var keeping sync.WaitGroup
	var senders []*shared.Sender
	keep := func(to *shared.Sender, tried func()) {
		senders = append(senders, to)
		keeping.Go(func() {
			defer tried()
			if err := f.Shared.keep(sending, run, to, tried); err != nil {
				lost(err)
			}
		})
	}
	defer keeping.Wait()
	defer lost(nil)
	rules := f.Alerts.Watch(f.Rules, f.Shared.Member.Host, f.Ingest.Log)
	defer rules.End(false)
	each := func(w *window.Window) error {
		return f.seen(w, func(w *window.Window) error {
			late.window(w)
			return rules.Window(w)
		})
	}
	for stage, err := range pipeline.Live(sending, ctx, run, f.Shared.options(), f.Quiet) {
		var result *pipeline.Result
		if err == nil {
			result, err = f.Shared.live(sending, run, stage, attempt, keep, each)
		}
		if err != nil && storing.Err() == nil && sending.Err() != nil {
			err = context.Cause(sending)
		}
		if err != nil {
			return err
		}
		result.Log(f.Ingest.Log)
	}
	if ctx.Err() == nil || f.EndsFio {
		rules.End(true)
	}
	lost(nil)
	keeping.Wait()
	if err := context.Cause(sending); !errors.Is(err, context.Canceled) {
		return err
	}
	if f.EndsFio { // all is sent once more
		return nil
	}
	for _, to := range senders {
		if err := to.Send(storing, nil, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// liveRun returns the run as which a live stage is stored. It fails with [pipeline.ErrNotLive] if the history has all of it, or
// if people removed it, which is decided when it is over.
func (f *follower) liveRun(ctx context.Context, e *pipeline.Execution) (mapping.RunInfo, error) {
	found, err := ingest.Find(ctx, f.to.Store, e)
	have := found.Have
	switch {
	case err != nil:
	case len(found.Removed) > 0:
		err = fmt.Errorf("%w: %w", pipeline.ErrNotLive, ingest.ErrRemoved)
	case have != nil && !have.Run.Live() && have.Source.Contains(&e.Source):
		err = fmt.Errorf("%s: %w: already there as %s", e.Title, pipeline.ErrNotLive, facts.ShortID(have.Run.ID))
	}
	run := found.Reference(e, &f.Ingest.Pipeline)
	run.Ingest = mapping.LiveIngest(time.Now())
	return run, err
}

// batch is what is stored of a live run at once.
type batch struct {
	docs []*mapping.Interval
	run  *mapping.Run // nil: only documents
}

// storeLive stores the documents of a live stage as they come, and the run document every now and then: as an incomplete version, which
// an ingest replaces when the run is over. each is called with each new window of the highest level, and does not wait for the history until
// many documents do.
func (f *follower) storeLive(
	ctx context.Context, stage *pipeline.Stage, run mapping.RunInfo, each func(*window.Window) error,
) (*pipeline.Result, error) {
	const most, waiting = 1000, 2000 // documents at once, and in memory
	highest := slices.Min(f.Ingest.Pipeline.Levels)
	batches, ended := make(chan batch), make(chan struct{})
	var failed error // why nothing more is stored, when ended is closed
	go func() {
		defer close(ended)
		for b := range batches {
			if len(b.docs) > 0 {
				failed = f.to.Sink.Put(ctx, b.docs)
			}
			if failed == nil && b.run != nil { // makes all documents so far visible
				failed = f.to.Sink.Finish(ctx, b.run)
			}
			if failed != nil {
				return
			}
		}
	}()
	var docs []*mapping.Interval // not stored yet
	isOff := false               // what is missing is stored when fio has ended
	stored := time.Now()
	result, err := stage.Documents(ctx, run, func(w *window.Window, parts []*mapping.Interval) error {
		if w.Level == highest {
			if err := f.seen(w, each); err != nil {
				return err
			}
		}
		if isOff {
			return nil
		}
		docs = append(docs, parts...)
		isDue := time.Since(stored) >= f.Every
		if len(docs) < most && !isDue {
			return nil
		}
		b := batch{docs: docs}
		if isDue {
			b.run = stage.SoFar()
		}
		select {
		case batches <- b:
		case <-ended:
		default:
			if len(docs) < waiting { // the history is slow, or away
				return nil
			}
			select {
			case batches <- b:
			case <-ended:
			}
		}
		docs = nil
		if isDue {
			stored = time.Now()
		}
		select {
		case <-ended:
		default:
			return nil
		}
		if !f.EndsFio || isReplaced(failed) || errors.Is(failed, history.ErrRejected) {
			return failed
		}
		isOff = true
		f.Ingest.Log.Warn("nothing more is stored while fio runs, but all when it has ended: " + failed.Error())
		return nil
	})
	if err == nil && !isOff {
		select {
		case batches <- batch{docs, result.Run}:
		case <-ended:
		}
	}
	close(batches)
	<-ended
	if err == nil && !isOff {
		err = failed
	}
	return result, err
}

// seen passes a window of a live run on, once, also to each.
func (f *follower) seen(w *window.Window, each func(*window.Window) error) error {
	isNew, err := f.windows.take(w)
	if err == nil && isNew {
		err = each(f.shown(w))
	}
	return err
}

// collect records the result of a run's session if the session has ended. It returns an error only if the error
// concerns all runs.
func (f *follower) collect(w *watched) error {
	if w.session == nil {
		return nil
	}
	select {
	case err := <-w.session.done:
		ids := w.session.ids
		w.session, w.tried = nil, w.listing
		f.live--
		switch {
		case err == nil:
			w.ids = ids
		case isReplaced(err):
			f.Ingest.Log.Warn(err.Error() + ": the run is over, or was removed: nothing more is sent to it")
			w.stored = w.listing
		case errors.Is(err, pipeline.ErrNotLive), errors.Is(err, history.ErrRejected): // when it is over, a message says why
			f.Ingest.Log.Debug(err.Error())
		case !errors.Is(err, context.Canceled):
			return err
		}
	default:
	}
	return nil
}
