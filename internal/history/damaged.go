package history

import (
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/mapping"
)

// DamagedRunError is the error of a run whose document cannot be read. It is an [ErrDamaged],
// and it does not end [Store.Runs].
type DamagedRunError struct {
	ID  string // empty if even that cannot be read
	Err error
}

func (e *DamagedRunError) Error() string {
	return fmt.Sprintf("the document of run %q cannot be read: fio2es check --repair removes it, then ingest its files again: %v", e.ID, e.Err)
}

// Unwrap makes it an [ErrDamaged].
func (e *DamagedRunError) Unwrap() []error { return []error{ErrDamaged, e.Err} }

// IsSkipped reports whether err concerns one run only, and other runs follow it.
func IsSkipped(err error) bool { return errors.As(err, new(*DamagedRunError)) }

// DecodeRun decodes a run's document. It fails if the document has no id or no version.
func DecodeRun(text []byte) (*mapping.Run, error) {
	run := new(mapping.Run)
	return run, checkRun(run, run.UnmarshalJSON(text))
}

func checkRun(run *mapping.Run, err error) error {
	if err == nil && (run.Run.ID == "" || run.Run.Ingest == "") {
		err = mapping.ErrIdentity
	}
	return err
}
