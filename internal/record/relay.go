package record

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"time"
)

// Relay passes signals to fio while it runs. When no fio runs, a signal ends the command.
type Relay struct {
	Context context.Context // ends with a signal while no fio runs
	Stop    func()          // ends the relay

	mu      sync.Mutex
	fio     *Process
	stopped bool // a signal came
}

// NewRelay returns a relay that takes all [Signals] until Stop is called. A signal that ended parent counts as one that came.
func NewRelay(parent context.Context) *Relay {
	// not with parent, which the first signal ends, because fio needs time to end
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	incoming := make(chan os.Signal, 8)
	signal.Notify(incoming, Signals...)
	s := &Relay{Context: ctx, stopped: parent.Err() != nil}
	s.Stop = func() {
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

// take passes a signal to fio, or ends the command.
func (s *Relay) take(sig os.Signal, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.fio == nil {
		cancel()
		return
	}
	s.fio.Signal(sig)
}

// PassTo sets the fio that gets the signals. nil means that none runs.
func (s *Relay) PassTo(fio *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fio = fio; fio != nil && s.stopped { // the signal came before fio was started
		fio.Signal(os.Interrupt)
	}
}

// Pause waits for d. It returns false if a signal came.
func (s *Relay) Pause(d time.Duration) bool {
	select {
	case <-time.After(d):
	case <-s.Context.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.stopped
}
