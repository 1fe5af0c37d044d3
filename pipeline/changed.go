package pipeline

import (
	"fmt"

	"github.com/fio2es/fio2es/pipeline/source"
)

// statesOf returns the states of files on disk.
func statesOf(files []*source.File) (list []source.State) {
	for _, f := range files {
		list = append(list, f.State())
	}
	return list
}

// skipChanged reports files that changed while they were read. It is unknown which content was read. So these files
// have no hash, and the run is stored again when its files are read again. A file that was removed was open, or reading
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
