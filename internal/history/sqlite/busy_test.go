package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history"
)

// wait changes how long calls wait for other writers, until the test ends.
func wait(t *testing.T, time time.Duration) {
	before := busyTimeout
	busyTimeout = time
	t.Cleanup(func() { busyTimeout = before })
}

// TestBusy: a transaction of another process takes too long.
func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	first, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	wait(t, 50*time.Millisecond)
	second, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	docs := realistic(40)
	err = first.transact(t.Context(), func(*transaction) error {
		err := second.Put(t.Context(), docs)
		if !errors.Is(err, history.ErrBusy) || !strings.Contains(err.Error(), path) {
			t.Errorf("put while another writes: %v", err)
		}
		for _, err := range second.Intervals(t.Context(), history.Selection{}) {
			t.Errorf("read while another writes: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Put(t.Context(), docs); err != nil {
		t.Errorf("put afterwards: %v", err)
	}
	// Now both write in turn; each waits for the other.
	if err := first.Put(t.Context(), docs); err != nil {
		t.Errorf("put by the first: %v", err)
	}
}

// TestOpenTogether: several processes may create the file at the same time.
func TestOpenTogether(t *testing.T) {
	wait(t, time.Hour) // a busy machine may need a long time
	for range 10 {
		path := filepath.Join(t.TempDir(), "new", "h.db")
		var opening sync.WaitGroup
		for range 6 {
			opening.Go(func() {
				s, err := Open(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Put(t.Context(), realistic(3)); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		opening.Wait()
	}
}
