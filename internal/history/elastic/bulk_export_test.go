package elastic

import (
	"context"
	"fmt"
)

// Body returns the present limit of a body, in bytes.
func (e *Store) Body() int {
	e.writer.mu.Lock()
	defer e.writer.mu.Unlock()
	return e.writer.limit
}

// ReadBulk reads the answer to a bulk request. It fails with ErrBulkAnswer if it does not account for each document.
var (
	ReadBulk      = readBulk
	ErrBulkAnswer = errBulkAnswer
)

// Flush waits until each document put so far is stored or rejected, and makes them visible, so that Count counts them. It
// returns the error that ended the store. An error of a run's documents is returned by Finish for that run.
func (e *Store) Flush(ctx context.Context) error {
	w := e.writer
	w.mu.Lock()
	err := e.until(ctx, func() bool { return w.pending == 0 })
	w.mu.Unlock()
	if err == nil {
		err = e.client.Refresh(ctx, e.intervals())
	}
	if err != nil {
		return e.fail(ctx, "write to", fmt.Errorf("flush documents: %w", err))
	}
	return nil
}
