package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
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
	lack := counts.LackText(run, levels...)
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
		run.Run.ID[:min(8, len(run.Run.ID))], facts.Title(run), lack)
	s.log.Warn(s.lack)
	warned := *run
	warned.Warnings = append(slices.Clone(run.Warnings), s.lack)
	return &warned, nil
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
