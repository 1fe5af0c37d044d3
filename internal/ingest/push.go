package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
)

// PushOptions says which runs are pushed.
type PushOptions struct {
	Filter   history.RunFilter
	Restore  bool // also push runs that people removed from the other history
	Log      *slog.Logger
	Progress func(n int, name string) // called before run n is pushed
}

// Pushed counts what was pushed.
type Pushed struct {
	Runs, Unchanged, Documents int
	LeftOut                    bool // something was skipped; a message says what
}

// Push copies the runs that another history lacks, or all runs if the target is a file. Of two versions of a run,
// [mapping.Best] chooses the same one from either side, so two histories that are pushed to each other get the same
// runs. Labels and notes of the target stay. Messages say what Push does not copy and what it replaces.
func Push(ctx context.Context, from history.Store, to Target, opt PushOptions) (Pushed, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := &push{PushOptions: opt, from: from, to: to, finisher: newFinisher(to.IsCluster), stop: stop}
	err := p.all(ctx)
	p.finisher.pending.Wait()
	LogRemoved(opt.Log, p.removed)
	for _, why := range p.rejected {
		p.leaveOut(why)
	}
	for _, c := range []struct {
		runs []string
		what string
	}{
		{p.kept, "kept there in another version, which is better or was compacted"},
		{p.replaced, "replaced there, because the version from here is better"},
		{p.renewed, "sent again, because an earlier fio2es stored them there without their workload"},
		{p.labelled, "with other labels or another note there, which stay"},
	} {
		if n := len(c.runs); n > 0 {
			opt.Log.Info(fmt.Sprintf("note: %s %s: %s", unit.Plural(n, "run"), c.what, unit.List(c.runs, 5, ", ")))
		}
	}
	if cause := context.Cause(ctx); cause != nil { // a run could not be finished, which ended the push
		err = cause
	}
	return p.Pushed, err
}

// push is the state of one call of Push. The lists have the names of runs, for notes.
type push struct {
	Pushed
	PushOptions
	from           history.Store
	to             Target
	removed        int // runs that people removed from the other history
	kept, replaced []string
	renewed        []string
	mu             sync.Mutex
	labelled       []string
	rejected       []error // why runs are not pushed: the cluster rejects a document of each
	finisher       *finisher
	stop           context.CancelCauseFunc
}

func name(r *mapping.Run) string { return facts.ShortID(r.Run.ID) + " " + facts.Title(r) }

// all pushes all runs. It looks up some of them at a time in the other history.
func (p *push) all(ctx context.Context) error {
	const most = 100 // runs in one request to the cluster
	var runs []*mapping.Run
	some := func() error {
		found, err := p.lookUp(ctx, runs)
		for i, r := range runs {
			if err != nil {
				return err
			}
			p.Progress(p.Runs+p.Unchanged+1, facts.Title(r))
			err = p.one(ctx, r, &found[i])
		}
		runs = nil
		return err
	}
	for r, err := range history.Readable(p.from.Runs(ctx, p.Filter), p.leaveOut) {
		if err != nil {
			return err
		}
		if runs = append(runs, r); len(runs) == most {
			if err := some(); err != nil {
				return err
			}
		}
	}
	return some()
}

// leaveOut warns about a run that is not pushed.
func (p *push) leaveOut(why error) {
	p.Log.Warn(why.Error())
	p.LeftOut = true
}

// there is what the other history has of a run.
type there struct {
	run        *mapping.Run       // the run itself, with version, number of documents, labels and note; nil: it is not there
	isOther    bool               // it was read from other files or with other settings; run has its document
	unreadable bool               // it is there, but its document cannot be read
	same       []*mapping.Run     // runs with other ids that are the same run
	stays      *mapping.Run       // the one of all these that is at least as good as the run; nil if there is none
	removed    []*mapping.Removed // removed runs that are the same run
	lacking    map[string]string  // by id, the missing documents of these runs
}

// lookUp looks up runs in the other history, all in a few requests.
func (p *push) lookUp(ctx context.Context, runs []*mapping.Run) ([]there, error) {
	found, to := make([]there, len(runs)), p.to.Store
	if to == nil || len(runs) == 0 {
		return found, nil
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.Run.ID
	}
	versions, err := to.Versions(ctx, ids)
	if err != nil {
		return nil, err
	}
	var files, logs, wasRemoved []string
	var counted []*mapping.Run
	for i, r := range runs {
		t, isThere := &found[i], false
		if t.run, isThere = versions[r.Run.ID]; !isThere {
			inAny, inUnreported := r.Source.Keys()
			files, logs = append(files, inAny...), append(logs, inUnreported...)
		}
		if !isThere || p.Restore { // an interrupted push may have left both the run and the record of its removal
			wasRemoved = append(wasRemoved, r.Source.Hashes()...)
		}
		t.unreadable = isThere && t.run == nil
		if t.run != nil && t.run.Run.Reading() != r.Run.Reading() {
			t.isOther = true
			t.run, err = to.Run(ctx, r.Run.ID)
			t.unreadable = history.IsSkipped(err)
			if err != nil {
				t.run = nil // it cannot be read, or was removed meanwhile
			}
			if err != nil && !t.unreadable && !errors.Is(err, history.ErrNotFound) {
				return nil, err
			}
		}
		if t.run != nil && (!t.isOther || mapping.Best([]*mapping.Run{t.run, r}) == t.run) {
			t.stays = t.run
			have := r.Light()
			have.Run.Ingest, have.Documents = t.run.Run.Ingest, t.run.Documents
			counted = append(counted, have)
		}
	}
	var sharing []*mapping.Run
	if len(files) > 0 {
		if sharing, err = to.Holding(ctx, files, logs); err != nil {
			return nil, err
		}
	}
	var removed []*mapping.Removed
	if len(wasRemoved) > 0 {
		if removed, err = to.Removed(ctx, wasRemoved); err != nil {
			return nil, err
		}
	}
	lacking, err := missing(ctx, to, append(counted, sharing...), p.Log)
	for i, r := range runs {
		t := &found[i]
		t.lacking = lacking
		for _, s := range sharing {
			isOther := mapping.OtherStage(s.Run.Stage, s.Run.Stages, r.Run.Stage, r.Run.Stages)
			if s.Run.ID != r.Run.ID && !isOther && mapping.SameExecution(&s.Source, &r.Source) {
				t.same = append(t.same, s)
				if t.run == nil && !s.Run.Live() && s.Source.Contains(&r.Source) {
					t.stays = s
				}
			}
		}
		for _, d := range removed {
			isOther := mapping.OtherStage(d.Stage, d.Stages, r.Run.Stage, r.Run.Stages)
			if (t.run == nil || p.Restore) && !isOther && mapping.SameExecution(&d.Source, &r.Source) {
				t.removed = append(t.removed, d)
			}
		}
	}
	return found, err
}

// one pushes a run, unless the other history has it, has more of its files, or people removed it there.
func (p *push) one(ctx context.Context, r *mapping.Run, t *there) error {
	stays := t.stays
	isOld := p.to.IsCluster && stays != nil && stays == t.run && stays.Workload.ID == "" && stays.Run.Ingest == r.Run.Ingest
	if r.Workload.ID == "" {
		rule.Set(r)
	}
	switch {
	case t.unreadable: // it may be a better version, and have labels and a note
		p.leaveOut(fmt.Errorf("%s is not pushed: the document of this run in the other history cannot be read: "+
			"remove it there with fio2es check --repair, then push again", name(r)))
		return nil
	case stays == nil && len(t.removed) > 0 && len(t.same) == 0 && !p.Restore:
		p.removed++
		return nil
	case stays == nil:
	case t.lacking[stays.Run.ID] == "" && !isOld:
		p.Unchanged++
		if stays != t.run {
			p.Log.Info(fmt.Sprintf("note: %s is already there as %s", name(r), name(stays)))
			return p.label(ctx, r, stays)
		}
		if stays.Run.Ingest != r.Run.Ingest {
			p.kept = append(p.kept, name(r))
		}
		if err := p.label(ctx, r, stays); err != nil {
			return err
		}
		return takeBack(ctx, p.to.Store, r.Run.ID, t.removed, p.Log)
	case (t.isOther || stays != t.run) && !r.Source.Contains(&stays.Source): // this version cannot restore what that one lacks
		p.leaveOut(fmt.Errorf("%s is not pushed: the other history has a better version of it, which lacks %s: ingest its files there again with --verify",
			name(r), t.lacking[stays.Run.ID]))
		return nil
	}
	counts, err := p.from.Count(ctx, []string{r.Run.ID})
	if err != nil {
		return err
	}
	if !counts.IsWhole(r) {
		now, err := p.from.Run(ctx, r.Run.ID)
		if err != nil {
			return err
		}
		if now.Run.Ingest == r.Run.Ingest { // else it was replaced meanwhile, which sending its documents finds
			p.leaveOut(fmt.Errorf("%s is not pushed: this history lacks %s: ingest its files again with --verify, then push", name(r), counts.LackText(r)))
			return nil
		}
	}
	if isOld {
		p.renewed = append(p.renewed, name(r))
	}
	if t.run != nil && stays == nil {
		p.replaced = append(p.replaced, name(r))
	}
	if what := t.lacking[r.Run.ID]; what != "" {
		p.Log.Info(fmt.Sprintf("note: %s: the other history lacked %s: its documents are sent again", facts.Title(r), what))
	}
	for _, d := range t.removed { // before the run is stored, so that an interruption does not lose them
		a := d.Annotation()
		a.Weak = true
		r.Run.Annotate(a)
	}
	wrap := func(err error) error {
		if errors.Is(err, history.ErrReplaced) {
			err = fmt.Errorf("%w: push again", err)
		}
		return fmt.Errorf("push %s: %w", facts.Title(r), err)
	}
	reject := func(err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rejected = append(p.rejected, fmt.Errorf("%s is not pushed: %w", name(r), err))
	}
	n, err := p.put(ctx, r, counts[r.Run.ID][r.Run.Ingest].Documents)
	if errors.Is(err, history.ErrRejected) {
		reject(err)
		return nil
	}
	p.Documents += n
	if err == nil && n < r.Documents.All() { // split documents count several times, so there may be more
		err = history.ErrReplaced
	}
	if err != nil {
		return wrap(err)
	}
	p.Runs++
	r.Changes = nil // Changes are about the runs of this history
	p.finisher.run(func() {
		err := p.to.Sink.Finish(ctx, r)
		if err == nil && p.to.Store != nil {
			err = p.end(ctx, r, t)
		}
		switch {
		case errors.Is(err, history.ErrRejected):
			reject(err)
		case err != nil:
			p.stop(wrap(err))
		}
	})
	return nil
}

// end completes a run that is stored in the other history: it gets the labels of this one and of the runs that it
// replaces.
func (p *push) end(ctx context.Context, r *mapping.Run, t *there) error {
	if t.run != nil {
		stored := *r
		stored.Run.AnnotateAs(&t.run.Run) // as Finish does
		if err := p.label(ctx, r, &stored); err != nil {
			return err
		}
	}
	if err := removeDuplicates(ctx, p.to.Store, r, contained(t.same, &r.Source), p.Log); err != nil {
		return err
	}
	return takeBack(ctx, p.to.Store, r.Run.ID, t.removed, p.Log)
}

// label gives a run in the other history the labels and the note of the run here, except those that people changed
// there.
func (p *push) label(ctx context.Context, here, there *mapping.Run) error {
	a, want := here.Run.Annotation(), there.Run
	a.Weak = true
	want.Annotate(a)
	isOther := a.Note != nil && *a.Note != want.Note
	for label, value := range a.Labels {
		isOther = isOther || want.Labels[label] != value
	}
	if isOther {
		p.mu.Lock()
		p.labelled = append(p.labelled, name(here))
		p.mu.Unlock()
	}
	if there.Run.Note == want.Note && maps.Equal(there.Run.Labels, want.Labels) {
		return nil
	}
	_, err := p.to.Store.Annotate(ctx, there.Run.ID, a)
	return err
}

// put sends the interval documents of a run, of the levels that have some, and returns their number. Those that an earlier fio2es stored
// get the fields that they lack.
func (p *push) put(ctx context.Context, r *mapping.Run, have mapping.Documents) (n int, err error) {
	const most = 500 // documents in memory
	var docs []*mapping.Interval
	for _, l := range mapping.Levels {
		if have.Of(l) == 0 {
			continue
		}
		for d, err := range p.from.Intervals(ctx, history.Selection{Runs: []string{r.Run.ID}, Level: l}) {
			if err == nil && d.Run.Ingest != r.Run.Ingest {
				err = history.ErrReplaced
			}
			if err == nil {
				d.Relabel(&r.Run) // in case people changed labels after r was read
				d.Describe(r)
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
