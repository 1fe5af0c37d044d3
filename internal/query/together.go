package query

import (
	"context"
	"iter"
	"reflect"
	"slices"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Together divides stored runs into lists for [Prefetch]. A list has about a thousand documents at most, or one run.
// A nil q wants no documents.
func Together(runs []*Run, q *Query) (lists [][]*Run) {
	const most, least = 1000, 10 // documents in a list; documents that a run counts as, besides its own
	size := 0
	for _, r := range runs {
		n := least
		if q == nil || r.JoinMS > 0 || q.Times() != "" { // each run needs its own selection
			n = most
		} else {
			for _, level := range q.levels() {
				n += r.Stored.Documents.Of(level)
			}
		}
		if size += n; len(lists) == 0 || size > most {
			lists, size = append(lists, nil), n
		}
		last := len(lists) - 1
		lists[last] = append(lists[last], r)
	}
	return lists
}

// Prefetch reads the documents of a list of [Together] at once, for later calls of Read with q. A cluster then needs
// as many requests for all runs as for one. If Prefetch fails, each Read reads for itself, and returns the error.
func Prefetch(ctx context.Context, runs []*Run, q *Query) {
	if len(runs) < 2 || q.Totals {
		return
	}
	f := &fetched{Store: runs[0].from.(storeReader).Store, docs: map[series][]*mapping.Interval{}}
	var ids []string
	var err error
	for _, r := range runs {
		if f.wanted, err = q.selection(r.Stored); err != nil { // the selections differ only in the run
			return
		}
		ids = append(ids, r.Stored.Run.ID)
	}
	f.wanted.Runs = ids
	if f.counts, err = f.Store.Count(ctx, ids, q.levels()...); err != nil {
		return
	}
	f.levels = q.levels()
	for _, level := range f.levels {
		for _, id := range ids {
			f.docs[series{id, level}] = nil
		}
		f.wanted.Level = level
		for d, err := range f.Store.Intervals(ctx, f.wanted) {
			if err != nil {
				return
			}
			of := series{d.Run.ID, level}
			f.docs[of] = append(f.docs[of], d)
		}
	}
	for _, r := range runs {
		r.from = storeReader{f}
	}
}

// fetched is a history with some documents that were read already.
type fetched struct {
	history.Store
	levels []mapping.Level
	counts history.Counts
	wanted history.Selection // what was read, apart from the run and the level
	docs   map[series][]*mapping.Interval
}

// series is one level of a run.
type series struct {
	run   string
	level mapping.Level
}

// Count implements [history.Store].
func (f *fetched) Count(ctx context.Context, runs []string, levels ...mapping.Level) (history.Counts, error) {
	if len(runs) == 1 && slices.Contains(f.wanted.Runs, runs[0]) && slices.Equal(levels, f.levels) {
		return f.counts, nil
	}
	return f.Store.Count(ctx, runs, levels...)
}

// Intervals implements [history.Store]. It returns documents that were read already, and then drops them.
func (f *fetched) Intervals(ctx context.Context, sel history.Selection) iter.Seq2[*mapping.Interval, error] {
	wanted := f.wanted
	wanted.Runs, wanted.Level = sel.Runs, sel.Level
	if len(sel.Runs) != 1 || !reflect.DeepEqual(sel, wanted) {
		return f.Store.Intervals(ctx, sel)
	}
	of := series{sel.Runs[0], sel.Level}
	docs, ok := f.docs[of]
	if !ok {
		return f.Store.Intervals(ctx, sel)
	}
	delete(f.docs, of)
	return func(yield func(*mapping.Interval, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}
