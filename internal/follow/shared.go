package follow

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// Shared sends fios of this host to a run that it shares with others.
type Shared struct {
	To      ingest.Target
	Options ingest.Options
	Member  shared.Member // of each fio; without a Unit it is the name of its run
	Attempt int           // at the run; 0: see [shared.Attempt]
	Every   time.Duration // time between two updates while fio runs
}

// options returns how files are read: requests count where they complete, so that a window is final at once and counts are whole.
func (s *Shared) options() pipeline.Options {
	opt := s.Options.Pipeline
	opt.Weighting, opt.Precision = align.Completion, align.Precision{}
	opt.Levels = []mapping.Level{mapping.Cluster, mapping.Section}
	return opt
}

func (s *Shared) member(run *assign.Run) shared.Member {
	m := s.Member
	if m.Unit == "" {
		m.Unit = run.Name()
	}
	return m
}

// attempt returns the attempt that a fio takes part in.
func (s *Shared) attempt(ctx context.Context, run *assign.Run) (int, error) {
	if s.Attempt > 0 {
		return s.Attempt, nil
	}
	return shared.Attempt(ctx, s.To.Store, s.member(run), false)
}

// sender returns what sends a stage of a fio to the run.
func (s *Shared) sender(ctx context.Context, run *assign.Run, stage *pipeline.Stage, attempt int) (*shared.Sender, error) {
	e, err := stage.Execution(ctx)
	if err != nil {
		return nil, err
	}
	return shared.New(s.To.Store, s.member(run), attempt, stage.Known(e.Run)), nil
}

// send reads a stage, and gives each window of all its jobs to each, and the documents to add.
func (s *Shared) send(
	ctx context.Context, stage *pipeline.Stage, to *shared.Sender, add func(nominal time.Time, docs []*mapping.Interval) error, each func(*window.Window) error,
) (*pipeline.Result, error) {
	names, _ := stage.SectionNames()
	p := stage.Plan()
	return stage.Documents(ctx, to.Run(), func(w *window.Window, docs []*mapping.Interval) error {
		if (w.Level == mapping.Section) == (len(names) > 0) {
			nominal := w.ElapsedMS
			if nominal == 0 { // the run may have cut its first window
				nominal = -max(p.Shift, 0)
			}
			if err := add(p.Start.Add(time.Duration(nominal)*time.Millisecond), docs); err != nil {
				return err
			}
		}
		if w.Level == mapping.Cluster {
			return each(w)
		}
		return nil
	})
}

// joining is how long reading waits until a fio has joined its run.
const joining = 2 * time.Second

// live reads a stage while fio runs. It gives the sender to keep, which sends what is read, and signs of life until fio has ended: a stage is
// not over before. Reading does not wait for the history.
func (s *Shared) live(
	ctx context.Context, run *assign.Run, stage *pipeline.Stage, attempt int, keep func(to *shared.Sender, tried func()), each func(*window.Window) error,
) (*pipeline.Result, error) {
	to, err := s.sender(ctx, run, stage, attempt)
	if err != nil {
		return nil, err
	}
	tried := make(chan struct{})
	keep(to, sync.OnceFunc(func() { close(tried) }))
	select { // so that usually no window is made before it has joined, which is read from the report again
	case <-tried:
	case <-time.After(joining):
	case <-ctx.Done():
	}
	add := func(nominal time.Time, docs []*mapping.Interval) error {
		to.Add(nominal, docs)
		return nil
	}
	result, err := s.send(ctx, stage, to, add, func(w *window.Window) error {
		err := each(w)
		if now := time.Now(); err == nil && to.IsDue(s.Every, now) {
			to.Offer(ofPart(stage, stage.SoFar()), now)
		}
		return err
	})
	if err == nil {
		to.Over()
		to.Offer(ofPart(stage, result.Run), time.Now())
	}
	return result, err
}

// keep makes a fio join its run, and sends what is read of it until ctx ends, whether the history is there or not. It fails only if the
// history takes nothing more of the run. It calls tried when it has tried to join.
func (s *Shared) keep(ctx context.Context, run *assign.Run, to *shared.Sender, tried func()) error {
	isAway, hasJoined := false, false
	for {
		isOn, err := to.Next(ctx)
		tried()
		if !hasJoined && to.HasJoined() {
			hasJoined = true
			s.Options.Log.Info(fmt.Sprintf("%s sends to run %s (%s)", s.Member.Host, to.Run().Name, facts.ShortID(to.Run().ID)))
			if text := to.Clock(); text != "" {
				s.Options.Log.Warn(s.Member.Host + ": " + text)
			}
		}
		lost := to.Lost()
		if isOn && err == nil && lost > 0 {
			err = to.Again(ctx, func() error { return s.again(ctx, run, to) })
		}
		switch name := s.Member.Host; {
		case !isOn || ctx.Err() != nil:
			return nil
		case isReplaced(err), errors.Is(err, history.ErrRejected), errors.Is(err, shared.ErrGrid):
			return err
		case err != nil && !isAway:
			s.Options.Log.Warn(name + ": its windows wait, and fio continues: " + err.Error())
		case err == nil && isAway:
			s.Options.Log.Info(name + ": sends again")
		}
		if isAway = err != nil; err == nil && lost > 0 && to.Lost() == 0 {
			s.Options.Log.Info(fmt.Sprintf("%s: sent %s from fio's report that had not been kept in memory", s.Member.Host, unit.Plural(lost, "window")))
		}
	}
}

// again sends the windows of a stage from the reports so far.
func (s *Shared) again(ctx context.Context, run *assign.Run, to *shared.Sender) error {
	for stage, err := range s.stages(ctx, run) {
		if err != nil {
			return err
		}
		if e, err := stage.Execution(ctx); err != nil || e == nil || e.Run.Stage != to.Run().Stage {
			continue
		}
		put := func(nominal time.Time, docs []*mapping.Interval) error { return to.Put(ctx, nominal, docs) }
		_, err := s.send(ctx, stage, to, put, func(*window.Window) error { return nil })
		return err
	}
	return nil
}

// stages returns the stages of the reports of a fio: the same windows as while fio ran.
func (s *Shared) stages(ctx context.Context, run *assign.Run) iter.Seq2[*pipeline.Stage, error] {
	reports := *run
	reports.Logs, reports.Others, reports.OnlyReports = nil, nil, true
	return pipeline.Stages(ctx, &reports, s.options(), true)
}

// End sends what the complete files of a fio say, and that it has ended with an exit code. It returns the runs that it is a part of.
func (s *Shared) End(ctx context.Context, run *assign.Run, exit int) (runs []mapping.RunInfo, err error) {
	attempt, err := s.attempt(ctx, run)
	if err != nil {
		return nil, err
	}
	for stage, err := range s.stages(ctx, run) {
		if err != nil {
			return runs, err
		}
		if stage.Plan() == nil {
			stage.Planned().Log(s.Options.Log)
			continue
		}
		to, err := s.sender(ctx, run, stage, attempt)
		if err == nil {
			err = to.Join(ctx)
		}
		if err != nil {
			return runs, err
		}
		put := func(nominal time.Time, docs []*mapping.Interval) error { return to.Put(ctx, nominal, docs) }
		result, err := s.send(ctx, stage, to, put, func(*window.Window) error { return nil })
		if err == nil {
			err = to.End(ctx, ofPart(stage, result.Run), exit, time.Now())
		}
		if err != nil {
			return runs, err
		}
		result.Log(s.Options.Log)
		runs = append(runs, to.Run())
	}
	return runs, nil
}

// isSent reports whether all of the reports of a fio that is over were sent before, or are in a run that is over.
func (s *Shared) isSent(ctx context.Context, run *assign.Run) (bool, error) {
	e, err := pipeline.Look(ctx, run, s.options())
	if err != nil {
		return false, err
	}
	found, err := ingest.Find(ctx, s.To.Store, e)
	if err != nil || found.Have == nil {
		return false, err
	}
	if !found.Have.Run.IsShared() {
		return true, nil
	}
	parts, err := s.To.Store.Parts(ctx, found.Have.Run.ID)
	return slices.ContainsFunc(parts, func(p *mapping.Part) bool {
		return !p.Ended.IsZero() && p.Document.Source.SharesReport(&e.Source)
	}), err
}

// ofPart returns the document of a run of this fio alone.
func ofPart(stage *pipeline.Stage, doc *mapping.Run) *mapping.Run {
	part := *doc
	part.Run.Start = stage.Plan().Start
	return &part
}

// isReplaced reports whether a run took no more windows, because it is over or was removed.
func isReplaced(err error) bool { return errors.Is(err, history.ErrReplaced) }
