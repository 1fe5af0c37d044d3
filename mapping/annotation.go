package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Annotation is what users say about a run after it was stored.
type Annotation struct {
	Labels map[string]string // labels to set; an empty value removes the label
	Note   *string           // note to set; nil changes nothing, an empty note is removed
	Weak   bool              // do not change labels that users changed, or a note
}

// The limits of an annotation, in bytes. Elasticsearch does not index longer labels.
const (
	MaxLabel = 1024 // of a label's name, and of its value
	MaxNote  = 16 << 10
)

// ErrAnnotation means that no store accepts the annotation.
var ErrAnnotation = errors.New("not a label or a note")

// Check fails with [ErrAnnotation] if a store would refuse the annotation.
func (a *Annotation) Check() error {
	for name, value := range a.Labels {
		for _, text := range []string{name, value} {
			if len(text) > MaxLabel || !utf8.ValidString(text) {
				return fmt.Errorf("%w: label %.40q=%.40q: a name and a value have at most %d bytes of UTF-8", ErrAnnotation, name, value, MaxLabel)
			}
		}
		if strings.Trim(name, ".") != name || strings.TrimSpace(name) == "" {
			return fmt.Errorf("%w: label %q=%q: its name is empty, or begins or ends with a dot", ErrAnnotation, name, value)
		}
	}
	if a.Note != nil && (len(*a.Note) > MaxNote || !utf8.ValidString(*a.Note)) {
		return fmt.Errorf("%w: the note has %d bytes; at most %d of UTF-8 are stored", ErrAnnotation, len(*a.Note), MaxNote)
	}
	return nil
}

// Annotate changes the labels and the note. Edited keeps the ingest's values of changed labels.
func (r *RunInfo) Annotate(a Annotation) {
	given := r.GivenLabels()
	labels, edited := maps.Clone(r.Labels), maps.Clone(r.Edited)
	for name, value := range a.Labels {
		if _, isEdited := r.Edited[name]; isEdited && a.Weak {
			continue
		}
		if labels == nil {
			labels = map[string]string{}
		}
		if edited == nil {
			edited = map[string]string{}
		}
		labels[name], edited[name] = value, given[name]
	}
	r.setLabels(labels, edited)
	if a.Note != nil && (r.Note == "" || !a.Weak) {
		r.Note = *a.Note
	}
}

// AnnotateAs gives the run exactly the labels and the note that users gave to another version of the run. It reports
// whether the run changed.
func (r *RunInfo) AnnotateAs(other *RunInfo) bool {
	given := RunInfo{Labels: r.GivenLabels()}
	given.Annotate(other.Annotation())
	if maps.Equal(r.Labels, given.Labels) && maps.Equal(r.Edited, given.Edited) && r.Note == given.Note {
		return false
	}
	r.Labels, r.Edited, r.Note = given.Labels, given.Edited, given.Note
	return true
}

// setLabels removes labels without a value, and edits that change nothing.
func (r *RunInfo) setLabels(labels, edited map[string]string) {
	maps.DeleteFunc(edited, func(name, given string) bool { return labels[name] == given })
	maps.DeleteFunc(labels, func(_, value string) bool { return value == "" })
	if r.Labels = labels; len(labels) == 0 {
		r.Labels = nil
	}
	if r.Edited = edited; len(edited) == 0 {
		r.Edited = nil
	}
}

// Annotation returns what users changed, to make the same changes to another version of the run.
func (r *RunInfo) Annotation() Annotation {
	a := Annotation{}
	for name := range r.Edited {
		if a.Labels == nil {
			a.Labels = map[string]string{}
		}
		a.Labels[name] = r.Labels[name]
	}
	if r.Note != "" {
		a.Note = &r.Note
	}
	return a
}

// IsZero reports whether the annotation changes nothing.
func (a *Annotation) IsZero() bool { return len(a.Labels) == 0 && a.Note == nil }

// GivenLabels returns the labels that the ingest gave the run, without the changes of users.
func (r *RunInfo) GivenLabels() map[string]string {
	given := maps.Clone(r.Labels)
	for name, value := range r.Edited {
		if value != "" && given == nil {
			given = map[string]string{}
		}
		if given[name] = value; value == "" {
			delete(given, name)
		}
	}
	return given
}

// Edit returns a text that identifies the labels of a run if users changed some, else "". All interval documents of the
// run have it as run.edit, so documents with older labels can be found.
func (r *RunInfo) Edit() string {
	if len(r.Edited) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		fmt.Fprintf(sum, "%q=%q ", name, r.Labels[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Relabel gives an interval document the labels of its run. It reports whether the document changed.
func (d *Interval) Relabel(run *RunInfo) bool {
	if d.Run.Edit == run.Edit() && maps.Equal(d.Run.Labels, run.Labels) {
		return false
	}
	d.Run.Labels, d.Run.Edit = run.Labels, run.Edit()
	return true
}

// Relabel is a painless script that does the same as [Interval.Relabel]. Its parameters are labels and edit.
const Relabel = `if (params.labels.isEmpty()) { ctx._source.run.remove('labels') } else { ctx._source.run.labels = params.labels } ` +
	`if (params.edit.isEmpty()) { ctx._source.run.remove('edit') } else { ctx._source.run.edit = params.edit }`

// Removed is what a history stores of a run that was removed, so that its files are not stored again. The document has
// no field of a run document, so readers and dashboards do not take it for a run.
type Removed struct {
	ID     string    `json:"id"`              // of the run
	Title  string    `json:"title,omitempty"` // as lists of runs show it
	Start  time.Time `json:"start,omitzero"`
	At     time.Time `json:"at"` // when it was removed
	Source Source    `json:"source,omitzero"`
	Stage  int       `json:"stage,omitempty"` // as in [RunInfo]
	Stages int       `json:"stages,omitempty"`

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

// NewRemoved returns what a history stores of a removed run. It has the hashes of the files that identify the run, not
// their paths.
func NewRemoved(run *Run, title string, at time.Time) *Removed {
	r := &Removed{ID: run.Run.ID, Title: title, Start: run.Run.Start, Stage: run.Run.Stage, Stages: run.Run.Stages, At: at.UTC().Truncate(time.Millisecond)}
	r.Labels, r.Note = run.Run.Annotation().Labels, run.Run.Note
	r.Source.Files, r.Source.Bytes, r.Source.Hash = run.Source.Files, run.Source.Bytes, run.Source.Hash
	for i := range run.Source.List {
		if f := &run.Source.List[i]; f.isContent([]string{RoleReport, RoleLog, RoleRaw}) {
			r.Source.List = append(r.Source.List, SourceFile{Role: f.Role, Bytes: f.Bytes, Hash: f.Hash, Begin: f.Begin, Says: f.Says})
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
