package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// Found says what a history, or the file that is written, has of a run.
type Found struct {
	ID         string         // id of the run there, or its new id
	Have       *mapping.Run   // the run there; nil if it is new
	Duplicates []*mapping.Run // other runs in the history with the same files
	Replaced   []*mapping.Run // if Have is of another division of the execution: all stages of that, which go if the run is stored

	Removed []*mapping.Removed // removed runs with the same files; with Have only if they are to be stored again
	Lacking bool               // documents of Have are missing
	InFile  bool               // Have is in a file, where nothing can be replaced
}

// ErrRemoved means that a run is not stored, because people removed it from the history.
var ErrRemoved = errors.New("it was removed from the history with fio2es rm")

// grownStart is how far apart two starts of one run may be, if its report had fewer periods when it was read first.
const grownStart = time.Minute

// Find looks a run up in a history by the contents of its files.
func Find(ctx context.Context, store history.Store, e *pipeline.Execution) (Found, error) {
	files, logs := e.Source.Keys()
	holders, err := store.Holding(ctx, files, logs)
	if err != nil {
		return Found{}, err
	}
	all := same(e, holders)
	if e.Grows {
		// the run may have been stored when its files were shorter
		near := history.RunFilter{From: e.Run.Start.Add(-grownStart), To: e.Run.Start.Add(grownStart)}
		for run, err := range history.Readable(store.Runs(ctx, near), nil) {
			if errors.Is(err, history.ErrNoIndex) {
				break
			}
			if err != nil {
				return Found{}, err
			}
			if e.HasGrownFrom(&run.Source) && !mapping.PartsOfOne(&run.Source, &e.Source) &&
				!slices.ContainsFunc(all, func(r *mapping.Run) bool { return r.Run.ID == run.Run.ID }) {
				all = append(all, run.WithFiles())
			}
		}
	}
	found := choose(e, holders, all)
	if found.Have == nil {
		found.Removed, err = removed(ctx, store, e)
	}
	return found, err
}

// removed returns the removed runs with the same files. A stage of an execution is the same only as the same stage, unless
// the execution was divided otherwise.
func removed(ctx context.Context, store history.Store, e *pipeline.Execution) ([]*mapping.Removed, error) {
	all, err := store.Removed(ctx, e.Source.Hashes())
	return slices.DeleteFunc(all, func(r *mapping.Removed) bool {
		return mapping.OtherStage(e.Run.Stage, e.Run.Stages, r.Stage, r.Stages) || !mapping.SameExecution(&r.Source, &e.Source)
	}), err
}

// takeBack deletes the records of removed runs, because their files are stored again as the run id. That run was stored
// with the labels and notes of the removed ones. If it was there before, it gets them now, unless it has its own.
func takeBack(ctx context.Context, store history.Store, id string, removed []*mapping.Removed, log *slog.Logger) error {
	var ids []string
	for _, r := range removed {
		if err := inherit(ctx, store, id, r.Annotation()); err != nil {
			return err
		}
		ids = append(ids, r.ID)
		log.Info(fmt.Sprintf("note: %s %s, which was removed on %s, is stored again", facts.ShortID(r.ID), r.Title, unit.Time(r.At, unit.Day)))
	}
	if len(ids) == 0 {
		return nil
	}
	return store.Restore(ctx, ids...)
}

// inherit gives a run the labels and the note of another one, unless it has its own.
func inherit(ctx context.Context, store history.Store, id string, a mapping.Annotation) error {
	if a.IsZero() {
		return nil
	}
	a.Weak = true
	_, err := store.Annotate(ctx, id, a)
	return err
}

func same(e *pipeline.Execution, runs []*mapping.Run) []*mapping.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r *mapping.Run) bool { return !mapping.SameExecution(&r.Source, &e.Source) })
}

// choose returns the best run among those of the same execution, or the id of a new run. holders are the runs that share a
// file with e. If the execution was divided into other stages, because more or fewer of its files were there, a new run
// replaces one of these.
func choose(e *pipeline.Execution, holders, same []*mapping.Run) Found {
	var stage, divided []*mapping.Run
	for _, r := range same {
		switch {
		case mapping.OtherStage(e.Run.Stage, e.Run.Stages, r.Run.Stage, r.Run.Stages):
		case e.Run.Stage == 0 || max(r.Run.Stages, 1) == e.Run.Stages: // older histories have no numbers of stages
			stage = append(stage, r)
		default:
			divided = append(divided, r)
		}
	}
	if have := mapping.Best(stage); have != nil {
		duplicates := slices.DeleteFunc(append(stage, divided...), func(r *mapping.Run) bool { return r.Run.ID == have.Run.ID })
		return Found{ID: have.Run.ID, Have: have, Duplicates: duplicates}
	}
	found := Found{ID: e.Run.ID, Have: mapping.Best(divided)}
	for _, r := range divided {
		if r.Run.Stages == found.Have.Run.Stages {
			found.Replaced = append(found.Replaced, r)
		} else {
			found.Duplicates = append(found.Duplicates, r)
		}
	}
	if slices.ContainsFunc(holders, func(r *mapping.Run) bool { return r.Run.ID == e.Run.ID }) {
		found.ID = mapping.StageID(mapping.PartID(&e.Source), e.Run.Stage, e.Run.Stages) // another part of the same report has this id
	}
	return found
}

// contained returns those of some runs whose files are all in one of these sources: that of the stored run, or of the files by
// which it was found, which may have logs that were not read for it.
func contained(runs []*mapping.Run, in ...*mapping.Source) []*mapping.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(d *mapping.Run) bool {
		return !d.Run.Live() && !slices.ContainsFunc(in, func(s *mapping.Source) bool { return s.Contains(&d.Source) })
	})
}

// removeDuplicates removes other runs of a history that are the same as this run, and gives the run their labels and
// notes.
func removeDuplicates(ctx context.Context, store history.Store, run *mapping.Run, duplicates []*mapping.Run, log *slog.Logger) error {
	for _, d := range duplicates {
		if err := inherit(ctx, store, run.Run.ID, d.Run.Annotation()); err != nil {
			return err
		}
		if err := store.Delete(ctx, d.Run.ID); err != nil && !errors.Is(err, history.ErrNotFound) {
			return err
		}
		log.Info(fmt.Sprintf("note: removed %s %s: it is the same run as %s %s", facts.ShortID(d.Run.ID), facts.Title(d), facts.ShortID(run.Run.ID), facts.Title(run)))
	}
	return nil
}
