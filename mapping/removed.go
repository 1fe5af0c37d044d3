package mapping

import (
	"reflect"
	"time"
)

// Removed is what a history keeps of a run that was removed, so that its files are not stored
// again. Its document has nothing that a run's document has: no reader and no dashboard takes it
// for a run.
type Removed struct {
	ID     string    `json:"id"`              // of the run
	Title  string    `json:"title,omitempty"` // as lists of runs show it
	Start  time.Time `json:"start,omitzero"`
	At     time.Time `json:"at"` // when it was removed
	Source Source    `json:"source,omitzero"`

	// What people had said about it, as an [Annotation].
	Labels map[string]string `json:"labels,omitempty"`
	Note   string            `json:"note,omitempty"`
}

// Annotation is what people had said about the run.
func (r *Removed) Annotation() Annotation {
	a := Annotation{Labels: r.Labels}
	if r.Note != "" {
		a.Note = &r.Note
	}
	return a
}

// RemovedField is the object in which a document has a [Removed].
const RemovedField = "removed"

// NewRemoved returns what a history keeps of a removed run. It has the hashes that identify the contents of its files,
// not their paths.
func NewRemoved(run *Run, title string, at time.Time) *Removed {
	r := &Removed{ID: run.Run.ID, Title: title, Start: run.Run.Start, At: at.UTC().Truncate(time.Millisecond)}
	r.Labels, r.Note = run.Run.Annotation().Labels, run.Run.Note
	r.Source.Files, r.Source.Bytes, r.Source.Hash = run.Source.Files, run.Source.Bytes, run.Source.Hash
	for i := range run.Source.List {
		if f := &run.Source.List[i]; f.isContent([]string{RoleReport, RoleLog, RoleRaw}) {
			r.Source.List = append(r.Source.List, SourceFile{Role: f.role(), Bytes: f.Bytes, Hash: f.Hash})
		}
	}
	return r
}

// DocumentID is the document's _id. No run has it.
func (r *Removed) DocumentID() string { return "removed." + r.ID }

// AppendJSON appends the document to dst, as [Run.AppendJSON].
func (r *Removed) AppendJSON(dst []byte) []byte {
	return append(appendObject(append(dst, `{"`+RemovedField+`":`...), reflect.ValueOf(r).Elem()), '}')
}
