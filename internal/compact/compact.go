package compact

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Errors that concern only one run, which stays as it is.
var (
	ErrLacking = errors.New("the history lacks documents: ingest its files again with --verify")
	ErrUneven  = errors.New("its windows are not of one length")
	ErrVerify  = errors.New("not compacted, because the longer windows do not have the requests of the shorter ones; this is a fault of fio2es")
)

// Run joins the windows of a run, given by its full id, to windows of length, a multiple of their own length. It
// returns the run documents before and after. Meanwhile no ingest may replace the run.
func Run(ctx context.Context, store history.Store, id string, length time.Duration, now time.Time) (before, after *mapping.Run, err error) {
	if before, err = store.Run(ctx, id); err != nil {
		return nil, nil, err
	}
	ms := length.Milliseconds()
	if unfit(before, ms) != "" || before.IntervalMS >= ms {
		return nil, nil, fmt.Errorf("it changed meanwhile: %w", history.ErrReplaced)
	}
	counts, err := store.Count(ctx, []string{id})
	if err != nil {
		return nil, nil, err
	}
	if !counts.IsWhole(before) {
		return nil, nil, fmt.Errorf("%w: %s", ErrLacking, counts.LackText(before))
	}
	c := &compaction{store: store, before: before, after: before.Compact(ms, now), balance: map[mapping.Level]int64{}}
	if err = c.put(ctx); err == nil {
		err = c.verify()
	}
	switch {
	case err == nil: // short, so it is completed even if ctx has ended
		err = c.finish(context.WithoutCancel(ctx))
	case errors.Is(err, ErrVerify) || errors.Is(err, ErrUneven):
		err = errors.Join(err, store.MakeCurrent(ctx, id, before.Run.Ingest))
	}
	return before, c.after, err
}

// Resume completes an interrupted replacement of last, the run that was compacted last; last may be nil. It reports
// whether there was something to complete.
func Resume(ctx context.Context, store history.Store, last *mapping.Run) (bool, error) {
	if last == nil {
		return false, nil
	}
	counts, err := store.Count(ctx, []string{last.Run.ID})
	if err != nil || counts.IsCurrent(last) || !counts.IsWhole(last) {
		return false, err
	}
	return true, store.MakeCurrent(ctx, last.Run.ID, last.Run.Ingest)
}

// compaction is a run that is being compacted.
type compaction struct {
	store         history.Store
	before, after *mapping.Run
	// by level, requests in the shorter windows less those in the longer ones
	balance map[mapping.Level]int64
}

// batch is how many documents are stored at once: a few megabytes.
const batch = 500

// put stores the documents of the longer windows, as a version that is not finished.
func (c *compaction) put(ctx context.Context) error {
	var docs []*mapping.Interval
	flush := func() error {
		err := c.store.Put(ctx, docs)
		docs = nil // a new slice, because the store may keep this one until it is sent
		return err
	}
	for _, level := range mapping.Levels {
		for d, err := range c.documents(ctx, level) {
			if err == nil {
				c.after.Documents.Add(level, 1)
				c.balance[level] -= d.DocCount
				if docs = append(docs, d.Split()...); len(docs) >= batch {
					err = flush()
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return flush()
}

// documents returns the documents of the longer windows of a level.
func (c *compaction) documents(ctx context.Context, level mapping.Level) iter.Seq2[*mapping.Interval, error] {
	return func(yield func(*mapping.Interval, error) bool) {
		first := map[window.Series]*mapping.Interval{}
		read := func(yield func(*mapping.Interval, error) bool) {
			for d, err := range c.store.Intervals(ctx, history.Selection{Runs: []string{c.before.Run.ID}, Level: level}) {
				if err == nil && d.Run.Ingest != c.before.Run.Ingest {
					err = fmt.Errorf("it changed meanwhile: %w", history.ErrReplaced)
				}
				if err == nil {
					if s := window.SeriesOf(d); first[s] == nil {
						like := *d
						like.Latency = mapping.Latency{}
						first[s] = &like
					}
					c.balance[level] += d.DocCount
				}
				if !yield(d, err) {
					return
				}
			}
		}
		for w, err := range window.Join(window.Rejoin(read), c.before, c.after.IntervalMS) {
			var d *mapping.Interval
			switch {
			case errors.Is(err, window.ErrUneven):
				err = ErrUneven
			case err == nil:
				d = w.Document(first[w.Series()])
				d.Run.Ingest = c.after.Run.Ingest
				d.Relabel(&c.after.Run)
				d.Describe(c.after)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// verify checks that the longer windows have all requests. Stores verify that they have all documents.
func (c *compaction) verify() error {
	for level, n := range c.balance {
		if n != 0 {
			return fmt.Errorf("%w: level %v: %d requests", ErrVerify, level, n)
		}
	}
	return nil
}

// finish makes the longer windows the current version.
func (c *compaction) finish(ctx context.Context) error {
	now, err := c.store.Run(ctx, c.before.Run.ID)
	if err != nil {
		return err
	}
	if now.Run.Ingest != c.before.Run.Ingest {
		return errors.Join(fmt.Errorf("it was ingested again meanwhile: %w", history.ErrReplaced), c.store.MakeCurrent(ctx, now.Run.ID, now.Run.Ingest))
	}
	return c.store.Finish(ctx, c.after)
}
