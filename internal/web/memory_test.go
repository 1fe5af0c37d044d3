package web

import (
	"context"
	"iter"
	"strings"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// memory is a history without goroutines, for tests in a bubble of synctest.
type memory []*mapping.Run

func (m memory) Run(_ context.Context, id string) (*mapping.Run, error) {
	for _, run := range m {
		if strings.HasPrefix(run.Run.ID, id) {
			return run, nil
		}
	}
	return nil, history.ErrNotFound
}

func (m memory) Runs(_ context.Context, f history.RunFilter) iter.Seq2[*mapping.Run, error] {
	return func(yield func(*mapping.Run, error) bool) {
		for _, run := range m {
			if f.Matches(run) && !yield(run, nil) {
				return
			}
		}
	}
}

func (memory) Intervals(context.Context, history.Selection) iter.Seq2[*mapping.Interval, error] {
	return func(func(*mapping.Interval, error) bool) {}
}

// Count finds no documents, as none are expected of the runs.
func (memory) Count(context.Context, []string, ...mapping.Level) (history.Counts, error) {
	return history.Counts{}, nil
}

// Nothing here writes: these would stop a test.
func (memory) Holding(context.Context, []string) ([]*mapping.Run, error) { panic("holding") }
func (memory) Versions(context.Context, []string) (map[string]*mapping.Run, error) {
	panic("versions")
}

func (memory) MakeCurrent(context.Context, string, string) error { panic("remove") }

func (memory) Put(context.Context, []*mapping.Interval) error { panic("put") }
func (memory) Finish(context.Context, *mapping.Run) error     { panic("finish") }
func (memory) Annotate(context.Context, string, mapping.Annotation) (*mapping.Run, error) {
	panic("annotate")
}
func (memory) MarkRemoved(context.Context, *mapping.Removed) error           { panic("remove") }
func (memory) Removed(context.Context, []string) ([]*mapping.Removed, error) { panic("removed") }
func (memory) Restore(context.Context, ...string) error                      { panic("restore") }
func (memory) Delete(context.Context, string) error                          { panic("delete") }
func (memory) Close() error                                                  { return nil }
