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
	n          int  // number of the execution in the call
	again      bool // the run is stored again, because the history lacks documents of it
	isLater    bool // a stage behind the first of its execution
	isLookedUp bool
	id         string
	of         *pipeline.Execution
	found      Found
	over       chan struct{} // closed at the end; nil before the run is claimed
}

// lookUp calls do after all earlier executions have been looked up. Otherwise which of two equal runs is stored would
// depend on which is read faster. Later stages need not wait.
func (c *claim) lookUp(do func()) {
	if c.isLater {
		do()
		return
	}
	if c.isLookedUp = true; c.n > 0 {
		<-c.lookedUp[c.n-1]
	}
	do()
	close(c.lookedUp[c.n])
}

// known implements [pipeline.Known]. It finds the run in the history, or in the file written so far, and claims it until
// end. It waits while an equal run of the call is active.
func (c *claim) known(ctx context.Context, e *pipeline.Execution) (id string, have *mapping.Run, err error) {
	e.Restore = c.again
	c.lookUp(func() { id, have, err = c.find(ctx, e) })
	return id, have, err
}

// find implements known.
func (c *claim) find(ctx context.Context, e *pipeline.Execution) (id string, have *mapping.Run, err error) {
	for {
		c.mu.Lock()
		ended, written := c.ended, slices.Clone(c.written)
		c.mu.Unlock()
		var found Found
		if c.store != nil {
			found, err = Find(ctx, c.store, e)
			// an earlier ingest that stored the removed run again may have been interrupted
			if err == nil && c.restore && found.Have != nil {
				found.Removed, err = removed(ctx, c.store, e)
			}
		} else {
			found = choose(e, written, same(e, written))
			if have := found.Have; have != nil && !have.Source.Contains(&e.Source) {
				err = refusedError{fmt.Errorf("%s:%s is not written, because it shares files with %s, which was written before: "+
					"name only the folder that has all of them", e.Run.Archive, e.Run.Name, facts.Title(have))}
			}
		}
		if err == nil && len(found.Removed) > 0 && !c.restore {
			err = removedError{found.Removed}
		}
		if err != nil {
			return "", nil, err
		}
		c.mu.Lock()
		equal := slices.IndexFunc(c.active, func(o *claim) bool {
			isOther := mapping.OtherStage(e.Stage, e.Stages, o.of.Stage, o.of.Stages)
			return o.id == found.ID || !isOther && mapping.SameExecution(&o.of.Source, &e.Source)
		})
		var over chan struct{}
		switch {
		case equal >= 0:
			over = c.active[equal].over
		case c.ended == ended:
			c.id, c.of, c.found, c.over = found.ID, e, found, make(chan struct{})
			c.active = append(c.active, c)
			c.mu.Unlock()
			for _, r := range found.Removed {
				e.Taken = append(e.Taken, r.Annotation())
			}
			return found.ID, found.Have, nil
		}
		c.mu.Unlock()
		if equal < 0 { // a claim has ended since the history was read
			continue
		}
		select {
		case <-over:
		case <-ctx.Done():
			return "", nil, ctx.Err()
		}
	}
}

// end ends the claim. If the run is in the history, end removes other runs with the same files.
func (c *claim) end(ctx context.Context, res *pipeline.Result, err error) error {
	if !c.isLookedUp {
		c.lookUp(func() {})
	}
	if c.over == nil {
		return err
	}
	if err == nil && res.Run != nil {
		duplicates := contained(res.Run, c.found.Duplicates)
		if !res.Unchanged {
			duplicates = append(duplicates, c.found.Replaced...)
		}
		if err = removeDuplicates(ctx, c.store, res.Run, duplicates, c.log); err == nil {
			err = takeBack(ctx, c.store, res.Run.Run.ID, c.found.Removed, c.log)
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
