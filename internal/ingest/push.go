package ingest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// PushOptions say which runs are pushed.
type PushOptions struct {
	Filter   history.RunFilter
	Restore  bool // also push runs that people removed from the cluster
	Log      *slog.Logger
	Progress func(n int, name string) // called when the n-th run is pushed
}

// Pushed is what was pushed.
type Pushed struct {
	Runs, Unchanged, Documents int
	Removed                    int  // runs that are not pushed, because people removed them from the cluster; a message says so
	Compacted                  int  // of those unchanged, runs that the cluster has in windows of another length; a message says so
	LeftOut                    bool // something else was skipped; a message says what
}

// Push copies the runs of the embedded history that a cluster has not, or all of them to a file:
// then cluster is nil.
func Push(ctx context.Context, from *sqlite.Store, to pipeline.Sink, cluster *elastic.Store, opt PushOptions) (Pushed, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := &push{PushOptions: opt, from: from, to: to, cluster: cluster, finishing: newFinishing(cluster != nil), stop: stop}
	err := p.all(ctx)
	p.finishing.wait()
	logRemoved(opt.Log, p.Removed)
	if p.Compacted > 0 {
		opt.Log.Info(fmt.Sprintf("note: %s in the cluster have windows of another length than here, because one of the two histories was compacted: they stay as they are",
			unit.Plural(p.Compacted, "run")))
	}
	if cause := context.Cause(ctx); cause != nil { // a run could not be finished, which ended all else
		err = cause
	}
	return p.Pushed, err
}

// push is one call of Push.
type push struct {
	Pushed
	PushOptions
	from      *sqlite.Store
	to        pipeline.Sink
	cluster   *elastic.Store
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
		removed := there.removedAs(r)
		switch {
		case there.hasVersion(r) && there.lacking[r.Run.ID] == "":
			p.Unchanged++
			have := there.runs[r.Run.ID]
			if have.Run.Ingest != r.Run.Ingest {
				p.Compacted++
			}
			if err := p.annotate(ctx, &r.Run, have, have.Run); err != nil {
				return err
			}
			continue
		case whole != nil && there.lacking[whole.Run.ID] == "":
			p.Log.Info(fmt.Sprintf("note: %s %s is in the cluster as %s %s", facts.ShortID(r.Run.ID), facts.Title(r), facts.ShortID(whole.Run.ID), facts.Title(whole)))
			p.Unchanged++
			continue
		case len(removed) > 0 && len(same) == 0 && !p.Restore:
			p.Removed++
			continue
		}
		if ok, err := p.isWhole(ctx, r); err != nil {
			return err
		} else if !ok {
			continue
		}
		if what := there.lacking[r.Run.ID]; what != "" {
			p.Log.Info(fmt.Sprintf("note: %s: the cluster lacked %s: its documents are sent again", facts.Title(r), what))
		}
		err := p.one(ctx, r, func() error {
			if err := p.annotate(ctx, &r.Run, there.runs[r.Run.ID], r.Run); err != nil {
				return err
			}
			if err := removeDuplicates(ctx, p.cluster, r, same, p.Log); err != nil {
				return err
			}
			return takeBack(ctx, p.cluster, r.Run.ID, removed, p.Log)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// there is what the cluster has of some runs.
type there struct {
	runs    map[string]*mapping.Run // by id: version, number of documents, labels and note
	sharing []*mapping.Run          // runs of other ids that share files
	removed []*mapping.Removed      // runs that share files, and that people removed
	lacking map[string]string       // by id: missing documents of runs that would not be pushed
}

// hasVersion reports whether the cluster has the same version of a run, or the same in windows of
// another length: either history may have been compacted.
func (t *there) hasVersion(r *mapping.Run) bool {
	have := t.runs[r.Run.ID]
	return have != nil && have.Run.Reading() == r.Run.Reading()
}

// removedAs are the removed runs of the same files as a run that the cluster has not.
func (t *there) removedAs(r *mapping.Run) (same []*mapping.Removed) {
	for _, d := range t.removed {
		if t.runs[r.Run.ID] == nil && mapping.SameExecution(&d.Source, &r.Source) {
			same = append(same, d)
		}
	}
	return same
}

// annotate gives a run, which is in the cluster now, the labels and the note that people gave it in
// the embedded history. What they gave it in the cluster before takes precedence.
func (p *push) annotate(ctx context.Context, here *mapping.RunInfo, before *mapping.Run, now mapping.RunInfo) error {
	if before == nil {
		return nil
	}
	a, there := here.Annotation(), before.Run.Annotation()
	a.Note = cmp.Or(there.Note, a.Note)
	if a.Labels == nil {
		a.Labels = there.Labels
	} else {
		maps.Copy(a.Labels, there.Labels)
	}
	want := now
	want.Annotate(a)
	if now.Note == want.Note && maps.Equal(now.Labels, want.Labels) {
		return nil
	}
	_, err := p.cluster.Annotate(ctx, here.ID, a)
	return err
}

func (p *push) lookUp(ctx context.Context, runs []*mapping.Run) (t there, err error) {
	if p.cluster == nil {
		return t, nil
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.Run.ID
	}
	if t.runs, err = p.cluster.Versions(ctx, ids); err != nil {
		return t, err
	}
	var hashes []string
	var kept []*mapping.Run
	for _, r := range runs {
		switch {
		case t.runs[r.Run.ID] == nil:
			hashes = append(hashes, r.Source.Hashes()...)
		case t.hasVersion(r):
			have := r.Light()
			have.Run.Ingest, have.Documents = t.runs[r.Run.ID].Run.Ingest, t.runs[r.Run.ID].Documents
			kept = append(kept, have)
		}
	}
	if len(hashes) > 0 {
		if t.sharing, err = p.cluster.Holding(ctx, hashes); err != nil {
			return t, err
		}
		if t.removed, err = p.cluster.Removed(ctx, hashes); err != nil {
			return t, err
		}
	}
	t.lacking, err = missing(ctx, p.cluster, append(kept, t.sharing...), p.Log)
	return t, err
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
	p.Log.Warn(fmt.Sprintf("run %s (%s) is not pushed: the embedded history lacks %s: ingest its files again with --verify, then push",
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
	p.finishing.run(func() {
		err := p.to.Finish(ctx, r)
		if err == nil && p.cluster != nil {
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
				err = p.to.Put(ctx, docs)
				n, docs = n+len(docs), docs[:0]
			}
			if err != nil {
				return n, err
			}
		}
	}
	return n + len(docs), p.to.Put(ctx, docs)
}
