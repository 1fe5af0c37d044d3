package history

import (
	"errors"
	"fmt"
	"iter"

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

// Readable leaves out the runs of a list that cannot be read. skip, unless it is nil, gets the error of each.
func Readable(runs iter.Seq2[*mapping.Run, error], skip func(error)) iter.Seq2[*mapping.Run, error] {
	return func(yield func(*mapping.Run, error) bool) {
		for run, err := range runs {
			if IsSkipped(err) {
				if skip != nil {
					skip(err)
				}
			} else if !yield(run, err) {
				return
			}
		}
	}
}

// Collect returns the runs of a list that can be read. skip is as for [Readable].
func Collect(runs iter.Seq2[*mapping.Run, error], skip func(error)) (list []*mapping.Run, err error) {
	for run, err := range Readable(runs, skip) {
		if err != nil {
			return nil, err
		}
		list = append(list, run)
	}
	return list, nil
}

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
