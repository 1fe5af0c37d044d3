package history

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/mapping"
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

// runDoc is a run's document, or why it cannot be read.
type runDoc struct {
	run *mapping.Run
	id  string
	err error
}

// UnmarshalJSON never fails, so that one document does not spoil a page of them.
func (d *runDoc) UnmarshalJSON(text []byte) error {
	*d = runDoc{run: new(mapping.Run)}
	if d.err = json.Unmarshal(text, d.run); d.err == nil && (d.run.Run.ID == "" || d.run.Run.Ingest == "") {
		d.err = mapping.ErrIdentity
	}
	var of struct{ Run struct{ ID string } }
	_ = json.Unmarshal(text, &of) // as far as that goes
	d.id = of.Run.ID
	return nil
}

// result is the run, or a [DamagedRunError].
func (d *runDoc) result() (*mapping.Run, error) {
	if d.err != nil {
		return nil, &DamagedRunError{d.id, d.err}
	}
	return d.run, nil
}
