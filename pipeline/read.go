// Package pipeline turns archives and logs into documents. It is the only package that uses
// all stages, which run one way:
//
//	source     finds files in folders and archives and unpacks them
//	assign     finds the files of each run and its configuration
//	fiolog     parses logs and reports
//	plan       decides which rows are used and when each job ran; opens no file
//	align      puts rows onto common windows, weights and merges them
//	mapping    makes documents of windows that are stored
//
// [Open] finds executions of fio, [Stages] plans one and finds its runs, [Stage.Read] makes the windows of a run, and
// [Stage.Documents] their documents. [Stage.Execution] is by what a store finds the run. The package knows no store.
package pipeline

import (
	"context"
	"iter"
	"log/slog"
	"slices"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Result is the result of reading one run.
type Result struct {
	Run *mapping.Run // nil if nothing was read
	// Skipped is what is missing in the run. Notes are other things to know.
	Skipped, Notes []error
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

// Stage is one run of an execution: what ran at the same time. It is planned, and can be read.
type Stage struct {
	input *input
	*shared
	said   *problems
	failed *Result    // why nothing of the execution can be read; then there is no input
	reader *runReader // of a live stage
}

// shared is what the stages of an execution have in common.
type shared struct {
	reported map[string]bool // messages that results have had
	found    []source.State  // of the files, before they were read
	files    *Execution      // what the files are; nil before that is asked
}

// Stages plans an execution of fio, and iterates over its stages in the order of time. If absolute is true, they get ids,
// and starts from any evidence. If nothing of the execution can be read, there is one stage, whose result says why. Each
// must be used before the next one. An error is that of ctx.
func Stages(ctx context.Context, run *assign.Run, opt Options, absolute bool) iter.Seq2[*Stage, error] {
	return func(yield func(*Stage, error) bool) {
		said, of := &problems{}, &shared{reported: map[string]bool{}}
		for _, f := range run.Files() {
			of.found = append(of.found, f.State())
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
		for _, in := range inputs {
			if !yield(&Stage{input: in, shared: of, said: &problems{ofPlan: said}}, nil) {
				return
			}
		}
	}
}

// Plan returns the plan of the stage, or nil if nothing of the execution can be read.
func (s *Stage) Plan() *plan.Plan {
	if s.failed != nil {
		return nil
	}
	return s.input.plan
}

// NameIn returns the name of the run, from that of the execution.
func (s *Stage) NameIn(execution string) string {
	if s.failed != nil {
		return execution
	}
	return s.input.plan.NameIn(execution)
}

// HasClock reports whether windows of the stage have a time of day.
func (s *Stage) HasClock() bool { return s.failed != nil || s.input.plan.Placed != mapping.PlacedByJob }

// SectionNames returns the names of the sections of a stage whose jobs did not all do the same, or the name of its only one.
func (s *Stage) SectionNames() (names []string, only string) {
	switch {
	case s.failed != nil:
	case s.input.plan.HasSections():
		for _, of := range s.input.plan.Sections {
			names = append(names, of.Name)
		}
	case len(s.input.plan.Sections) == 1:
		only = s.input.plan.Sections[0].Name
	}
	return names, only
}

// IsDivided reports whether the execution has several stages.
func (s *Stage) IsDivided() bool { return s.failed == nil && s.input.plan.Stages > 1 }

// begin makes the stage ready for windows of some levels, which are those of its options if there are none. If nothing can
// be read, the result says why.
func (s *Stage) begin(levels []mapping.Level) *Result {
	if s.failed != nil {
		return s.failed
	}
	if len(levels) == 0 {
		levels = s.input.opt.levels()
	}
	s.input.opt.Levels = s.input.limitLevels(levels, s.said)
	if len(s.input.opt.Levels) == 0 {
		skipped, notes := s.said.all()
		return &Result{Skipped: s.news(skipped), Notes: s.news(notes)}
	}
	return nil
}

// limitLevels returns the levels that are possible, and says why others are not.
func (in *input) limitLevels(levels []mapping.Level, said *problems) []mapping.Level {
	fit, errs := in.plan.LimitLevels(levels)
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
	return &Result{Skipped: s.news(skipped), Notes: s.news(notes), Plan: s.input.plan}
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
	return s.result(r), nil
}

// Execution returns by what a store can find the stage. It is nil if nothing of the stage can be read: [Stage.Planned] says
// why. The error is that of ctx.
func (s *Stage) Execution(ctx context.Context) (e *Execution, err error) {
	if s.failed != nil {
		return nil, nil
	}
	one := *s.input
	if one.opt.Levels, _ = s.input.plan.LimitLevels(s.input.opt.levels()); len(one.opt.Levels) == 0 {
		return nil, nil
	}
	if s.files == nil {
		if s.files, err = s.input.execution(ctx); err != nil {
			return nil, err
		}
	}
	of := *s.files
	of.Source.List = slices.Clone(of.Source.List)
	of.of(&one)
	return &of, nil
}

// Documents makes the documents of the stage as a run of a store: that of [Stage.Execution], or one with the ids, version, labels
// and note that it has there. It passes the documents of each window to put, in order of time, with the window. The run
// document is in the result. Errors are those of [Stage.Read].
func (s *Stage) Documents(ctx context.Context, run mapping.RunInfo, put func(*window.Window, []*mapping.Interval) error) (*Result, error) {
	if done := s.begin(nil); done != nil {
		return done, nil
	}
	e, err := s.Execution(ctx)
	if err != nil {
		return nil, err
	}
	r := newRunReader(s.input, s.said)
	defer r.close()
	if r.info, r.source = run, e.Source; r.isLive {
		s.reader = r
		r.problems.take(&account.Of(r.read).OfEntries) // of jobs that have no rows
	}
	like := mapping.Interval{
		Run: mapping.RunRef{
			ID: run.ID, Name: run.Name, Archive: run.Archive, Start: run.Start, Ingest: run.Ingest, Labels: run.Labels, Edit: run.Edit(),
		},
		Fio: mapping.FioRef{Version: r.plan.Version()}, Weighting: r.opt.Weighting.String(),
	}
	err = r.windows(ctx, func(w *window.Window) error {
		d := w.Document(&like)
		if w.Averaged {
			d.Weighting = mapping.Averaged
		}
		d.Describe(r.known())
		return put(w, d.Split())
	})
	if err != nil {
		return nil, err
	}
	return s.result(r), nil
}

// Known returns what is known of the document of a run before its rows are read: its settings, hosts, sections and clock.
func (s *Stage) Known(run mapping.RunInfo) *mapping.Run {
	r := newRunReader(s.input, s.said)
	defer r.close()
	r.info = run
	doc := *r.known()
	doc.Fio.Version, doc.Weighting, doc.IntervalMS = r.plan.Version(), r.opt.Weighting.String(), r.plan.Window
	doc.Placed, doc.Program = r.plan.Placed, mapping.Program{Version: r.opt.Program}
	return &doc
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
func (s *Stage) result(r *runReader) *Result {
	if r.isLive {
		skipped, notes := r.problems.all()
		return &Result{Run: s.SoFar(), Skipped: s.news(skipped), Notes: s.news(notes)}
	}
	a := account.Of(r.read)
	r.problems.take(&a.OfEntries)
	r.problems.sort()
	// If a file has changed since it was found, it is unknown which content was read. So it has no hash, and the run is stored
	// again when its files are read again. A report that has grown still says what was found: by that the run is found then.
	// A file that was removed was open, or reading it failed.
	files := r.plan.Run.Files()
	for i, before := range s.found {
		f := files[i]
		now := f.State()
		if now == before || now == (source.State{}) {
			continue
		}
		r.problems.skip("%s: %w, so numbers may be of two states of it: read it again when nothing writes to it", f.Name(), source.ErrChanged)
		for j := range r.source.List {
			if of := &r.source.List[j]; of.Path == f.Path {
				if of.Hash = ""; of.Role != mapping.RoleReport || f.Name() != f.Disk || now.Size <= before.Size {
					of.Says = ""
				}
			}
		}
	}
	r.problems.take(&a.OfRun)
	doc := r.summary(a)
	skipped, notes := r.problems.all()
	return &Result{Run: doc, Skipped: s.news(skipped), Notes: s.news(notes), Plan: r.plan}
}

// SoFar returns the document of a live run as it is while put of [Stage.Documents] is called, or at its end.
func (s *Stage) SoFar() *mapping.Run {
	doc := s.reader.summary(account.Of(s.reader.read))
	doc.Run.Complete = false
	doc.Warnings = append(doc.Warnings, "followed while fio ran: not all of it is here")
	return doc
}
