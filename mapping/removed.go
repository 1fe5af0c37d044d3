package mapping

import (
	"reflect"
	"time"
)

// Removed is what a history stores of a run that was removed, so that its files are not stored again. The document has
// no field of a run document, so readers and dashboards do not take it for a run.
type Removed struct {
	ID     string    `json:"id"`              // of the run
	Title  string    `json:"title,omitempty"` // as lists of runs show it
	Start  time.Time `json:"start,omitzero"`
	At     time.Time `json:"at"` // when it was removed
	Source Source    `json:"source,omitzero"`

	// What users said about the run, as in [Annotation].
	Labels map[string]string `json:"labels,omitempty"`
	Note   string            `json:"note,omitempty"`
}

// Annotation returns what users said about the run.
func (r *Removed) Annotation() Annotation {
	a := Annotation{Labels: r.Labels}
	if r.Note != "" {
		a.Note = &r.Note
	}
	return a
}

// RemovedField is the object of a document that has a [Removed].
const RemovedField = "removed"

// NewRemoved returns what a history stores of a removed run. It has the hashes of the files that identify the run, not
// their paths.
func NewRemoved(run *Run, title string, at time.Time) *Removed {
	r := &Removed{ID: run.Run.ID, Title: title, Start: run.Run.Start, At: at.UTC().Truncate(time.Millisecond)}
	r.Labels, r.Note = run.Run.Annotation().Labels, run.Run.Note
	r.Source.Files, r.Source.Bytes, r.Source.Hash = run.Source.Files, run.Source.Bytes, run.Source.Hash
	for i := range run.Source.List {
		if f := &run.Source.List[i]; f.isContent([]string{RoleReport, RoleLog, RoleRaw}) {
			r.Source.List = append(r.Source.List, SourceFile{Role: f.Role, Bytes: f.Bytes, Hash: f.Hash, Begin: f.Begin})
		}
	}
	return r
}

// DocumentID returns the document's _id. No run has this id.
func (r *Removed) DocumentID() string { return "removed." + r.ID }

// AppendJSON appends the document to dst, like [Run.AppendJSON].
func (r *Removed) AppendJSON(dst []byte) []byte {
	return append(appendObject(append(dst, `{"`+RemovedField+`":`...), reflect.ValueOf(r).Elem()), '}')
}
