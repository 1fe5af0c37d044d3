package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// identities finds which runs of the history the runs of one call are. Two that are one
// execution, such as a folder and its tar, wait for one another.
type identities struct {
	*app
	store history.Store // nil when documents go to a file

	mu      sync.Mutex
	claims  map[string][]*claim // of runs that are not over: by id, and by each content
	written []*mapping.Run      // to the file, without histograms
}

func newIdentities(a *app, store history.Store) *identities {
	return &identities{app: a, store: store, claims: map[string][]*claim{}}
}

// turns lets the runs of a call be looked up in their order, though several are read at a
// time: which of two equal ones is stored must not depend on which is read faster.
type turns struct {
	mu   sync.Mutex
	move sync.Cond
	over map[int]bool // whose turn is over, from next on
	next int
}

func newTurns() *turns {
	t := &turns{over: map[int]bool{}}
	t.move.L = &t.mu
	return t
}

// wait returns when it is the turn of the n-th run.
func (t *turns) wait(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next < n {
		t.move.Wait()
	}
}

// end ends the turn of the n-th run, whether or not it has waited for it.
func (t *turns) end(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n < t.next {
		return
	}
	for t.over[n] = true; t.over[t.next]; t.next++ {
		delete(t.over, t.next)
	}
	t.move.Broadcast()
}

// claim is one run of the call.
type claim struct {
	*identities
	restore bool // documents of the run are missing in the history
	turns   *turns
	n       int // of the run
	src     *mapping.Source
	keys    []string
	doubles []*mapping.Run // that the history has beside the one that is kept
	over    chan struct{}
}

// refusedError says why a run is not stored. Others are.
type refusedError struct{ error }

// known implements [pipeline.Known], and claims the run until end.
func (c *claim) known(ctx context.Context, e *pipeline.Execution) (string, *mapping.Run, error) {
	c.turns.wait(c.n)
	defer c.turns.end(c.n)
	e.Restore = c.restore
	for {
		id, have, doubles, err := c.find(ctx, e)
		if err != nil {
			return "", nil, err
		}
		other := c.take(e, id)
		if other == nil {
			c.doubles = doubles
			return id, have, nil
		}
		select {
		case <-other.over:
		case <-ctx.Done():
			return "", nil, ctx.Err()
		}
	}
}

// take claims a run, unless another one of the call that is not over is the same, or has
// the same id: that is returned.
func (c *claim) take(e *pipeline.Execution, id string) *claim {
	c.mu.Lock()
	defer c.mu.Unlock()
	if others := c.claims[id]; len(others) > 0 {
		return others[0]
	}
	keys := append(e.Source.Hashes(), id)
	for _, key := range keys {
		for _, other := range c.claims[key] {
			if mapping.SameExecution(other.src, &e.Source) {
				return other
			}
		}
	}
	c.src, c.keys, c.over = &e.Source, keys, make(chan struct{})
	for _, key := range keys {
		c.claims[key] = append(c.claims[key], c)
	}
	return nil
}

// end ends the claim. When the run is in the history, what was there of it beside goes.
func (c *claim) end(ctx context.Context, res *pipeline.Result, err error) error {
	if c.over == nil { // it was not even looked up
		c.turns.end(c.n)
		return err
	}
	if err == nil && res.Run != nil {
		err = c.removeDoubles(ctx, res.Run, c.doubles)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && res.Run != nil && !res.Unchanged && c.store == nil {
		c.written = append(c.written, res.Run.WithFiles())
	}
	for _, key := range c.keys {
		if c.claims[key] = slices.DeleteFunc(c.claims[key], func(o *claim) bool { return o == c }); len(c.claims[key]) == 0 {
			delete(c.claims, key)
		}
	}
	close(c.over)
	return err
}

// removeOldDoubles removes what the version before stored of one run under several names.
func (s *identities) removeOldDoubles(ctx context.Context, store *history.SQLite) error {
	runs, err := store.Sharing(ctx)
	if err != nil {
		return err
	}
	for len(runs) > 0 {
		var same, others []*mapping.Run
		for _, r := range runs {
			if r == runs[0] || mapping.SameExecution(&r.Source, &runs[0].Source) {
				same = append(same, r)
			} else {
				others = append(others, r)
			}
		}
		keep := mapping.Best(same)
		if err := s.removeDoubles(ctx, keep, slices.DeleteFunc(same, func(r *mapping.Run) bool { return r == keep })); err != nil {
			return err
		}
		runs = others
	}
	return nil
}

// removeDoubles removes other runs of a history whose files are all in this one: they were
// stored under several names by an older version, or as parts.
func (s *identities) removeDoubles(ctx context.Context, run *mapping.Run, doubles []*mapping.Run) error {
	for _, d := range doubles {
		if !run.Source.Contains(&d.Source) && !d.Run.Live() {
			continue
		}
		if err := s.store.Delete(ctx, d.Run.ID); err != nil && !errors.Is(err, history.ErrNotFound) {
			return err
		}
		s.log.Info(fmt.Sprintf("note: removed %s %s: it is the same run as %s %s", d.Run.ID[:8], query.Title(d), run.Run.ID[:8], query.Title(run)))
	}
	return nil
}

// find looks an execution up: the id that it has or is to have, what is stored of it, and
// the other runs that are stored of it.
func (s *identities) find(ctx context.Context, e *pipeline.Execution) (id string, have *mapping.Run, doubles []*mapping.Run, err error) {
	holders, err := s.holders(ctx, e)
	if err != nil {
		return "", nil, nil, err
	}
	same := slices.DeleteFunc(slices.Clone(holders), func(r *mapping.Run) bool { return !mapping.SameExecution(&r.Source, &e.Source) })
	if e.Grows && s.store != nil {
		for run, err := range s.beginnings(ctx, e) {
			if err != nil {
				return "", nil, nil, err
			}
			if !slices.ContainsFunc(same, func(r *mapping.Run) bool { return r.Run.ID == run.Run.ID }) {
				same = append(same, run.WithFiles())
			}
		}
	}
	if have = mapping.Best(same); have != nil {
		if s.store == nil && !have.Source.Contains(&e.Source) {
			return "", nil, nil, refusedError{fmt.Errorf("%s:%s is not written, because it shares files with %s, which was written before: "+
				"name only the folder that has all of them", e.Run.Archive, e.Run.Name, query.Title(have))}
		}
		doubles = slices.DeleteFunc(same, func(r *mapping.Run) bool { return r.Run.ID == have.Run.ID })
		return have.Run.ID, have, doubles, nil
	}
	id = e.Run.ID
	if slices.ContainsFunc(holders, func(r *mapping.Run) bool { return r.Run.ID == id }) {
		id = mapping.PartID(&e.Source) // another part of the same report has that id
	}
	return id, nil, nil, nil
}

// holders are the runs that have one of the files.
func (s *identities) holders(ctx context.Context, e *pipeline.Execution) ([]*mapping.Run, error) {
	if s.store != nil {
		return s.store.Holding(ctx, e.Source.Hashes())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.written), nil
}

// How far from one another two starts of one run may be that were read at different times:
// while it was followed, the start is not known as well as in the end.
const (
	liveStart = time.Minute
	sameStart = time.Second
)

// beginnings are the runs that were read when the files were shorter.
func (s *identities) beginnings(ctx context.Context, e *pipeline.Execution) iter.Seq2[*mapping.Run, error] {
	near := history.RunFilter{From: e.Run.Start.Add(-liveStart), To: e.Run.Start.Add(liveStart)}
	return func(yield func(*mapping.Run, error) bool) {
		for run, err := range s.store.Runs(ctx, near) {
			if errors.Is(err, history.ErrNoIndex) {
				return
			}
			if history.IsSkipped(err) {
				continue
			}
			if (err != nil || isBeginning(run, e)) && !yield(run, err) {
				return
			}
		}
	}
}

// isBeginning reports whether a run was read from what the files were earlier. Followed
// runs of the first version have no list of files, but a name.
func isBeginning(run *mapping.Run, e *pipeline.Execution) bool {
	apart := run.Run.Start.Sub(e.Run.Start).Abs()
	if run.Run.Live() && len(run.Source.List) == 0 {
		return apart < liveStart && run.Run.Archive == e.Run.Archive && run.Run.Path == e.Path
	}
	return (apart < sameStart || run.Run.Live() && apart < liveStart) &&
		e.HasGrownFrom(&run.Source) && !mapping.PartsOfOne(&run.Source, &e.Source)
}
