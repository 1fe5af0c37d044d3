package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// claims makes runs of one call wait for one another if they are the same execution.
type claims struct {
	store    history.Store // nil if the target is a file
	log      *slog.Logger
	restore  bool            // also store runs that people removed
	lookedUp []chan struct{} // lookedUp[n] is closed when run n has been looked up

	mu      sync.Mutex
	active  []*claim
	ended   int            // number of claims that have ended
	written []*mapping.Run // runs written to a file, without histograms
}

func newClaims(store history.Store, opt *Options, runs int) *claims {
	c := &claims{store: store, log: opt.Log, restore: opt.Restore, lookedUp: make([]chan struct{}, runs)}
	for i := range c.lookedUp {
		c.lookedUp[i] = make(chan struct{})
	}
	return c
}

// claim is one run of the call. It is claimed from lookUp to end.
type claim struct {
	*claims
	n          int  // number of the run in the call
	again      bool // the run is stored again, because the history lacks documents of it
	turn       sync.Once
	id         string
	src        *mapping.Source
	duplicates []*mapping.Run // other runs in the history with the same files
	removed    []*mapping.Removed
	over       chan struct{} // closed at the end; nil before the run is claimed
}

// of returns the claim of run n.
func (c *claims) of(n int, again bool) *claim { return &claim{claims: c, n: n, again: again} }

// inTurn calls f when all earlier runs have been looked up; only its first call does so. Otherwise which of two
// equal runs is stored would depend on which is read faster.
func (c *claim) inTurn(f func()) {
	c.turn.Do(func() {
		if c.n > 0 {
			<-c.lookedUp[c.n-1]
		}
		defer close(c.lookedUp[c.n])
		f()
	})
}

// known implements [pipeline.Known]. It claims the run until end.
func (c *claim) known(ctx context.Context, e *pipeline.Execution) (id string, have *mapping.Run, err error) {
	e.Restore = c.again
	c.inTurn(func() { id, have, err = c.lookUp(ctx, e) })
	return id, have, err
}

// lookUp finds the run in the history and claims it. It waits while an equal run of the call is active. If a claim
// ended after the history was read, it reads the history again.
func (c *claim) lookUp(ctx context.Context, e *pipeline.Execution) (id string, have *mapping.Run, err error) {
	for {
		ended := c.endedSoFar()
		found, err := c.find(ctx, e)
		if err != nil {
			return "", nil, err
		}
		if len(found.Removed) > 0 && !c.restore {
			return "", nil, removedError{found.Removed}
		}
		other, isTaken := c.take(e, found, ended)
		switch {
		case isTaken:
			for _, r := range found.Removed {
				e.Taken = append(e.Taken, r.Annotation())
			}
			return found.ID, found.Have, nil
		case other == nil:
			continue
		}
		select {
		case <-other.over:
		case <-ctx.Done():
			return "", nil, ctx.Err()
		}
	}
}

func (c *claims) endedSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// find looks the run up in the history, or in the file written so far.
func (c *claim) find(ctx context.Context, e *pipeline.Execution) (Found, error) {
	if c.store != nil {
		found, err := Find(ctx, c.store, e)
		// an earlier ingest that stored the removed run again may have been interrupted
		if err == nil && c.restore && found.Have != nil {
			found.Removed, err = removed(ctx, c.store, &e.Source)
		}
		return found, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	found := choose(e, c.written, same(e, c.written))
	if have := found.Have; have != nil && !have.Source.Contains(&e.Source) {
		return found, refusedError{fmt.Errorf("%s:%s is not written, because it shares files with %s, which was written before: "+
			"name only the folder that has all of them", e.Run.Archive, e.Run.Name, facts.Title(have))}
	}
	return found, nil
}

// take claims a run. If an active run is the same or has the same id, it returns that run and isTaken false. It also
// fails if more than ended claims have ended.
func (c *claim) take(e *pipeline.Execution, found Found, ended int) (other *claim, isTaken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, other := range c.active {
		if other.id == found.ID || mapping.SameExecution(other.src, &e.Source) {
			return other, false
		}
	}
	if c.ended != ended {
		return nil, false
	}
	c.id, c.src, c.duplicates, c.removed, c.over = found.ID, &e.Source, found.Duplicates, found.Removed, make(chan struct{})
	c.active = append(c.active, c)
	return nil, true
}

// end ends the claim. If the run is in the history, end removes other runs with the same files.
func (c *claim) end(ctx context.Context, res *pipeline.Result, err error) error {
	c.inTurn(func() {}) // in case the run was not looked up
	if c.over == nil {
		return err
	}
	if err == nil && res.Run != nil {
		if err = removeDuplicates(ctx, c.store, res.Run, c.duplicates, c.log); err == nil {
			err = takeBack(ctx, c.store, res.Run.Run.ID, c.removed, c.log)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && res.Run != nil && !res.Unchanged && c.store == nil {
		c.written = append(c.written, res.Run.WithFiles())
	}
	c.active = slices.DeleteFunc(c.active, func(o *claim) bool { return o == c })
	c.ended++
	close(c.over)
	return err
}
