package ingest

import (
	"context"
	"slices"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// claims makes runs of one call wait for one another if they are the same execution.
type claims struct {
	store          history.Store // nil if the target is a file
	restore, again bool          // as in Options

	// Executions are looked up in their order. Otherwise which of two equal runs is stored would depend on which is read
	// faster. The turn of an execution has come when its channel is closed.
	turns []chan struct{}

	// held while a run is looked up, so that no claim ends meanwhile; a channel, because in synctest time
	// stands still while a goroutine waits for a mutex
	looking chan struct{}
	active  []*claim
	written []*mapping.Run // runs written to a file, without histograms
}

// claim is one run of the call, from when it was looked up until it is stored or left out.
type claim struct {
	Found
	of    *pipeline.Execution
	ended chan struct{}
}

// newClaims returns the claims of a call with a number of executions.
func newClaims(store history.Store, opt *Options, executions int) *claims {
	c := &claims{store: store, restore: opt.Restore, again: opt.again, turns: make([]chan struct{}, executions+1), looking: make(chan struct{}, 1)}
	for i := range c.turns {
		c.turns[i] = make(chan struct{})
	}
	close(c.turns[0])
	return c
}

// pass waits for the turn of execution n, and gives it to the next one. A second call does nothing.
func (c *claims) pass(n int) {
	<-c.turns[n]
	select {
	case <-c.turns[n+1]:
	default:
		close(c.turns[n+1])
	}
}

// take looks up a stage of execution n in the history, or in the file written so far, and claims it until end. It waits
// for its turn, and while an equal run of the call is claimed.
func (c *claims) take(ctx context.Context, n int, e *pipeline.Execution) (*claim, error) {
	<-c.turns[n]
	defer c.pass(n)
	for {
		mine, equal, err := c.try(ctx, e)
		if err != nil || equal == nil {
			return mine, err
		}
		select {
		case <-equal.ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try claims a run unless an equal one is claimed.
func (c *claims) try(ctx context.Context, e *pipeline.Execution) (mine, equal *claim, err error) {
	c.looking <- struct{}{}
	defer func() { <-c.looking }()
	found, err := c.find(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range c.active {
		isOther := mapping.OtherStage(e.Run.Stage, e.Run.Stages, o.of.Run.Stage, o.of.Run.Stages)
		if o.ID == found.ID || !isOther && mapping.SameExecution(&o.of.Source, &e.Source) {
			return nil, o, nil
		}
	}
	mine = &claim{found, e, make(chan struct{})}
	c.active = append(c.active, mine)
	return mine, nil, nil
}

// find looks a run up.
func (c *claims) find(ctx context.Context, e *pipeline.Execution) (found Found, err error) {
	if c.store == nil {
		found = choose(e, c.written, same(e, c.written))
		found.InFile = true
		return found, ctx.Err()
	}
	found, err = Find(ctx, c.store, e)
	// an earlier ingest that stored the removed run again may have been interrupted
	if err == nil && c.restore && found.Have != nil {
		found.Removed, err = removed(ctx, c.store, e)
	}
	found.Lacking = c.again
	return found, err
}

// wrote notes that a run is in the file.
func (c *claims) wrote(run *mapping.Run) {
	c.looking <- struct{}{}
	defer func() { <-c.looking }()
	c.written = append(c.written, run.WithFiles())
}

// end ends a claim, if there is one.
func (c *claims) end(mine *claim) {
	if mine == nil {
		return
	}
	c.looking <- struct{}{}
	defer func() { <-c.looking }()
	c.active = slices.DeleteFunc(c.active, func(o *claim) bool { return o == mine })
	close(mine.ended)
}
