package ingest

import "sync"

// mostFinishing is how many runs are finished at a time. Each has some 100 KB in memory meanwhile.
const mostFinishing = 256

// finishing finishes runs in a cluster while others are read.
type finishing struct {
	slots   chan struct{} // nil: a run is finished before the next one is read
	pending sync.WaitGroup
}

func newFinishing(isCluster bool) *finishing {
	if !isCluster {
		return &finishing{}
	}
	return &finishing{slots: make(chan struct{}, mostFinishing)}
}

// run calls finish, now or beside what follows.
func (f *finishing) run(finish func()) {
	if f.slots == nil {
		finish()
		return
	}
	f.slots <- struct{}{}
	f.pending.Go(func() {
		finish()
		<-f.slots
	})
}

func (f *finishing) wait() { f.pending.Wait() }
