package ingest

import "sync"

// mostFinishing is how many runs are finished at the same time. Each needs about 100 KB of memory.
const mostFinishing = 256

// finishing finishes runs in a cluster while other runs are read.
type finishing struct {
	slots   chan struct{} // nil: each run is finished before the next one is read
	pending sync.WaitGroup
}

func newFinishing(isCluster bool) *finishing {
	if !isCluster {
		return &finishing{}
	}
	return &finishing{slots: make(chan struct{}, mostFinishing)}
}

// run calls finish, directly or in the background.
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
