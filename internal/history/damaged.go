package history

import (
	"errors"
	"fmt"
)

// DamagedRunError is a run whose document cannot be read. It is an [ErrDamaged], and it
// does not end [Store.Runs].
type DamagedRunError struct {
	ID  string // empty if even that cannot be read
	Err error
}

func (e *DamagedRunError) Error() string {
	return fmt.Sprintf("the document of run %q cannot be read: fio2es check --repair removes it, then ingest its files again: %v", e.ID, e.Err)
}

// Unwrap makes it an [ErrDamaged].
func (e *DamagedRunError) Unwrap() []error { return []error{ErrDamaged, e.Err} }

// IsSkipped reports whether err is of one run alone, and other runs follow it.
func IsSkipped(err error) bool { return errors.As(err, new(*DamagedRunError)) }
