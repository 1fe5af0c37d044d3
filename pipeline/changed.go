package pipeline

import (
	"fmt"

	"github.com/fio2es/fio2es/pipeline/source"
)

// statesOf returns the states on disk of some files.
func statesOf(files []*source.File) (list []source.State) {
	for _, f := range files {
		list = append(list, f.State())
	}
	return list
}

// skipChanged reports files that are no longer as they were before. What was read of them is not known, so they have no
// hash, and the run is stored again when its files are read again. A file that was removed meanwhile was open, or reading
// it failed.
func (e *Execution) skipChanged(files []*source.File, before []source.State, problems *Problems) {
	for i, now := range statesOf(files) {
		if now == before[i] || now == (source.State{}) {
			continue
		}
		problems.skip(fmt.Errorf("%s: %w, so numbers may be of two states of it: read it again when nothing writes to it",
			files[i].Name(), source.ErrChanged))
		for j := range e.Source.List {
			if of := &e.Source.List[j]; of.Path == files[i].Path {
				of.Hash = ""
			}
		}
	}
}
