package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// checkWhole counts the interval documents of a run before an answer is made of them. If
// some are missing it warns, and the run that it returns has the warning, too.
func (s *storedWindows) checkWhole(ctx context.Context, run *mapping.Run, levels []mapping.Level) (*mapping.Run, error) {
	s.lack = ""
	if len(levels) == 0 { // the run's own document is the answer
		return run, nil
	}
	counts, err := s.store.Count(ctx, []string{run.Run.ID}, levels...)
	if err != nil {
		return nil, err
	}
	lack := lackText(counts, run, levels)
	if lack == "" {
		return run, nil
	}
	// Its documents may be gone because the run was replaced meanwhile.
	now, err := s.store.Run(ctx, run.Run.ID)
	if errors.Is(err, history.ErrNotFound) || err == nil && now.Run.Ingest != run.Run.Ingest {
		return run, nil
	}
	if err != nil {
		return nil, err
	}
	s.lack = fmt.Sprintf("run %s (%s): the history lacks %s: what follows leaves them out; ingest the run's files again to restore them",
		run.Run.ID[:min(8, len(run.Run.ID))], describe(run), lack)
	s.log.Warn(s.lack)
	warned := *run
	warned.Warnings = append(slices.Clone(run.Warnings), s.lack)
	return &warned, nil
}

// lackText says how many documents of which levels are missing of a run; empty is none.
func lackText(counts history.Counts, run *mapping.Run, levels []mapping.Level) string {
	lack := counts.Lack(run)
	var texts []string
	for _, l := range levels {
		if n := lack.Of(l); n > 0 {
			texts = append(texts, fmt.Sprintf("%s of %s of level %s",
				unit.Count(int64(n)), unit.Plural(run.Documents.Of(l), "document"), l))
		}
	}
	return strings.Join(texts, ", ")
}

// parseLevels are the levels of names that the user wrote.
func parseLevels(names []string) ([]mapping.Level, error) {
	var levels []mapping.Level
	for _, name := range names {
		level, err := mapping.ParseLevel(name)
		if err != nil {
			return nil, usageError{err}
		}
		levels = append(levels, level)
	}
	return levels, nil
}

var allOfLevels = []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job}

// notWhole are the runs of which a store lacks documents, by id, with what is missing. For the
// others it finishes what an interrupted ingest left: documents of other versions go, and
// dashboards show those of this one.
func (a *app) notWhole(ctx context.Context, store history.Store, runs []*mapping.Run) (map[string]string, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.Run.ID
	}
	counts, err := store.Count(ctx, ids)
	if err != nil {
		return nil, err
	}
	lacking := map[string]string{}
	for _, r := range runs {
		switch {
		case r.Run.Live():
		case !counts.IsWhole(r):
			lacking[r.Run.ID] = lackText(counts, r, allOfLevels)
		case !counts.IsCurrent(r):
			if err := store.MakeCurrent(ctx, r.Run.ID, r.Run.Ingest); err != nil {
				return nil, err
			}
			a.log.Info(fmt.Sprintf("note: finished replacing %s %s: an ingest was interrupted", r.Run.ID[:8], describe(r)))
		}
	}
	return lacking, nil
}
