package history

import (
	"errors"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json"

	"github.com/fio2es/fio2es/mapping"
)

// DamagedRunError means that the document of one run cannot be read. It wraps [ErrDamaged]. It does not end
// [Store.Runs].
type DamagedRunError struct {
	ID  string // id of the run; empty if the id cannot be read either
	Err error
}

func (e *DamagedRunError) Error() string {
	return fmt.Sprintf("the document of run %q cannot be read: fio2es check --repair removes it, then ingest its files again: %v", e.ID, e.Err)
}

// Unwrap returns [ErrDamaged] and Err.
func (e *DamagedRunError) Unwrap() []error { return []error{ErrDamaged, e.Err} }

// IsSkipped reports whether err concerns only one run of a list, so that the list continues.
func IsSkipped(err error) bool { return errors.As(err, new(*DamagedRunError)) }

// Readable removes unreadable runs from a list. It calls skip with the error of each; skip may be nil.
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

// Collect returns the readable runs of a list as a slice. skip is as in [Readable].
func Collect(runs iter.Seq2[*mapping.Run, error], skip func(error)) (list []*mapping.Run, err error) {
	for run, err := range Readable(runs, skip) {
		if err != nil {
			return nil, err
		}
		list = append(list, run)
	}
	return list, nil
}

// DecodeRun decodes a run document. It fails if the document has no id or no version.
func DecodeRun(text []byte) (*mapping.Run, error) {
	run := new(mapping.Run)
	err := json.Unmarshal(text, run)
	if err == nil && (run.Run.ID == "" || run.Run.Ingest == "") {
		err = mapping.ErrIdentity
	}
	return run, err
}
