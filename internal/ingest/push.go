package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
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
	for _, kind := range []string{compacted, kept, replaced, labelled} {
		if n := len(p.notes[kind]); n > 0 {
			opt.Log.Info(fmt.Sprintf("note: %s %s; the first is %s", unit.Plural(n, "run"), kind, p.notes[kind][0]))
		}
	}
	if cause := context.Cause(ctx); cause != nil { // a run could not be finished, which ended the push
		err = cause
	}
	return p.Pushed, err
}

// Kinds of notes.
const (
	compacted = "kept there in windows of another length, because one of the histories was compacted"
	kept      = "kept there, because that version is better"
	replaced  = "replaced there, because the version from here is better"
	labelled  = "with other labels or another note there, which stay"
)

// push is the state of one call of Push.
type push struct {
	Pushed
	PushOptions
	from     history.Store
	to       Target
	removed  int                 // runs that people removed from the other history
	notes    map[string][]string // by kind, descriptions of runs
	finisher *finisher
	stop     context.CancelCauseFunc
}

func (p *push) note(kind string, r *mapping.Run, format string, args ...any) {
	if p.notes == nil {
		p.notes = map[string][]string{}
	}
	p.notes[kind] = append(p.notes[kind], fmt.Sprintf("%s %s, ", facts.ShortID(r.Run.ID), facts.Title(r))+fmt.Sprintf(format, args...))
}

func (p *push) all(ctx context.Context) error {
	const most = 100 // runs in one request to the cluster
	skip := func(err error) {
		p.Log.Warn(err.Error())
		p.LeftOut = true
	}
	var runs []*mapping.Run
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

// there is what the other history has of a run.
type there struct {
	run        *mapping.Run       // the run itself, with version, number of documents, labels and note; nil: it is not there
	unreadable bool               // it is there, but its document cannot be read
	other      *mapping.Run       // its document, if it is another version
	isWorse    bool               // the other version is worse
	same       []*mapping.Run     // runs with other ids that are the same run
	removed    []*mapping.Removed // removed runs that are the same run
	lacking    map[string]string  // by id, the missing documents of these runs
}

// some pushes some of the runs.
func (p *push) some(ctx context.Context, runs []*mapping.Run) error {
	found, err := p.lookUp(ctx, runs)
	for i, r := range runs {
		if err != nil {
			return err
		}
		p.Progress(p.Runs+p.Unchanged+1, facts.Title(r))
		err = p.one(ctx, r, found[i])
	}
	return err
}

// lookUp looks up runs in the other history, all in a few requests.
func (p *push) lookUp(ctx context.Context, runs []*mapping.Run) ([]*there, error) {
	found, to := make([]*there, len(runs)), p.to.Store
	for i := range runs {
		found[i] = &there{}
	}
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
		t, isThere := found[i], false
		if t.run, isThere = versions[r.Run.ID]; !isThere {
			inAny, inUnreported := r.Source.Keys()
			files, logs = append(files, inAny...), append(logs, inUnreported...)
		}
		if !isThere || p.Restore { // an interrupted push may have left both the run and the record of its removal
			wasRemoved = append(wasRemoved, r.Source.Hashes()...)
		}
		t.unreadable = isThere && t.run == nil
		if t.run != nil && t.run.Run.Reading() != r.Run.Reading() {
			switch t.other, err = to.Run(ctx, r.Run.ID); {
			case history.IsSkipped(err):
				t.unreadable = true
			case errors.Is(err, history.ErrNotFound): // it was removed meanwhile
				t.run = nil
			case err != nil:
				return nil, err
			default:
				t.isWorse = mapping.Best([]*mapping.Run{t.other, r}) == r
			}
		}
		if t.run != nil && !t.isWorse {
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
		t := found[i]
		t.lacking = lacking
		for _, s := range sharing {
			if s.Run.ID != r.Run.ID && mapping.SameExecution(&s.Source, &r.Source) {
				t.same = append(t.same, s)
			}
		}
		for _, d := range removed {
			if (t.run == nil || p.Restore) && mapping.SameExecution(&d.Source, &r.Source) {
				t.removed = append(t.removed, d)
			}
		}
	}
	return found, err
}

// one pushes a run, unless the other history has it, has more of its files, or people removed it there.
func (p *push) one(ctx context.Context, r *mapping.Run, t *there) error {
	if t.unreadable { // it may be a better version, and have labels and a note
		p.Log.Warn(fmt.Sprintf("%s %s is not pushed: the document of this run in the other history cannot be read: "+
			"remove it there with fio2es check --repair, then push again", facts.ShortID(r.Run.ID), facts.Title(r)))
		p.LeftOut = true
		return nil
	}
	var stays *mapping.Run  // the run in the other history, if it stays there as it is
	var better *mapping.Run // the same with its files, if these may be more
	if t.run != nil && !t.isWorse {
		stays, better = t.run, t.other
	} else {
		for _, s := range t.same {
			if !s.Run.Live() && s.Source.Contains(&r.Source) {
				stays, better = s, s
			}
		}
	}
	switch {
	case stays == nil && len(t.removed) > 0 && len(t.same) == 0 && !p.Restore:
		p.removed++
		return nil
	case stays == nil:
	case t.lacking[stays.Run.ID] == "":
		p.Unchanged++
		switch {
		case stays != t.run:
			p.Log.Info(fmt.Sprintf("note: %s %s is already there as %s %s", facts.ShortID(r.Run.ID), facts.Title(r), facts.ShortID(stays.Run.ID), facts.Title(stays)))
		case t.other != nil:
			p.note(kept, r, "there %s, here %s", versionText(t.other), versionText(r))
		case stays.Run.Ingest != r.Run.Ingest:
			p.note(compacted, r, "there %s, here %s", versionText(t.run), versionText(r))
		}
		p.differ(r, stays)
		if err := p.annotate(ctx, r, stays, stays.Run); err != nil || stays != t.run {
			return err
		}
		return takeBack(ctx, p.to.Store, r.Run.ID, t.removed, p.Log)
	case better != nil && !r.Source.Contains(&better.Source): // this version cannot restore what that one lacks
		p.Log.Warn(fmt.Sprintf("%s %s is not pushed: the other history has a better version of it, which lacks %s: ingest its files there again with --verify",
			facts.ShortID(r.Run.ID), facts.Title(r), t.lacking[stays.Run.ID]))
		p.LeftOut = true
		return nil
	}
	if ok, err := p.isWhole(ctx, r); err != nil || !ok {
		return err
	}
	if t.run != nil {
		p.differ(r, t.run)
	}
	if t.isWorse {
		p.note(replaced, r, "there %s, here %s", versionText(t.other), versionText(r))
	}
	if what := t.lacking[r.Run.ID]; what != "" {
		p.Log.Info(fmt.Sprintf("note: %s: the other history lacked %s: its documents are sent again", facts.Title(r), what))
	}
	for _, d := range t.removed { // before the run is stored, so that an interruption does not lose them
		a := d.Annotation()
		a.Weak = true
		r.Run.Annotate(a)
	}
	return p.send(ctx, r, func() error {
		now := r.Run
		if t.run != nil {
			now.AnnotateAs(&t.run.Run)
		}
		if err := p.annotate(ctx, r, t.run, now); err != nil {
			return err
		}
		if err := removeDuplicates(ctx, p.to.Store, r, t.same, p.Log); err != nil {
			return err
		}
		return takeBack(ctx, p.to.Store, r.Run.ID, t.removed, p.Log)
	})
}

// versionText describes a version of a run, for comparing it with another one.
func versionText(r *mapping.Run) string {
	text := fmt.Sprintf("stored %s", r.Ingested.UTC().Format("2006-01-02 15:04:05"))
	if n := len(r.Source.List); n > 0 {
		text += ", " + unit.Plural(n, "file")
	}
	if r.IntervalMS > 0 {
		text += fmt.Sprintf(", windows of %v", time.Duration(r.IntervalMS)*time.Millisecond)
	}
	if !r.Run.Complete {
		text += ", incomplete"
	}
	return text
}

// differ notes a run that people gave different labels or notes in the two histories.
func (p *push) differ(here, there *mapping.Run) {
	for _, name := range slices.Sorted(maps.Keys(here.Run.Edited)) {
		_, isEdited := there.Run.Edited[name]
		if a, b := here.Run.Labels[name], there.Run.Labels[name]; isEdited && a != b {
			p.note(labelled, here, "%s is %s there, and %s here", name, cmp.Or(b, "removed"), cmp.Or(a, "removed"))
			return
		}
	}
	if a, b := here.Run.Note, there.Run.Note; a != "" && b != "" && a != b {
		p.note(labelled, here, "its note there is %.60q, and here %.60q", b, a)
	}
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

// send sends a run. Then it calls end, unless the target is a file.
func (p *push) send(ctx context.Context, r *mapping.Run, end func() error) error {
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
	p.finisher.run(func() {
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
