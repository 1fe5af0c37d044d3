package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// PushOptions say which runs are pushed.
type PushOptions struct {
	Filter   history.RunFilter
	Restore  bool // also push runs that people removed from the other history
	Log      *slog.Logger
	Progress func(n int, name string) // called when the n-th run is pushed
}

// Pushed is what was pushed.
type Pushed struct {
	Runs, Unchanged, Documents int
	LeftOut                    bool // something was skipped; a message says what
}

// Push copies the runs of a history that another one has not, or all of them to a file. What it does not copy, and
// what it replaces, a message says.
func Push(ctx context.Context, from history.Store, to Target, opt PushOptions) (Pushed, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := &push{PushOptions: opt, from: from, to: to, finishing: newFinishing(to.IsCluster), stop: stop}
	err := p.all(ctx)
	p.finishing.wait()
	p.notes.log(opt.Log)
	if cause := context.Cause(ctx); cause != nil { // a run could not be finished, which ended all else
		err = cause
	}
	return p.Pushed, err
}

// push is one call of Push.
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
	const most = 100 // runs that one request to the cluster is about
	var runs []*mapping.Run
	for r, err := range p.from.Runs(ctx, p.Filter) {
		if history.IsSkipped(err) {
			p.Log.Warn(err.Error())
			p.LeftOut = true
			continue
		}
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

// some pushes some runs.
func (p *push) some(ctx context.Context, runs []*mapping.Run) error {
	there, err := p.lookUp(ctx, runs)
	if err != nil {
		return err
	}
	for _, r := range runs {
		p.Progress(p.Runs+p.Unchanged+1, facts.Title(r))
		same, whole := sameIn(there.sharing, r)
		removed, have := there.removedAs(r), there.runs[r.Run.ID]
		if have != nil {
			p.notes.labels(r, have)
		}
		switch lack := there.lacking[r.Run.ID]; {
		case have != nil && there.stays(r) && lack == "":
			p.Unchanged++
			p.notes.kept(r, have, there.better[r.Run.ID])
			if err := p.annotate(ctx, r, have, have.Run); err != nil {
				return err
			}
			continue
		case whole != nil && there.lacking[whole.Run.ID] == "":
			p.Log.Info(fmt.Sprintf("note: %s %s is there as %s %s", facts.ShortID(r.Run.ID), facts.Title(r), facts.ShortID(whole.Run.ID), facts.Title(whole)))
			p.Unchanged++
			p.notes.labels(r, whole)
			if err := p.annotate(ctx, r, whole, whole.Run); err != nil {
				return err
			}
			continue
		case len(removed) > 0 && len(same) == 0 && !p.Restore:
			p.notes.removed++
			continue
		}
		if ok, err := p.isWhole(ctx, r); err != nil {
			return err
		} else if !ok {
			continue
		}
		if what := there.lacking[r.Run.ID]; what != "" {
			p.Log.Info(fmt.Sprintf("note: %s: %s were missing there: its documents are sent again", facts.Title(r), what))
		}
		p.notes.replaced(r, there.worse[r.Run.ID])
		err := p.one(ctx, r, func() error {
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
		if err != nil {
			return err
		}
	}
	return nil
}

// there is what the other history has of some runs.
type there struct {
	runs          map[string]*mapping.Run // by id: version, number of documents, labels and note
	better, worse map[string]*mapping.Run // by id, of those in another version: those that stay, and those that are replaced
	sharing       []*mapping.Run          // runs of other ids that share files
	removed       []*mapping.Removed      // runs that share files, and that people removed
	lacking       map[string]string       // by id: missing documents of runs that would not be pushed
}

// hasVersion reports whether the other history has the same version of a run, or the same in windows of
// another length: either history may have been compacted.
func (t *there) hasVersion(r *mapping.Run) bool {
	have := t.runs[r.Run.ID]
	return have != nil && have.Run.Reading() == r.Run.Reading()
}

// stays reports whether the version of a run that the other history has stays.
func (t *there) stays(r *mapping.Run) bool { return t.hasVersion(r) || t.better[r.Run.ID] != nil }

// removedAs are the removed runs of the same files as a run that the other history has not.
func (t *there) removedAs(r *mapping.Run) (same []*mapping.Removed) {
	for _, d := range t.removed {
		if t.runs[r.Run.ID] == nil && mapping.SameExecution(&d.Source, &r.Source) {
			same = append(same, d)
		}
	}
	return same
}

// annotate gives a run that the other history had before the labels and the note that people gave it here. What they
// had said about it there takes precedence. now is what it has after it was stored.
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

// lookUp looks some runs up in the other history.
func (p *push) lookUp(ctx context.Context, runs []*mapping.Run) (t there, err error) {
	to := p.to.Store
	if to == nil {
		return t, nil
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.Run.ID
	}
	if t.runs, err = to.Versions(ctx, ids); err != nil {
		return t, err
	}
	if err := t.compare(ctx, to, runs); err != nil {
		return t, err
	}
	var hashes []string
	var kept []*mapping.Run
	for _, r := range runs {
		switch {
		case t.runs[r.Run.ID] == nil:
			hashes = append(hashes, r.Source.Hashes()...)
		case t.stays(r):
			have := r.Light()
			have.Run.Ingest, have.Documents = t.runs[r.Run.ID].Run.Ingest, t.runs[r.Run.ID].Documents
			kept = append(kept, have)
		}
	}
	if len(hashes) > 0 {
		if t.sharing, err = to.Holding(ctx, hashes); err != nil {
			return t, err
		}
		if t.removed, err = to.Removed(ctx, hashes); err != nil {
			return t, err
		}
	}
	t.lacking, err = missing(ctx, to, append(kept, t.sharing...), p.Log)
	return t, err
}

// compare finds the runs that are there in another version, and which of the two is the better one: the same in both
// directions, so that two histories that are pushed to each other get the same versions.
func (t *there) compare(ctx context.Context, to history.Store, runs []*mapping.Run) error {
	t.better, t.worse = map[string]*mapping.Run{}, map[string]*mapping.Run{}
	for _, r := range runs {
		if t.runs[r.Run.ID] == nil || t.hasVersion(r) {
			continue
		}
		have, err := to.Run(ctx, r.Run.ID)
		switch {
		case history.IsSkipped(err), errors.Is(err, history.ErrNotFound): // it is stored again
		case err != nil:
			return err
		case mapping.Best([]*mapping.Run{have, r}) == have:
			t.better[r.Run.ID] = have
		default:
			t.worse[r.Run.ID] = have
		}
	}
	return nil
}

// sameIn are those of some runs that are the same as one, under other ids; whole is one of
// them that has all of its files.
func sameIn(sharing []*mapping.Run, r *mapping.Run) (same []*mapping.Run, whole *mapping.Run) {
	for _, s := range sharing {
		if s.Run.ID == r.Run.ID || !mapping.SameExecution(&s.Source, &r.Source) {
			continue
		}
		same = append(same, s)
		if !s.Run.Live() && s.Source.Contains(&r.Source) {
			whole = s
		}
	}
	return same, whole
}

// isWhole reports whether the history has all documents of a run. It warns otherwise.
func (p *push) isWhole(ctx context.Context, r *mapping.Run) (bool, error) {
	counts, err := p.from.Count(ctx, []string{r.Run.ID})
	if err != nil || counts.IsWhole(r) {
		return true, err
	}
	if now, err := p.from.Run(ctx, r.Run.ID); err != nil || now.Run.Ingest != r.Run.Ingest {
		return true, err // it was replaced since, which one finds
	}
	p.Log.Warn(fmt.Sprintf("run %s (%s) is not pushed: this history lacks %s: ingest its files again with --verify, then push",
		facts.ShortID(r.Run.ID), facts.Title(r), counts.LackText(r)))
	p.LeftOut = true
	return false, nil
}

// one pushes a run, and then calls end, unless it is pushed to a file.
func (p *push) one(ctx context.Context, r *mapping.Run, end func() error) error {
	wrap := func(err error) error { return fmt.Errorf("push %s: %w", facts.Title(r), err) }
	n, err := p.put(ctx, r)
	p.Documents += n
	if d := r.Documents; err == nil && n < d.Cluster+d.Host+d.Job { // documents in several parts are more
		err = errReplaced
	}
	if err != nil {
		return wrap(err)
	}
	p.Runs++
	r.Changes = nil // they are those of this history's runs
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

var errReplaced = fmt.Errorf("%w: push again", history.ErrReplaced)

// put sends the interval documents of a run, and returns how many there are.
func (p *push) put(ctx context.Context, r *mapping.Run) (n int, err error) {
	const most = 500 // in memory
	var docs []*mapping.Interval
	for _, l := range mapping.Levels {
		for d, err := range p.from.Intervals(ctx, history.Selection{Runs: []string{r.Run.ID}, Level: l}) {
			if err == nil && d.Run.Ingest != r.Run.Ingest {
				err = errReplaced
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
