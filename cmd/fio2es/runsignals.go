package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/record"
)

// signals passes signals to fio while it runs. When no fio runs, a signal ends the command.
type signals struct {
	ctx  context.Context // ends with a signal while no fio runs
	stop func()

	mu      sync.Mutex
	fio     *record.Process
	stopped bool // a signal came
}

func newSignals(parent context.Context) *signals {
	// not with parent, which the first signal ends, because fio needs time to end
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	incoming := make(chan os.Signal, 8)
	signal.Notify(incoming, record.Signals...)
	s := &signals{ctx: ctx, stopped: parent.Err() != nil}
	s.stop = func() {
		signal.Stop(incoming)
		cancel()
	}
	go func() {
		for {
			select {
			case sig := <-incoming:
				s.take(sig, cancel)
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

func (s *signals) take(sig os.Signal, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.fio == nil {
		cancel()
		return
	}
	s.fio.Signal(sig)
}

// passTo sets the fio that gets the signals. nil means that none runs.
func (s *signals) passTo(fio *record.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fio = fio; fio != nil && s.stopped { // the signal came before fio was started
		fio.Signal(os.Interrupt)
	}
}

// pause waits for d. It returns false if a signal came.
func (s *signals) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
	case <-s.ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.stopped
}
