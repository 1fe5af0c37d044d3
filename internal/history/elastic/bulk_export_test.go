package elastic

import (
	"context"
	"errors"
	"fmt"
)

// Bulk sets the limit of a bulk request in bytes, and how many are sent at the same time.
func (e *Store) Bulk(bytes, requests int) *Store {
	e.body, e.slots = bytes, make(chan struct{}, requests)
	return e
}

// Body returns the present limit of a bulk request, in bytes.
func (e *Store) Body() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.body
}

// ReadBulk reads the answer to a bulk request. It fails with ErrBulkAnswer if it does not account for each document.
var (
	ReadBulk      = readBulk
	ErrBulkAnswer = errBulkAnswer
)

// Flush waits until each document put so far is stored or rejected, and makes them visible, so that Count counts them.
func (e *Store) Flush(ctx context.Context) error {
	var errs []error
	for of := range e.versions {
		_, err := e.settled(ctx, of)
		errs = append(errs, err)
	}
	if err := errors.Join(append(errs, e.client.Refresh(ctx, e.intervals()))...); err != nil {
		return e.fail(ctx, "write to", fmt.Errorf("flush documents: %w", err))
	}
	return nil
}
