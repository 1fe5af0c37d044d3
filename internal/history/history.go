package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// The ways in which a store can fail that callers tell apart.
var (
	ErrNotFound  = errors.New("no such run in the history")
	ErrAmbiguous = errors.New("more than one run begins with that")
	ErrBusy      = errors.New("another process is writing to the history")
	ErrDamaged   = errors.New("not a history file, or damaged")
	ErrNewer     = errors.New("written by a newer version of fio2es")
	ErrReplaced  = errors.New("the documents stored so far were removed meanwhile")
	ErrNoIndex   = errors.New("there is no history under this prefix yet: run fio2es setup, then ingest") // of a cluster
)

// Store is a history of runs. Its methods may be called by several goroutines at once.
type Store interface {
	// Put stores interval documents, any number. When it returns nil they are durable:
	// killing the process, or the machine, does not lose them. It fails when a document
	// does not pass its Check, and then stores none of them.
	Put(ctx context.Context, docs []*mapping.Interval) error

	// Finish stores the run's document and removes the interval documents of its other
	// versions, at one stroke. Until then readers see the old version, or nothing. The
	// document's Ingested stays what it was when all else is equal to what is stored.
	Finish(ctx context.Context, run *mapping.Run) error

	// Run is the run of an id, or of a prefix of it that no other run has: else it
	// fails with ErrNotFound, or with ErrAmbiguous and the candidates.
	Run(ctx context.Context, id string) (*mapping.Run, error)

	// Runs are the runs that f lets through, the newest start first. A [DamagedRunError] is
	// of one run alone, which the limit does not count; any other error ends it.
	Runs(ctx context.Context, f RunFilter) iter.Seq2[*mapping.Run, error]

	// Holding are the runs that have a report or a log with one of these contents, as
	// [mapping.Source.Hashes] gives them, by id and without histograms. It takes any
	// number of hashes, and finds what was finished before the call. It skips runs whose
	// documents cannot be read.
	Holding(ctx context.Context, hashes []string) ([]*mapping.Run, error)

	// Intervals are the documents of finished runs that s selects, ordered by time,
	// then direction, host, job, run and part, as texts. An error ends it.
	Intervals(ctx context.Context, s Selection) iter.Seq2[*mapping.Interval, error]

	// Count counts the interval documents of runs, given by their whole ids, or of all runs
	// if none are given: those of all versions, also of ones that are not finished. No levels are all levels. What
	// [mapping.Interval.Split] made of one document counts as one.
	Count(ctx context.Context, runs []string, levels ...mapping.Level) (Counts, error)

	// MakeCurrent removes the interval documents of a run that are of other versions, and
	// then shows those of this version that are pending.
	MakeCurrent(ctx context.Context, runID, ingest string) error

	// Delete removes a run with all its documents, finished or not. It takes the whole
	// id, and fails with ErrNotFound when there is nothing to remove.
	Delete(ctx context.Context, runID string) error

	Close() error
}

// RunFilter tells which runs are wanted. The zero value wants all of them.
type RunFilter struct {
	Text      string            // in the id, name, archive, path, benchmark, workload, mode or a label; any case
	Labels    map[string]string // all of them with these values
	Benchmark string
	Mode      string
	From, To  time.Time // runs that started in [From, To); a zero time is no bound
	Limit     int       // at most so many; 0 is no limit
	Light     bool      // leave out histograms and the list of source files
}

// Selection tells which interval documents are wanted. Empty lists want all.
type Selection struct {
	Runs       []string // whole ids
	Level      mapping.Level
	Directions []string
	Hosts      []string
	Jobs       []string
	From, To   time.Time // windows that start in [From, To); a zero time is no bound
	Light      bool      // leave out histograms: nine tenths of a document
}

// Matches tells whether f wants the run; it does not look at Limit. Stores that filter
// by other means must agree with it.
func (f *RunFilter) Matches(r *mapping.Run) bool {
	for key, want := range f.Labels {
		if got, ok := r.Run.Labels[key]; !ok || got != want {
			return false
		}
	}
	return (f.Benchmark == "" || f.Benchmark == r.CBT.Benchmark) &&
		(f.Mode == "" || f.Mode == r.CBT.Mode) &&
		(f.From.IsZero() || !r.Run.Start.Before(f.From)) &&
		(f.To.IsZero() || r.Run.Start.Before(f.To)) &&
		(f.Text == "" || f.matchesText(r))
}

// Select gives those of some runs that f lets through, at most Limit. Errors are let through
// and not counted.
func (f *RunFilter) Select(runs iter.Seq2[*mapping.Run, error]) iter.Seq2[*mapping.Run, error] {
	return func(yield func(*mapping.Run, error) bool) {
		n := 0
		for run, err := range runs {
			if err == nil && !f.Matches(run) {
				continue
			}
			if err == nil {
				n++
			}
			if !yield(run, err) || n > 0 && n == f.Limit {
				return
			}
		}
	}
}

func (f *RunFilter) matchesText(r *mapping.Run) bool {
	texts := []string{
		r.Run.ID, r.Run.Name, r.Run.Archive, r.Run.Path, r.CBT.Benchmark, r.CBT.Workload, r.CBT.Mode,
	}
	for _, label := range r.Run.Labels {
		texts = append(texts, label)
	}
	want := strings.ToLower(f.Text)
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), want) })
}

// Candidates are as many runs as are worth listing where one was meant.
const Candidates = 10

// CheckOne fails unless just one run was found by its id, or by what its id begins with;
// ids are of those that were, at most one more than Candidates.
func CheckOne(id string, ids []string) error {
	switch {
	case len(ids) == 0 || id == "":
		return fmt.Errorf("find run %q: %w", id, ErrNotFound)
	case len(ids) > Candidates:
		ids[Candidates] = "…"
	}
	if len(ids) > 1 {
		return fmt.Errorf("find run %q: %w: %s", id, ErrAmbiguous, strings.Join(ids, ", "))
	}
	return nil
}

// CeilMilli is a bound of [RunFilter] or [Selection] in milliseconds since 1970: rounded up,
// as stored times are rounded down.
func CeilMilli(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
