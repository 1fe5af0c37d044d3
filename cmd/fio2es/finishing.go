package main

import (
	"context"
	"sync"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// finishing ends runs while others are read already: a cluster ends many at once as
// quickly as one.
type finishing struct {
	room  chan struct{} // for the runs that are ended at the same time
	under sync.WaitGroup
}

// newFinishing ends up to n runs at the same time; 1 is one after the other, and waits.
func newFinishing(n int) *finishing { return &finishing{room: make(chan struct{}, n)} }

// mostFinishing is how many runs are ended at the same time in a cluster. Their documents
// are in memory meanwhile, a hundred kilobytes at most each.
const mostFinishing = 256

// end calls finish, which is to end with its context.
func (f *finishing) end(finish func()) {
	if cap(f.room) <= 1 {
		finish()
		return
	}
	f.room <- struct{}{}
	f.under.Go(func() {
		finish()
		<-f.room
	})
}

// wait returns when all are ended.
func (f *finishing) wait() { f.under.Wait() }

// unfinished is a sink that leaves the end of the run to whoever made it.
type unfinished struct {
	pipeline.Sink
	run *mapping.Run // whose documents were put; nil before that
}

// Finish implements [pipeline.Sink].
func (u *unfinished) Finish(_ context.Context, run *mapping.Run) error {
	u.run = run
	return nil
}
