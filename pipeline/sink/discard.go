package sink

import (
	"context"
	"fmt"
	"sync"

	"github.com/fio2es/fio2es/mapping"
)

// Discard checks and counts documents and drops them: a dry run. The zero value is
// ready, and safe for concurrent use.
type Discard struct {
	mu    sync.Mutex
	count Count
}

// Count is how many documents a sink was given.
type Count struct {
	Intervals mapping.Documents // by level
	Runs      int
}

// Put implements [Sink].
func (d *Discard) Put(ctx context.Context, docs []*mapping.Interval) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("count documents: %w", err)
	}
	for _, doc := range docs {
		if err := doc.Check(); err != nil {
			return fmt.Errorf("count documents: %w", err)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, doc := range docs {
		d.count.Intervals.Add(doc.Level, 1)
	}
	return nil
}

// Finish implements [Sink].
func (d *Discard) Finish(ctx context.Context, run *mapping.Run) error {
	err := ctx.Err()
	if err == nil {
		err = run.Check()
	}
	if err != nil {
		return fmt.Errorf("count documents: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count.Runs++
	return nil
}

// Count is what was put and finished so far.
func (d *Discard) Count() Count {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}
