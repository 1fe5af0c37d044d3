package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// PushOptions says which runs are pushed.
type PushOptions struct {
	Filter   history.RunFilter
	Restore  bool // also push runs that people removed from the other history
	Log      *slog.Logger
	Progress func(n int, name string) // called before run n is pushed; may be nil
}

// Pushed counts what was pushed.
type Pushed struct {
	Runs, Unchanged, Documents int
	LeftOut                    bool // something was skipped; a message says what
}

// Push copies the runs that another history lacks, or all runs if the target is a file. Messages say what it does
// not copy and what it replaces.
func Push(ctx context.Context, from history.Store, to Target, opt PushOptions) (Pushed, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := &push{PushOptions: opt, from: from, to: to, finishing: newFinishing(to.IsCluster), stop: stop}
	err := p.all(ctx)
	p.finishing.wait()
	p.notes.log(opt.Log)
	if cause := context.Cause(ctx); cause != nil { // a run could not be finished, which ended the push
		err = cause
	}
	return p.Pushed, err
}

// push is the state of one call of Push.
type push struct {
	Pushed
	PushOptions
	from      history.Store
	to        Target
	notes     pushNotes
	finishing *finishing
	stop      context.CancelCauseFunc
}

func (p *push) all(ctx context.Context) error {
	const most = 100 // runs in one request to the cluster
	var runs []*mapping.Run
	skip := func(err error) {
		p.Log.Warn(err.Error())
		p.LeftOut = true
	}
	for r, err := range history.Readable(p.from.Runs(ctx, p.Filter), skip) {
		if err != nil {
			return err
		}
		if runs = append(runs, r); len(runs) < most {
			continue
		}
		if err := p.some(ctx, runs); err != nil {
			return err
		}
		runs = nil
	}
	return p.some(ctx, runs)
}

// some pushes some of the runs.
func (p *push) some(ctx context.Context, runs []*mapping.Run) error {
	there, err := p.lookUp(ctx, runs)
	if err != nil {
		return err
	}
	for _, r := range runs {
		p.Progress(p.Runs+p.Unchanged+1, facts.Title(r))
		if have := there.runs[r.Run.ID]; have != nil {
			p.notes.labels(r, have)
		}
		isDone, err := p.leave(ctx, &there, r)
		if err == nil && !isDone {
			err = p.replace(ctx, &there, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leave reports whether a run is not pushed. The other history has it, even if unreadable, or has more of its files, or
// people removed it there.
func (p *push) leave(ctx context.Context, there *there, r *mapping.Run) (bool, error) {
	same, whole := sameIn(there.sharing, r)
	have, removed := there.runs[r.Run.ID], there.removedAs(r)
	more := cmp.Or(there.better[r.Run.ID], whole)
	if more != nil && r.Source.Contains(&more.Source) {
		more = nil
	}
	switch {
	case there.unreadable[r.Run.ID]: // it may be a better version, and have labels and a note
		p.Log.Warn(fmt.Sprintf("%s %s is not pushed: the document of this run in the other history cannot be read: "+
			"remove it there with fio2es check --repair, then push again", facts.ShortID(r.Run.ID), facts.Title(r)))
		p.LeftOut = true
		return true, nil
	case have != nil && there.stays(r) && there.lacking[r.Run.ID] == "":
		p.Unchanged++
		p.notes.kept(r, have, there.better[r.Run.ID])
		if err := p.annotate(ctx, r, have, have.Run); err != nil {
			return true, err
		}
		return true, takeBack(ctx, p.to.Store, r.Run.ID, removed, p.Log)
	case whole != nil && there.lacking[whole.Run.ID] == "":
		p.Log.Info(fmt.Sprintf("note: %s %s is already there as %s %s", facts.ShortID(r.Run.ID), facts.Title(r), facts.ShortID(whole.Run.ID), facts.Title(whole)))
		p.Unchanged++
		p.notes.labels(r, whole)
		return true, p.annotate(ctx, r, whole, whole.Run)
	case more != nil: // the better version lacks documents, but this one lacks files
		p.Log.Warn(fmt.Sprintf("%s %s is not pushed: the other history has a better version of it, which lacks %s: ingest its files there again with --verify",
			facts.ShortID(r.Run.ID), facts.Title(r), there.lacking[more.Run.ID]))
		p.LeftOut = true
		return true, nil
	case len(removed) > 0 && len(same) == 0 && !p.Restore:
		p.notes.removed++
		return true, nil
	}
	return false, nil
}

// replace pushes a run in place of other versions in the other history.
func (p *push) replace(ctx context.Context, there *there, r *mapping.Run) error {
	if ok, err := p.isWhole(ctx, r); err != nil || !ok {
		return err
	}
	if what := there.lacking[r.Run.ID]; what != "" {
		p.Log.Info(fmt.Sprintf("note: %s: the other history lacked %s: its documents are sent again", facts.Title(r), what))
	}
	p.notes.replaced(r, there.worse[r.Run.ID])
	have, removed := there.runs[r.Run.ID], there.removedAs(r)
	same, _ := sameIn(there.sharing, r)
	for _, d := range removed { // before the run is stored, so that an interruption does not lose them
		a := d.Annotation()
		a.Weak = true
		r.Run.Annotate(a)
	}
	return p.one(ctx, r, func() error {
		now := r.Run
		if have != nil {
			now.AnnotateAs(&have.Run)
		}
		if err := p.annotate(ctx, r, have, now); err != nil {
			return err
		}
		if err := removeDuplicates(ctx, p.to.Store, r, same, p.Log); err != nil {
			return err
		}
		return takeBack(ctx, p.to.Store, r.Run.ID, removed, p.Log)
	})
}

// annotate copies the labels and the note of a run to the other history. Labels and notes that the other history had
// before have precedence. now is the run in the other history after it was stored.
func (p *push) annotate(ctx context.Context, here, before *mapping.Run, now mapping.RunInfo) error {
	if before == nil {
		return nil
	}
	a, want := here.Run.Annotation(), now
	a.Weak = true
	want.Annotate(a)
	if now.Note == want.Note && maps.Equal(now.Labels, want.Labels) {
		return nil
	}
	_, err := p.to.Store.Annotate(ctx, before.Run.ID, a)
	return err
}

// isWhole reports whether this history has all documents of a run. If not, it warns.
func (p *push) isWhole(ctx context.Context, r *mapping.Run) (bool, error) {
	counts, err := p.from.Count(ctx, []string{r.Run.ID})
	if err != nil || counts.IsWhole(r) {
		return true, err
	}
	if now, err := p.from.Run(ctx, r.Run.ID); err != nil || now.Run.Ingest != r.Run.Ingest {
		return true, err // the run was replaced in the meantime, which the push of the run finds
	}
	p.Log.Warn(fmt.Sprintf("run %s (%s) is not pushed: this history lacks %s: ingest its files again with --verify, then push",
		facts.ShortID(r.Run.ID), facts.Title(r), counts.LackText(r)))
	p.LeftOut = true
	return false, nil
}

// one pushes a run. Then it calls end, unless the target is a file.
func (p *push) one(ctx context.Context, r *mapping.Run, end func() error) error {
	wrap := func(err error) error {
		if errors.Is(err, history.ErrReplaced) {
			err = fmt.Errorf("%w: push again", err)
		}
		return fmt.Errorf("push %s: %w", facts.Title(r), err)
	}
	n, err := p.put(ctx, r)
	p.Documents += n
	if err == nil && n < r.Documents.All() { // split documents count several times, so there may be more
		err = history.ErrReplaced
	}
	if err != nil {
		return wrap(err)
	}
	p.Runs++
	r.Changes = nil // Changes are about the runs of this history
	p.finishing.run(func() {
		err := p.to.Sink.Finish(ctx, r)
		if err == nil && p.to.Store != nil {
			err = end()
		}
		if err != nil {
			p.stop(wrap(err))
		}
	})
	return nil
}

// put sends the interval documents of a run, and returns their number.
func (p *push) put(ctx context.Context, r *mapping.Run) (n int, err error) {
	const most = 500 // documents in memory
	var docs []*mapping.Interval
	for _, l := range mapping.Levels {
		for d, err := range p.from.Intervals(ctx, history.Selection{Runs: []string{r.Run.ID}, Level: l}) {
			if err == nil && d.Run.Ingest != r.Run.Ingest {
				err = history.ErrReplaced
			}
			if err == nil {
				d.Relabel(&r.Run) // in case people changed labels after r was read
			}
			if docs = append(docs, d); err == nil && len(docs) == most {
				err = p.to.Sink.Put(ctx, docs)
				n, docs = n+len(docs), docs[:0]
			}
			if err != nil {
				return n, err
			}
		}
	}
	return n + len(docs), p.to.Sink.Put(ctx, docs)
}
