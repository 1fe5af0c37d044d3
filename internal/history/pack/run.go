package pack

import (
	"sync"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Summary returns what lists need of a run document ([mapping.Run.Light]), packed, in mapping's compact form.
func Summary(run *mapping.Run) []byte { return Document(run.AppendLight) }

// Reading says what is needed of a summary. The zero value needs all.
type Reading struct {
	stages []history.Stage
	needed mapping.Members // 0: all
}

// ReadingOf returns what a list of the runs that f selects needs.
func ReadingOf(f *history.RunFilter) Reading { return Reading{f.Stages(), f.Needed()} }

// unneeded has empty run documents for those that a list turns out not to need. Each takes 1 KB, and most lists need few runs.
var unneeded = sync.Pool{New: func() any { return new(mapping.Run) }}

// Run reads a packed run document, or a summary.
func Run(blob []byte) (*mapping.Run, error) { return Reading{}.Run(blob) }

// Run reads a packed summary, or a packed run document. The run is nil if the list does not need it.
func (r Reading) Run(blob []byte) (run *mapping.Run, err error) {
	err = Read(blob, func(text []byte) (err error) {
		if !mapping.IsLight(text) {
			run, err = history.DecodeRun(text)
			return err
		}
		run = unneeded.Get().(*mapping.Run)
		have := mapping.Members(0)
		for _, s := range r.stages {
			if err = run.UnmarshalLight(text, s.Members&^have); err != nil {
				return err
			}
			if !s.Passes(run) {
				*run = mapping.Run{}
				unneeded.Put(run)
				run = nil
				return nil
			}
			have |= s.Members
		}
		if r.needed == 0 {
			r.needed = mapping.AllMembers
		}
		if err = run.UnmarshalLight(text, r.needed&^have); err == nil && (run.Run.ID == "" || run.Run.Ingest == "") {
			err = mapping.ErrIdentity
		}
		return err
	})
	return run, err
}
