package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// The errors of stores that callers distinguish.
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
	// Put stores interval documents, any number. They are durable at the latest when Finish
	// returns nil: then neither a killed process nor a power failure loses them. It fails when
	// a document does not pass its Check, and then stores none of them.
	Put(ctx context.Context, docs []*mapping.Interval) error

	// Finish stores the run's document, which makes its version the current one, and removes
	// the interval documents of its other versions. Until then readers see the old version,
	// or nothing. If the stored document differs only in Ingested, that stays as it was. Labels and
	// the note that people have given to the stored run replace those of run, also if that
	// happens at the same time: an ingest reads them when it begins.
	Finish(ctx context.Context, run *mapping.Run) error

	// Run is the run with an id, or with an id that begins so. It fails with ErrNotFound if
	// there is none, and with ErrAmbiguous and the candidates if there are several.
	Run(ctx context.Context, id string) (*mapping.Run, error)

	// Runs are the runs that f selects, the newest start first. A [DamagedRunError] concerns
	// one run, which the limit does not count, and other runs follow; any other error ends
	// the list.
	Runs(ctx context.Context, f RunFilter) iter.Seq2[*mapping.Run, error]

	// Holding are the runs that have a report or a log with one of these contents, by id and
	// without histograms. Hashes are as [mapping.Source.Hashes] returns them, any number. It
	// finds what was finished before the call, and skips runs whose documents cannot be read.
	Holding(ctx context.Context, hashes []string) ([]*mapping.Run, error)

	// Versions say of those of the given runs that the history has which version is the current one, how
	// many documents it has, and what people said about the run, by id. Nothing else of the runs'
	// documents is certain to be there. It skips runs whose documents cannot be read.
	Versions(ctx context.Context, ids []string) (map[string]*mapping.Run, error)

	// Annotate changes the labels and the note of a run, given by its whole id, in its document and,
	// if the labels differ, in all its interval documents. It returns the run. If it is interrupted,
	// calling it again, also with an annotation that changes nothing, does the rest. It fails with
	// ErrNotFound, and with ErrBusy while other processes keep writing the run.
	Annotate(ctx context.Context, runID string, a mapping.Annotation) (*mapping.Run, error)

	// Intervals are the documents of finished runs that s selects, ordered by time,
	// then direction, host, job, run and part, as texts. An error ends the list.
	Intervals(ctx context.Context, s Selection) iter.Seq2[*mapping.Interval, error]

	// Count counts the interval documents of runs, given by their whole ids, or of all runs
	// if none are given, by version, whether finished or not. No levels means all levels. The
	// parts that [mapping.Interval.Split] made of one document count as one.
	Count(ctx context.Context, runs []string, levels ...mapping.Level) (Counts, error)

	// MakeCurrent removes the interval documents of a run's other versions. Then it shows
	// those of this version that are pending.
	MakeCurrent(ctx context.Context, runID, ingest string) error

	// Delete removes a run, given by its whole id, with all its documents, finished or not.
	// It fails with ErrNotFound when there is nothing to remove.
	Delete(ctx context.Context, runID string) error

	// MarkRemoved notes that a run was removed, so that Removed finds its contents. It does not
	// remove the run: see [Remove].
	MarkRemoved(ctx context.Context, r *mapping.Removed) error

	// Removed are the runs that were removed and had a report or a log with one of these contents,
	// by id. Hashes are as for Holding.
	Removed(ctx context.Context, hashes []string) ([]*mapping.Removed, error)

	// Restore forgets that runs were removed, given by their whole ids. Ids that it does not know
	// are no error.
	Restore(ctx context.Context, runIDs ...string) error

	Close() error
}

// Marker is a store that keeps the runs at which numbers changed, for readers that cannot find them by themselves.
type Marker interface {
	Store

	// Mark gives runs their changes ([mapping.Run].Changes), by id; an empty list takes them away. It skips
	// runs that are not there.
	Mark(ctx context.Context, changes map[string][]mapping.Change) error
}

// Remove removes a run that people no longer want, and notes that, so that the next ingest of its
// files does not store it again. title is what lists of runs show. If it is interrupted,
// calling it again, or [Check], does the rest.
func Remove(ctx context.Context, s Store, run *mapping.Run, title string, at time.Time) error {
	if err := s.MarkRemoved(ctx, mapping.NewRemoved(run, title, at)); err != nil {
		return err
	}
	return s.Delete(ctx, run.Run.ID)
}

// RunFilter selects runs. The zero value selects all of them.
type RunFilter struct {
	Text     string    // the text, or all its words, in the id, name, archive, path, title (4K and qd16 in it are words), a label or the note; any case
	From, To time.Time // runs that started in [From, To); a zero time is no bound
	Where    Condition // nil is none
	Limit    int       // the most runs; 0 is no limit
	Light    bool      // leave out histograms and the list of source files
	Brief    bool      // [mapping.Run.Brief] is enough, with Also; runs may have as much as with Light
	Also     []string  // fields, by their paths in documents

	// Watch, unless nil, is called with each run that a store reads, and whether it is selected. A store reads the runs
	// that started in Started and have Equals, until Limit is reached.
	Watch func(run *mapping.Run, isSelected bool)
}

// Condition is a condition on a run, which it may decide without histograms and source files. If it
// has a method Beyond() (fields []string, ok bool) that returns true, it may decide on [mapping.Run.Brief] and these
// fields, by their paths in documents. If it has a method
// Undecided(*mapping.Run) bool, that reports whether what is known of the run decides neither for it nor against it.
type Condition interface {
	Matches(run *mapping.Run) bool
}

// LiveRuns is the condition that runs are live.
type LiveRuns struct{}

// Matches implements [Condition].
func (LiveRuns) Matches(run *mapping.Run) bool { return run.Run.Live() }

// Beyond and Live are for [RunFilter].
func (LiveRuns) Beyond() ([]string, bool) { return nil, true }
func (LiveRuns) Live() bool               { return true }

// Beyond are the fields, by their paths in documents, that runs need beyond [mapping.Run.Brief]. It is false if they
// need all that there is with Light.
func (f *RunFilter) Beyond() (fields []string, isBrief bool) {
	if f.Where == nil || !f.Brief {
		return f.Also, f.Brief
	}
	c, ok := f.Where.(interface{ Beyond() ([]string, bool) })
	if !ok {
		return nil, false
	}
	fields, isBrief = c.Beyond()
	return slices.Concat(fields, f.Also), isBrief
}

// DecodeLight decodes what f needs of documents without histograms and lists of files. It fails as [DecodeRun].
func (f *RunFilter) DecodeLight() Decoder {
	fields, isBrief := f.Beyond()
	if !isBrief {
		return DecodeRun
	}
	return func(text []byte) (*mapping.Run, error) {
		run := new(mapping.Run)
		return run, checkRun(run, run.UnmarshalBrief(text, fields...))
	}
}

// Started is the time in which all runs that f selects started, [from, to). A zero time is no bound. It is that of
// the condition as well, if that has such a method.
func (f *RunFilter) Started() (from, to time.Time) {
	from, to = f.From, f.To
	if c, ok := f.Where.(interface{ Started() (from, to time.Time) }); ok {
		begin, end := c.Started()
		if begin.After(from) {
			from = begin
		}
		if to.IsZero() || !end.IsZero() && end.Before(to) {
			to = end
		}
	}
	return from, to
}

// Equals are fields, by their paths in documents, and the values that all runs that f selects have.
func (f *RunFilter) Equals() iter.Seq2[string, string] {
	return func(yield func(path, value string) bool) {
		if c, ok := f.Where.(interface {
			Equals() iter.Seq2[string, string]
		}); ok {
			c.Equals()(yield)
		}
	}
}

// Live reports whether all runs that f selects are live, so that stores need not look at others.
func (f *RunFilter) Live() bool {
	c, ok := f.Where.(interface{ Live() bool })
	return ok && c.Live()
}

// LabelPath is the beginning of the paths of labels.
const LabelPath = "run.labels."

// Selection selects interval documents. An empty list selects all.
type Selection struct {
	Runs       []string // whole ids
	Level      mapping.Level
	Directions []string
	Hosts      []string
	Jobs       []string
	From, To   time.Time // windows that start in [From, To); a zero time is no bound
	Light      bool      // leave out histograms: nine tenths of a document
	Version    string    // of the one run in Runs: this version (run.ingest), finished or not; empty: the current one
}

// Matches reports whether f selects the run, without regard to Limit. Stores that filter by other
// means must agree with it.
func (f *RunFilter) Matches(r *mapping.Run) bool {
	return (f.From.IsZero() || !r.Run.Start.Before(f.From)) &&
		(f.To.IsZero() || r.Run.Start.Before(f.To)) &&
		(f.Text == "" || f.matchesText(r)) &&
		(f.Where == nil || f.Where.Matches(r))
}

// IsUndecided reports whether it cannot be decided if a run meets the condition.
func IsUndecided(c Condition, r *mapping.Run) bool {
	u, ok := c.(interface{ Undecided(*mapping.Run) bool })
	return ok && u.Undecided(r)
}

// Select returns those of some runs that f selects, at most Limit. Errors pass through, and
// Limit does not count them.
func (f *RunFilter) Select(runs iter.Seq2[*mapping.Run, error]) iter.Seq2[*mapping.Run, error] {
	return func(yield func(*mapping.Run, error) bool) {
		n := 0
		for run, err := range runs {
			if err == nil {
				isSelected := f.Matches(run)
				if f.Watch != nil {
					f.Watch(run, isSelected)
				}
				if !isSelected {
					continue
				}
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
		r.Run.Note, r.Run.Archive + ":" + r.Run.Name, r.Run.Archive + ":" + r.ShortName(),
	}
	for _, label := range r.Run.Labels {
		texts = append(texts, label)
	}
	size, depth := strings.ToLower(unit.WholeBytes(r.CBT.OpSize)), "qd"+strconv.FormatInt(r.CBT.IODepth, 10)
	has := func(want string) bool {
		return (want == size || want+"ib" == size) && r.CBT.OpSize > 0 || want == depth && r.CBT.IODepth > 0 || // 4k is not in 64k
			slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), want) })
	}
	want := strings.ToLower(f.Text)
	words := strings.Fields(want)
	return has(want) || len(words) > 1 && !slices.ContainsFunc(words, func(word string) bool { return !has(word) })
}

// Candidates is how many runs an [ErrAmbiguous] lists at most.
const Candidates = 10

// CheckOne fails unless exactly one run was found by its id or by the begin of it. ids are
// those of the runs found, at most one more than [Candidates].
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
