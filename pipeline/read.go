// Package pipeline turns archives and logs into documents. It is the only package that uses
// all stages, which run one way:
//
//	source     finds files in folders and archives and unpacks them
//	cbt        finds the files of each run and its configuration
//	fiolog     parses logs and reports
//	plan       decides which rows are used and when each job ran; opens no file
//	align      puts rows onto common windows, weights and merges them
//	mapping    makes documents of windows that are stored
//
// [Open] finds executions of fio, [Stages] plans one and finds its runs, [Stage.Read] makes the windows of a run, and
// [Stage.Ingest] stores their documents.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Result is the result of reading one run.
type Result struct {
	Run *mapping.Run
	// Skipped is what is missing in the run. Notes are other things to know.
	Skipped, Notes []error
	// Unchanged means that nothing was stored, because the store has this version. Run is the stored document.
	Unchanged bool
	// Because is a stored run that is the reason for storing nothing. Then Run is nil.
	Because *mapping.Run
	// Plan is what was known before rows were read. It is nil if the run cannot be read.
	Plan *plan.Plan
}

// Log logs what was skipped as warnings, and the notes.
func (r *Result) Log(log *slog.Logger) {
	for _, err := range r.Skipped {
		log.Warn(err.Error())
	}
	for _, err := range r.Notes {
		log.Info("note: " + err.Error())
	}
	for _, text := range r.Why() {
		log.Debug(text)
	}
}

// Why says how jobs that ran one after another were placed, and has a line for each job with its source of rows, its time, and
// the evidence.
func (r *Result) Why() (lines []string) {
	if r.Plan != nil {
		if r.Plan.Placed != "" {
			lines = append(lines, r.Plan.Placed)
		}
		for _, j := range r.Plan.Jobs {
			lines = append(lines, j.String())
		}
	}
	return lines
}

// Sink takes the documents of runs. Every store of a history is a Sink, and so is the writer of NDJSON.
type Sink interface {
	// Put takes any number of interval documents. It does not use them after it has returned. They need not be on disk
	// before Finish. Put fails if a document does not pass its Check.
	Put(ctx context.Context, docs []*mapping.Interval) error

	// Finish takes the document of a run after all its interval documents were put. When it returns nil, all of them
	// are stored safely. To finish the run again, put all of its documents again.
	Finish(ctx context.Context, run *mapping.Run) error
}

// Stage is one run of an execution: what ran at the same time. It is planned, and can be read.
type Stage struct {
	*input
	said     *problems
	reported map[string]bool // messages that results of the execution have had
	found    []source.State  // of the files of the execution
	source   func() (*Execution, error)
	failed   *Result // why nothing of the execution can be read; then there is no input
}

// Stages plans an execution of fio, and iterates over its stages in the order of time. If absolute is true, they get ids,
// and starts from any evidence. If nothing of the execution can be read, there is one stage, whose result says why. Each
// must be used before the next one. An error is that of ctx.
func Stages(ctx context.Context, run *cbt.Run, opt Options, absolute bool) iter.Seq2[*Stage, error] {
	return func(yield func(*Stage, error) bool) {
		said := &problems{}
		var found []source.State
		for _, f := range run.Files() {
			found = append(found, f.State())
		}
		inputs, err := makePlan(ctx, run, opt, absolute, nil, said)
		if err != nil {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			said.skip("%s:%s: %w", run.Archive, run.Name(), err)
			skipped, notes := said.all()
			yield(&Stage{failed: &Result{Skipped: skipped, Notes: notes}}, nil)
			return
		}
		defer inputs[0].close(nil)
		files, reported := sync.OnceValues(func() (*Execution, error) { return inputs[0].execution(ctx) }), map[string]bool{}
		for _, in := range inputs {
			if !yield(&Stage{input: in, said: &problems{ofPlan: said}, reported: reported, found: found, source: files}, nil) {
				return
			}
		}
	}
}

// NameIn returns the name of the run, from that of the execution.
func (s *Stage) NameIn(execution string) string {
	if s.failed != nil {
		return execution
	}
	return s.Plan.NameIn(execution)
}

// HasClock reports whether windows of the stage have a time of day.
func (s *Stage) HasClock() bool { return s.failed != nil || s.Placed != mapping.PlacedByJob }

// SectionNames returns the names of the sections of a stage whose jobs did not all do the same, or the name of its only one.
func (s *Stage) SectionNames() (names []string, only string) {
	switch {
	case s.failed != nil:
	case s.HasSections():
		for _, of := range s.Sections {
			names = append(names, of.Name)
		}
	case len(s.Sections) == 1:
		only = s.Sections[0].Name
	}
	return names, only
}

// IsDivided reports whether the execution has several stages.
func (s *Stage) IsDivided() bool { return s.failed == nil && s.Stages > 1 }

// begin makes the stage ready for windows of some levels, which are those of its options if there are none. If nothing can
// be read, the result says why.
func (s *Stage) begin(levels []mapping.Level) *Result {
	if s.failed != nil {
		return s.failed
	}
	if len(levels) == 0 {
		levels = s.opt.levels()
	}
	s.opt.Levels = s.limitLevels(levels, s.said)
	if len(s.opt.Levels) == 0 {
		skipped, notes := s.said.all()
		return &Result{Skipped: s.news(skipped), Notes: s.news(notes)}
	}
	return nil
}

// limitLevels returns the levels that are possible, and says why others are not.
func (in *input) limitLevels(levels []mapping.Level, said *problems) []mapping.Level {
	fit, errs := in.LimitLevels(levels)
	for _, err := range errs {
		said.skip("%w", err)
	}
	return fit
}

// Planned returns the plan of the stage, and what it has to say, as the result of reading no rows.
func (s *Stage) Planned() *Result {
	if done := s.begin(nil); done != nil {
		return done
	}
	skipped, notes := s.said.all()
	return &Result{Skipped: s.news(skipped), Notes: s.news(notes), Plan: s.Plan}
}

// Read passes the windows of the stage to put, in order of time. They are of some levels, or of those of its options if
// there are none. It returns the document of the run. Nothing is stored, the run has no id, and it may have no absolute
// start. Problems with the files are in the result. The error is that of put or of ctx.
func (s *Stage) Read(ctx context.Context, levels []mapping.Level, put func(*window.Window) error) (*Result, error) {
	if done := s.begin(levels); done != nil {
		return done, nil
	}
	r := newRunReader(s.input, s.said)
	defer r.close()
	if err := r.windows(ctx, put); err != nil {
		return nil, err
	}
	return s.result(r)
}

// batch is the number of documents that are stored at once: a few megabytes. The embedded history waits for the disk
// once for each batch.
const batch = 1000

// Ingest puts the interval documents of the stage into a sink. If the result has a run document and is not Unchanged, the
// caller must finish the run with it. Then the new documents replace those that the sink has of the run. known may be
// nil. Errors are those of [Stage.Read], of known, or of the sink.
func (s *Stage) Ingest(ctx context.Context, to Sink, known Known) (*Result, error) {
	if done := s.begin(nil); done != nil {
		return done, nil
	}
	files, err := s.source()
	if err != nil {
		return nil, err
	}
	e, have, err := s.identify(ctx, files, known)
	if err != nil {
		return nil, err
	}
	if have != nil && !s.opt.Force {
		if kept := s.compare(e, have); kept != nil {
			return kept, nil
		}
	}
	r := newRunReader(s.input, s.said)
	defer r.close()
	r.execution = e
	err = ahead.Push(ctx, 1, func(ctx context.Context, give func([]*mapping.Interval) error) error {
		var docs []*mapping.Interval
		err := r.windows(ctx, func(w *window.Window) (err error) {
			if docs = append(docs, r.document(w).Split()...); len(docs) >= batch {
				err, docs = give(docs), nil
			}
			return err
		})
		if err != nil || len(docs) == 0 {
			return err
		}
		return give(docs)
	}, func(docs []*mapping.Interval) error { return to.Put(ctx, docs) })
	if err != nil {
		return nil, err
	}
	return s.result(r)
}

// news returns those of some messages that no result of the execution has had. Documents of runs have all of them.
func (s *Stage) news(all []error) []error {
	return slices.DeleteFunc(slices.Clone(all), func(err error) bool {
		was := s.reported[err.Error()]
		s.reported[err.Error()] = true
		return was
	})
}

// result returns the run's document, and what is to be said, after all windows were read.
func (s *Stage) result(r *runReader) (*Result, error) {
	a := account.Of(r.read)
	r.problems.take(&a.OfEntries)
	r.problems.sort()
	// If a file has changed since it was found, it is unknown which content was read. So it has no hash, and the run is stored
	// again when its files are read again. A report that has grown still says what was found: by that the run is found then.
	// A file that was removed was open, or reading it failed.
	files := r.Run.Files()
	for i, before := range s.found {
		f := files[i]
		now := f.State()
		if now == before || now == (source.State{}) {
			continue
		}
		r.problems.skip("%s: %w, so numbers may be of two states of it: read it again when nothing writes to it", f.Name(), source.ErrChanged)
		for j := range r.execution.Source.List {
			if of := &r.execution.Source.List[j]; of.Path == f.Path {
				if of.Hash = ""; of.Role != mapping.RoleReport || f.Name() != f.Disk || now.Size <= before.Size {
					of.Says = ""
				}
			}
		}
	}
	r.problems.take(&a.OfRun)
	doc := r.summary(a)
	skipped, notes := r.problems.all()
	return &Result{Run: doc, Skipped: s.news(skipped), Notes: s.news(notes), Plan: r.Plan}, nil
}

// document returns the document in which a window is stored.
func (r *runReader) document(w *window.Window) *mapping.Interval {
	d := w.Document(&mapping.Interval{Run: r.execution.Run, Fio: mapping.FioRef{Version: r.Version()}, Weighting: r.opt.Weighting.String()})
	if w.Averaged {
		d.Weighting = mapping.Averaged
	}
	d.Describe(r.known())
	return d
}

// FollowOptions set how a run is followed while fio runs.
type FollowOptions struct {
	Quiet time.Duration // a file has ended if it has not grown for this time, or for the time of three reports
	Every time.Duration // how often the run document is stored
}

// ErrNotLive means that a run cannot be followed, because its files show nothing, or not enough yet, before it ends.
var ErrNotLive = errors.New("no periodic reports (fio --status-interval=1 --output-format=json+), or fewer than " +
	"three so far")

// lastStore limits the time for storing the last documents after following has ended.
const lastStore = 15 * time.Second

// Follow reads the periodic reports of an execution while fio writes them, until the reports or ctx end. Its stages are
// followed one after another, each as a run of its own, from those on that ran before. It stores an interval document, and
// passes it to each, when no later request can have been in flight in its window. This is about 20 seconds later, or when
// the next stage begins. It stores the run document repeatedly as an incomplete version ([mapping.RunInfo].Live).
// [Stage.Ingest] replaces that version when the execution has ended.
//
// When ctx ends, Follow stores what it has read and returns no error. It fails with [ErrNotLive], or with an error of
// known, each or the sink. known may be nil. The result is that of the last stage, with what is to be said of all.
func Follow(
	ctx context.Context, run *cbt.Run, opt Options, how FollowOptions, to Sink, known Known,
	each func(*window.Window) error,
) (*Result, error) {
	storing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(lastStore):
			stop()
		case <-storing.Done():
		}
	})()
	reports := *run // fio writes the logs of a job when it ends, and its reports have all of them
	reports.Logs, reports.Others = nil, nil
	f := &liveReader{FollowOptions: how, ctx: ctx, to: to, known: known, each: each}
	messages, result := &Stage{reported: map[string]bool{}}, &Result{}
	for next, stages, planning := 0, 0, ctx; ; planning = storing {
		said := &problems{}
		inputs, err := makePlan(planning, &reports, opt, true, &liveFiles{ctx, how.Quiet}, said)
		if err != nil {
			if planning.Err() != nil {
				return nil, planning.Err()
			}
			return nil, fmt.Errorf("%s:%s: %w: %w", run.Archive, run.Name(), ErrNotLive, err)
		}
		if len(inputs) < stages { // jobs that seemed to wait for others run beside them
			next = 0
		}
		stages = len(inputs)
		for stages > 1 && next < stages && !inputs[next].HasBegun() {
			next++
		}
		if next == stages {
			if result.Run == nil {
				return nil, fmt.Errorf("%s:%s: %w", run.Archive, run.Name(), ErrNotLive)
			}
			return result, nil
		}
		in := inputs[next]
		in.opt.Levels = in.limitLevels(opt.levels(), said)
		r := newRunReader(in, said)
		doc, err := f.follow(storing, r)
		hasNext := r.hasNext()
		r.close()
		in.close(nil)
		if err != nil {
			return nil, err
		}
		skipped, notes := said.all()
		result.Run = doc
		result.Skipped = append(result.Skipped, messages.news(skipped)...)
		result.Notes = append(result.Notes, messages.news(notes)...)
		if !hasNext {
			return result, nil
		}
		next++
	}
}

// liveReader follows the stages of an execution.
type liveReader struct {
	FollowOptions
	ctx   context.Context // ends following, but not storing
	to    Sink
	known Known
	each  func(*window.Window) error
	files *Execution // as they were at the start, by which the complete files are recognised; nil before the first stage
}

// follow reads a stage until it is over, and returns the last document that was stored of it.
func (f *liveReader) follow(storing context.Context, r *runReader) (*mapping.Run, error) {
	if !r.isLive || len(r.opt.Levels) == 0 {
		return nil, fmt.Errorf("%s: %w", r.Title, ErrNotLive)
	}
	if f.files == nil {
		files, err := r.input.execution(f.ctx)
		if err != nil {
			return nil, err
		}
		f.files = files
	}
	e, have, err := r.identify(storing, f.files, f.known)
	if err != nil {
		return nil, err
	}
	if have != nil && !have.Run.Live() && have.Source.Contains(&e.Source) {
		return nil, fmt.Errorf("%s: %w: already there as %s", r.Title, ErrNotLive, short(have.Run.ID))
	}
	stored := time.Now()
	e.Run.Ingest = mapping.LiveIngest(stored)
	r.execution = e
	r.problems.take(&account.Of(r.read).OfEntries) // of jobs that have no rows
	var docs []*mapping.Interval                   // not stored yet
	put := func() error {
		if len(docs) == 0 {
			return nil
		}
		err := f.to.Put(storing, docs)
		docs = docs[:0]
		return err
	}
	store := func() (*mapping.Run, error) { // and make all documents so far visible
		doc := r.summary(account.Of(r.read))
		doc.Run.Complete = false
		doc.Warnings = append(doc.Warnings, "followed while fio ran: not all of it is here")
		stored = time.Now()
		if err := put(); err != nil {
			return nil, err
		}
		return doc, f.to.Finish(storing, doc)
	}
	err = r.windows(storing, func(w *window.Window) error {
		if err := f.each(w); err != nil {
			return err
		}
		if docs = append(docs, r.document(w).Split()...); len(docs) >= batch {
			if err := put(); err != nil {
				return err
			}
		}
		if time.Since(stored) < f.Every {
			return nil
		}
		_, err := store()
		return err
	})
	if err != nil {
		return nil, err
	}
	return store()
}

// hasNext reports whether a later stage has begun.
func (r *runReader) hasNext() bool {
	for _, in := range r.rows {
		if in.reports != nil && in.reports.hasNext {
			return true
		}
	}
	return false
}
