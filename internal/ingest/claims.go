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
	store   history.Store // nil if the target is a file
	log     *slog.Logger
	restore bool // also store runs that people removed

	mu      sync.Mutex // held while a run is looked up, so that no claim ends meanwhile
	changed *sync.Cond // turn or active has changed
	turn    int        // the execution that is looked up next
	active  []*claim
	written []*mapping.Run // runs written to a file, without histograms
}

func newClaims(store history.Store, opt *Options) *claims {
	c := &claims{store: store, log: opt.Log, restore: opt.Restore}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// claim is one run of the call. It is claimed from known to end.
type claim struct {
	*claims
	n          int  // number of the execution in the call
	again      bool // the run is stored again, because the history lacks documents of it
	isLookedUp bool // or a stage behind the first of its execution, which waits for no other execution
	id         string
	of         *pipeline.Execution // nil before the run is claimed
	found      Found
}

// await waits until all earlier executions have been looked up, and gives the turn to the next one when the caller calls
// done. Otherwise which of two equal runs is stored would depend on which is read faster. The caller has locked mu.
func (c *claim) await() (done func()) {
	if c.isLookedUp {
		return func() {}
	}
	for c.turn != c.n {
		c.changed.Wait()
	}
	return func() {
		c.isLookedUp = true
		c.turn++
		c.changed.Broadcast()
	}
}

// known implements [pipeline.Known]. It finds the run in the history, or in the file written so far, and claims it until
// end. It waits while an equal run of the call is active.
func (c *claim) known(ctx context.Context, e *pipeline.Execution) (id string, have *mapping.Run, err error) {
	e.Restore = c.again
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.await()()
	defer context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})()
	for ctx.Err() == nil {
		found, err := c.find(ctx, e)
		if err != nil {
			return "", nil, err
		}
		isEqual := func(o *claim) bool {
			isOther := mapping.OtherStage(e.Stage, e.Stages, o.of.Stage, o.of.Stages)
			return o.id == found.ID || !isOther && mapping.SameExecution(&o.of.Source, &e.Source)
		}
		if !slices.ContainsFunc(c.active, isEqual) {
			c.id, c.of, c.found = found.ID, e, found
			c.active = append(c.active, c)
			for _, r := range found.Removed {
				e.Taken = append(e.Taken, r.Annotation())
			}
			return found.ID, found.Have, nil
		}
		c.changed.Wait()
	}
	return "", nil, ctx.Err()
}

// find looks a run up. It fails if the run is not to be stored.
func (c *claim) find(ctx context.Context, e *pipeline.Execution) (found Found, err error) {
	if c.store != nil {
		found, err = Find(ctx, c.store, e)
		// an earlier ingest that stored the removed run again may have been interrupted
		if err == nil && c.restore && found.Have != nil {
			found.Removed, err = removed(ctx, c.store, e)
		}
	} else {
		found = choose(e, c.written, same(e, c.written))
		if have := found.Have; have != nil && !have.Source.Contains(&e.Source) {
			err = refusedError{fmt.Errorf("%s:%s is not written, because it shares files with %s, which was written before: "+
				"name only the folder that has all of them", e.Run.Archive, e.Run.Name, facts.Title(have))}
		}
	}
	if err == nil && len(found.Removed) > 0 && !c.restore {
		err = removedError{found.Removed}
	}
	return found, err
}

// end ends the claim. If the run is in the history, end removes other runs with the same files.
func (c *claim) end(ctx context.Context, res *pipeline.Result, err error) error {
	c.mu.Lock()
	c.await()() // if it was not looked up
	c.mu.Unlock()
	if c.of == nil {
		return err
	}
	if err == nil && res.Run != nil {
		duplicates := contained(c.found.Duplicates, &res.Run.Source, &c.of.Source)
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
	c.changed.Broadcast()
	return err
}
