package web

import (
	"context"
	"iter"
	"strings"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// memory is a history without goroutines, for tests in a synctest bubble. Other methods of a store panic.
type memory struct {
	history.Store
	runs []*mapping.Run
}

func (m memory) Run(_ context.Context, id string) (*mapping.Run, error) {
	for _, run := range m.runs {
		if strings.HasPrefix(run.Run.ID, id) {
			return run, nil
		}
	}
	return nil, history.ErrNotFound
}

func (m memory) Runs(_ context.Context, f history.RunFilter) iter.Seq2[*mapping.Run, error] {
	return func(yield func(*mapping.Run, error) bool) {
		for _, run := range m.runs {
			if f.Matches(run) && !yield(run, nil) {
				return
			}
		}
	}
}

func (memory) Intervals(context.Context, history.Selection) iter.Seq2[*mapping.Interval, error] {
	return func(func(*mapping.Interval, error) bool) {}
}

// Count finds no documents, because the runs have none.
func (memory) Count(context.Context, []string, ...mapping.Level) (history.Counts, error) {
	return history.Counts{}, nil
}

func (memory) Close() error { return nil }
