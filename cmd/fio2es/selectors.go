package main

import (
	"context"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/mapping"
)

// parseSelectors parses selectors. areIDs reports whether all are ids or beginnings of ids.
func parseSelectors(args []string) (list []*query.Selector, areIDs bool, err error) {
	areIDs = len(args) > 0
	for _, arg := range args {
		s, err := query.ParseSelector(arg, time.Now())
		if err != nil {
			return nil, false, err
		}
		list, areIDs = append(list, s), areIDs && s.IsID()
	}
	return list, areIDs, nil
}

// parseTextOrRuns parses the arguments of commands that take either a text to search for or selectors.
func parseTextOrRuns(args []string) (text string, selectors []*query.Selector, err error) {
	if len(args) == 1 && !query.IsSelector(args[0]) {
		return args[0], nil, nil
	}
	selectors, _, err = parseSelectors(args)
	return "", selectors, err
}

// selectRuns finds the runs that a filter selects and selectors name. It skips runs that cannot be read, with a
// warning; skipped reports that.
func (e *env) selectRuns(
	ctx context.Context, store history.Store, among history.RunFilter, selectors []*query.Selector,
) (runs []*mapping.Run, skipped bool, err error) {
	chosen, err := query.Choose(ctx, store, among, selectors...)
	if err != nil {
		return nil, false, err
	}
	for _, err := range chosen.Skipped {
		e.log.Warn(err.Error())
	}
	for _, text := range chosen.Notes {
		e.log.Info("note: " + text)
	}
	return chosen.Runs, len(chosen.Skipped) > 0, nil
}
