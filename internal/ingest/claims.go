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

// claims makes the runs of one call that are the same execution wait for one another.
type claims struct {
	store    history.Store // nil for a file
	log      *slog.Logger
	restore  bool            // store runs that people removed
	lookedUp []chan struct{} // closed when the run of that number has been looked up

	mu      sync.Mutex
	active  []*claim
	ended   int            // how many claims
	written []*mapping.Run // to the file, without histograms
}

func newClaims(store history.Store, opt *Options, runs int) *claims {
	c := &claims{store: store, log: opt.Log, restore: opt.Restore, lookedUp: make([]chan struct{}, runs)}
	for i := range c.lookedUp {
		c.lookedUp[i] = make(chan struct{})
	}
	return c
}

// claim is one run of the call.
type claim struct {
	*claims
	n          int  // of the run
	again      bool // documents of the run are missing in the history
	turn       sync.Once
	id         string
	src        *mapping.Source
	duplicates []*mapping.Run // other runs of the same files in the history
	removed    []*mapping.Removed
	over       chan struct{} // nil before the run is claimed
}

// of is the claim of the n-th run.
func (c *claims) of(n int, again bool) *claim { return &claim{claims: c, n: n, again: again} }

// inTurn calls f, the first time, when all runs before have been looked up: which of two equal runs
// is stored must not depend on which is read faster.
func (c *claim) inTurn(f func()) {
	c.turn.Do(func() {
		if c.n > 0 {
			<-c.lookedUp[c.n-1]
		}
		defer close(c.lookedUp[c.n])
		f()
	})
}

// known implements [pipeline.Known], and claims the run until end.
func (c *claim) known(ctx context.Context, e *pipeline.Execution) (id string, have *mapping.Run, err error) {
	e.Restore = c.again
	c.inTurn(func() { id, have, err = c.lookUp(ctx, e) })
	return id, have, err
}

// lookUp finds the run in the history, and claims it. While an equal run of the call is active, it waits. If a claim
// ends after the history was read and before the run is claimed, it reads the history again.
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

// find looks the run up in the history, or among what was written to the file.
func (c *claim) find(ctx context.Context, e *pipeline.Execution) (Found, error) {
	if c.store != nil {
		found, err := Find(ctx, c.store, e)
		if err == nil && c.restore && found.Have != nil { // taking it back may have been interrupted
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

// take claims a run. It fails if an active run is the same or has the same id, and returns that one. It also fails if
// claims have ended since their number was ended.
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

// end ends the claim. When the run is in the history, other runs there of the same files go.
func (c *claim) end(ctx context.Context, res *pipeline.Result, err error) error {
	c.inTurn(func() {}) // it may not have been looked up
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
