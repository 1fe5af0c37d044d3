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

// Errors of stores that callers distinguish.
var (
	ErrNotFound  = errors.New("no such run in the history")
	ErrAmbiguous = errors.New("more than one run begins with that")
	ErrBusy      = errors.New("another process is writing to the history")
	ErrDamaged   = errors.New("not a history file, or damaged")
	ErrVersion   = errors.New("made by another version of fio2es")
	ErrRejected  = errors.New("the cluster rejects a document")
	ErrReplaced  = errors.New("the documents stored so far were removed meanwhile")
	// only in clusters
	ErrNoIndex = errors.New("there is no history under this prefix yet: run fio2es setup, then ingest")
)

// Store is a history of runs. Several goroutines may call its methods at the same time.
type Store interface {
	// Put stores any number of interval documents. When Finish returns nil, they are on disk: neither a killed
	// process nor a power failure loses them. If a document does not pass its Check, Put fails and stores none of
	// them.
	Put(ctx context.Context, docs []*mapping.Interval) error

	// Finish stores the run document, makes its version current, and removes the interval documents of other
	// versions. Until then readers see the old version, or nothing. If the stored run document differs only in
	// Ingested, the stored Ingested stays. The labels and the note that people gave to the stored run replace those
	// of run, even if people change them during the call.
	Finish(ctx context.Context, run *mapping.Run) error

	// Run returns the run whose id is id or begins with id. It fails with ErrNotFound if there is none, and with
	// ErrAmbiguous and the candidates if there are several.
	Run(ctx context.Context, id string) (*mapping.Run, error)

	// Runs returns the runs that f selects, the newest start first unless f leaves the order to the store. A [DamagedRunError] concerns only one run: other
	// runs follow, and the limit does not count it. Any other error ends the list.
	Runs(ctx context.Context, f RunFilter) iter.Seq2[*mapping.Run, error]

	// Holding returns the runs that have a report or a log with one of the contents files, and those without a report
	// that have one of logs: see [mapping.Source.Keys]. So a thousand runs with equal logs and reports of their own are
	// not read. They are sorted by id, without histograms. There may be any number of hashes. Runs finished before the
	// call are found. Runs whose documents cannot be read are skipped.
	Holding(ctx context.Context, files, logs []string) ([]*mapping.Run, error)

	// Versions returns those of the given runs that the history has, by id. Only the version, the number of
	// documents, the labels and the note are certain to be set. A run is nil if these cannot be read.
	Versions(ctx context.Context, ids []string) (map[string]*mapping.Run, error)

	// Whole returns the versions of the given runs that the history has whole, by id: the run document, all interval documents, and none
	// of another version. The embedded history does not count them, because it finishes a run in the transaction that removes other versions.
	Whole(ctx context.Context, ids []string) (map[string]string, error)

	// Annotate changes the labels and the note of a run, given by its full id, and returns the run. It changes the
	// run document and, if labels differ, all interval documents. If it is interrupted, a second call does the rest,
	// even with an annotation that changes nothing. It fails with ErrNotFound, and with ErrBusy if other processes
	// keep changing the run.
	Annotate(ctx context.Context, runID string, a mapping.Annotation) (*mapping.Run, error)

	// Intervals returns the interval documents of finished runs that s selects. They are sorted by time, then by
	// direction, host, job or section, run and part, compared as texts. An error ends the list.
	Intervals(ctx context.Context, s Selection) iter.Seq2[*mapping.Interval, error]

	// Count returns the number of interval documents by version, finished or not, of the runs with these full ids, or
	// of all runs if runs is empty. Without levels it counts all levels. A document that [mapping.Interval.Split]
	// split counts once.
	Count(ctx context.Context, runs []string, levels ...mapping.Level) (Counts, error)

	// MakeCurrent removes the interval documents of a run's other versions. Then dashboards show those of this
	// version that are pending.
	MakeCurrent(ctx context.Context, runID, ingest string) error

	// Join stores the document of a shared run ([mapping.RunInfo.IsShared]), unless there is a run with this id, and returns
	// what is stored. Interval documents of a shared run are visible some time after they were put, without Finish.
	Join(ctx context.Context, run *mapping.Run) (*mapping.Run, error)

	// PutPart stores a part of a shared run, when all interval documents that were put are stored. After another error than the
	// following, the caller puts those again that it has put since the last success. If its version is no longer current,
	// because the run was removed or another version took its place, PutPart removes what is left of its version and
	// fails with ErrReplaced. A part without a Document is a sign of life of one that was put before; otherwise PutPart may fail with
	// ErrNotFound.
	PutPart(ctx context.Context, p *mapping.Part) error

	// Parts returns the parts of a shared run, given by its full id, sorted by host and unit. Interval documents that were stored
	// before a part are visible to later calls. Finish and Delete of the run remove the parts of other versions.
	Parts(ctx context.Context, runID string) ([]*mapping.Part, error)

	// Signs returns the signs of life of the parts of a shared run, without their documents, in any order. Those of the last seconds may
	// be missing, unless all is true: then interval documents become visible as by Parts.
	Signs(ctx context.Context, runID string, all bool) ([]*mapping.Part, error)

	// Sign returns the last sign of life of a part, given by its run, host and unit, or nil if there is none.
	Sign(ctx context.Context, of *mapping.Part) (*mapping.Part, error)

	// Now returns the time by the clock that all hosts of a history share: that of the cluster, or of this machine if the history is
	// here. It is asked for when Now is called, and not before. Without an index it fails with ErrNoIndex.
	Now(ctx context.Context) (time.Time, error)

	// Delete removes a run, given by its full id, and all its interval documents, finished or not. It fails with
	// ErrNotFound if there is nothing to remove.
	Delete(ctx context.Context, runID string) error

	// MarkRemoved records that a run was removed, so that Removed finds it by the contents of its files. It does not
	// remove the run: see [Remove].
	MarkRemoved(ctx context.Context, r *mapping.Removed) error

	// Removed returns the removed runs that had a report or a log with one of these contents, sorted by id. hashes
	// are as in [mapping.Source.Hashes].
	Removed(ctx context.Context, hashes []string) ([]*mapping.Removed, error)

	// Restore deletes the records of removed runs, given by their full ids. Unknown ids are no error.
	Restore(ctx context.Context, runIDs ...string) error

	Close() error
}

// Seen is what an ingest remembers of some files.
type Seen struct {
	State   string            // a hash of their names, sizes, times and inodes; "": they must be read again
	Runs    map[string]string // ids of the runs that were made of them, each with its version in the history
	Removed map[string]string // ids of those that people removed from it, each with the hash of one of its files
	Said    []string          // warnings about what was left out
}

// Marker is a store that also stores at which runs numbers changed, for readers that cannot compute it, such as
// dashboards.
type Marker interface {
	Store

	// Mark stores the changes of runs ([mapping.Run].Changes) by id. An empty list removes the changes of a run.
	// Unknown runs are skipped.
	Mark(ctx context.Context, changes map[string][]mapping.Change) error
}

// Remove removes a run, and records the removal, so that the next ingest of the same files does not store it again.
// title is what lists of removed runs show. If Remove is interrupted, a second call or [Check] does the rest.
func Remove(ctx context.Context, s Store, run *mapping.Run, title string, at time.Time) error {
	if err := s.MarkRemoved(ctx, mapping.NewRemoved(run, title, at)); err != nil {
		return err
	}
	return s.Delete(ctx, run.Run.ID)
}

// RunFilter selects runs. The zero value selects all runs.
type RunFilter struct {
	// Text, or each of its words, must be in the id, name, archive, path, title, note or a label, in any case;
	// titles contain words like 4K and qd16
	Text     string
	From, To time.Time // runs that started in [From, To); a zero time is no bound
	// Execution selects the stages of the execution whose id is this, or begins with it; "": all runs. Stores have an
	// index for it.
	Execution string
	Where     Condition // nil: no condition
	Limit     int       // most runs; 0: no limit
	Light     bool      // histograms, the list of source files and, unless Members has them, changes are not needed
	// Members are the members of run documents that are needed, by their names in JSON. Nil means all. Others may be missing if Light is
	// set, so that lists of many runs are read faster.
	Members []string
	// Wanted reports whether a run that is selected is needed, by these members of its document: a list of the first runs in an order does
	// not need those that are after them. If WantedMembers is not nil, a store may leave out the others before it reads the rest of them.
	// It calls Wanted at most once for a run, perhaps from several goroutines at the same time.
	Wanted        func(run *mapping.Run) bool
	WantedMembers []string
	// InAnyOrder leaves the order to the store, which then reads all runs faster.
	InAnyOrder bool
	// IDs are the full ids of the only runs to look at, at most 10,000. Empty means all.
	IDs []string

	// Undecided is called with each run that is not selected only because it lacks the values that the condition needs. It
	// may be nil. A run may come several times.
	Undecided func(run *mapping.Run)
}

// Condition is a condition on a run. It must not need histograms or source files.
type Condition interface {
	Matches(run *mapping.Run) bool
	// Undecided reports whether the run lacks the values that the condition needs.
	Undecided(run *mapping.Run) bool
	// Tests returns lists of tests. Of each list, every run that meets the condition, or is Undecided, passes a test or lacks the field of
	// one. So stores need not look at others.
	Tests() [][]mapping.FieldTest
	// Live reports whether only live runs can meet the condition.
	Live() bool
	// Workloads returns the ids of workloads. All runs that meet the condition are of one of them, or have a section that is. Without
	// ids they may be of any.
	Workloads() []string
	// Members returns the members of a run document that decide the condition, by their names in JSON, such as "cbt". Nil means all.
	// Then stores decide the condition for several runs at the same time, and read the other members only of those that it selects.
	Members() []string
}

// Started returns bounds of the start of all runs that f selects: [from, to), with those of the condition. A zero time is no
// bound.
func (f *RunFilter) Started() (from, to time.Time) {
	from, to = f.From, f.To
	for _, list := range f.Tests() {
		if t := list[0]; len(list) == 1 && t.Field == mapping.StartField {
			if t.From.After(from) {
				from = t.From
			}
			if to.IsZero() || !t.To.IsZero() && t.To.Before(to) {
				to = t.To
			}
		}
	}
	return from, to
}

// Tests returns those of the condition.
func (f *RunFilter) Tests() [][]mapping.FieldTest {
	if f.Where == nil {
		return nil
	}
	return f.Where.Tests()
}

// Live reports whether f selects only live runs, so that a store need not read others.
func (f *RunFilter) Live() bool { return f.Where != nil && f.Where.Live() }

// Workloads returns the ids of the only workloads that runs which f selects may have, or none if they may have any. A store looks for
// runs with these ids. It must not leave out runs whose sections have workloads of their own, and runs whose documents have no id of the
// same version of the rule: [RunFilter.Matches] knows their workloads. version begins all ids of the version.
func (f *RunFilter) Workloads() (ids []string, version string) {
	if f.Where != nil {
		ids = f.Where.Workloads()
	}
	if len(ids) > 0 {
		version, _, _ = strings.Cut(ids[0], "-")
		version += "-"
	}
	return ids, version
}

// Stage decides whether a run is needed by some members of its document.
type Stage struct {
	Members mapping.Members
	Passes  func(*mapping.Run) bool
}

// Stages decide one after another whether f may select a run and want it, or call Undecided with it. There are none if that may need all
// members. Several goroutines may call them.
func (f *RunFilter) Stages() (list []Stage) {
	if f.Where != nil {
		if f.Where.Members() == nil {
			return nil
		}
		list = append(list, Stage{mapping.MembersOf(f.Where.Members()...), func(run *mapping.Run) bool {
			return f.Where.Matches(run) || f.Undecided != nil && f.Where.Undecided(run)
		}})
	}
	if f.WantedMembers != nil {
		list = append(list, Stage{mapping.MembersOf(f.WantedMembers...) | ofFilter, func(run *mapping.Run) bool {
			return f.isAbout(run) && (f.Where != nil && !f.Where.Matches(run) || f.Wanted(run))
		}})
	}
	return list
}

// Needed returns the members of run documents that are needed, those for [RunFilter.Matches] included.
func (f *RunFilter) Needed() mapping.Members {
	if f.Members == nil || !f.Light || f.Where != nil && f.Where.Members() == nil {
		return mapping.AllMembers
	}
	needed := mapping.MembersOf(f.Members...) | ofFilter
	if f.Where != nil {
		needed |= mapping.MembersOf(f.Where.Members()...)
	}
	return needed
}

// ofFilter are the members that Matches needs without a condition.
var ofFilter = mapping.MembersOf("run", "cbt")

// Selection selects interval documents. An empty list selects all values.
type Selection struct {
	Runs       []string // full ids
	Level      mapping.Level
	Directions []string
	Hosts      []string
	From, To   time.Time // windows that start in [From, To); a zero time is no bound
	Light      bool      // leave out histograms, which are nine tenths of a document
}

// Matches reports whether f selects the run; it ignores IDs, Limit and Wanted. A store that filters in another way must get the same
// result.
func (f *RunFilter) Matches(r *mapping.Run) bool {
	if isAbout := f.isAbout(r); !isAbout || f.Where == nil || f.Where.Matches(r) {
		return isAbout
	}
	if f.Undecided != nil && f.Where.Undecided(r) {
		f.Undecided(r)
	}
	return false
}

// isAbout is Matches without the condition.
func (f *RunFilter) isAbout(r *mapping.Run) bool {
	return (f.From.IsZero() || !r.Run.Start.Before(f.From)) &&
		(f.To.IsZero() || r.Run.Start.Before(f.To)) &&
		strings.HasPrefix(r.Run.Execution, f.Execution) &&
		(f.Text == "" || f.matchesText(r))
}

// Select returns the runs of a list that f selects, at most Limit. It also returns the errors of the list; Limit
// does not count them.
func (f *RunFilter) Select(runs iter.Seq2[*mapping.Run, error]) iter.Seq2[*mapping.Run, error] {
	return func(yield func(*mapping.Run, error) bool) {
		n := 0
		for run, err := range runs {
			if err == nil {
				if !f.Matches(run) {
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
	size, depth := strings.ToLower(unit.WholeBytes(r.CBT.OpSize)), "qd"+strconv.FormatInt(max(r.CBT.IODepth, r.CBT.TotalIODepth), 10)
	has := func(want string) bool {
		// equality for sizes and depths, because 4k must not match 64k
		return (want == size || want+"ib" == size) && r.CBT.OpSize > 0 || (want == depth || r.CBT.TotalIODepth > 0 && want == "total-"+depth) && depth != "qd0" ||
			slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), want) })
	}
	want := strings.ToLower(f.Text)
	words := strings.Fields(want)
	return has(want) || len(words) > 1 && !slices.ContainsFunc(words, func(word string) bool { return !has(word) })
}

// Candidates is the most runs that an [ErrAmbiguous] lists.
const Candidates = 10

// CheckOne fails unless ids has exactly one element. ids are the full ids of the runs that id may mean, at most one
// more than [Candidates].
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

// CeilMilli returns a bound of [RunFilter] or [Selection] in milliseconds since 1970. It rounds up, because stored
// times are rounded down.
func CeilMilli(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
