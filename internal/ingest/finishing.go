package ingest

import "sync"

// finishing finishes runs while others are read: a cluster finishes many at once as quickly as one.
type finishing struct {
	slots   chan struct{} // nil: runs are finished by whoever read them
	pending sync.WaitGroup
}

func newFinishing(most int) *finishing {
	if most <= 1 {
		return &finishing{}
	}
	return &finishing{slots: make(chan struct{}, most)}
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
