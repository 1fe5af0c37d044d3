package mapping

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A shared run is a live run that several hosts send under one name, each the windows of its own jobs: documents of level
// [Host], on one grid. Each fio of a host is a [Part] of it.

// sharedPrefix begins the Ingest of a shared run. All its hosts have the same one.
const sharedPrefix = LivePrefix + "shared-"

// IsShared reports whether this version is sent by several hosts while fio runs.
func (r *RunInfo) IsShared() bool { return isShared(r.Ingest) }

// IsShared reports whether the document is of a version that several hosts send.
func (r *RunRef) IsShared() bool { return isShared(r.Ingest) }

func isShared(ingest string) bool { return strings.HasPrefix(ingest, sharedPrefix) }

// SharedIngest returns the Ingest of an attempt of a shared run, from 1.
func SharedIngest(attempt int) string { return sharedPrefix + strconv.Itoa(attempt) }

// SharedID returns the id of the execution that an attempt of the shared run of a name is.
func SharedID(name string, attempt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "shared %q attempt %d", name, attempt))
	return hex.EncodeToString(sum[:10])
}

// Part is what one fio on one host sends of a shared run. Its Document is large, and grows old slowly. What changes all the time is stored
// apart, in a small document of its own, a sign of life: [Part.Sign] has all but Files and Document, and [Part.Rest] has these.
type Part struct {
	Run    string `json:"run"`    // id of the run
	Ingest string `json:"ingest"` // of the run
	Host   string `json:"host"`
	Unit   string `json:"unit"` // name of the fio among those of its host
	// OffsetMS is what is added to the times of the windows before they are rounded to the grid. It is kept, so that a start of the jobs
	// that is known better later moves no window.
	OffsetMS int64 `json:"offset_ms"`
	// ClockMS is what was added to times of the clock of the host, to have those of the history, ± ClockErrorMS. It was measured when the
	// part began. All times of the part and of its Document have it.
	ClockMS      int64     `json:"clock_ms"`
	ClockErrorMS int64     `json:"clock_error_ms"`
	Seen         time.Time `json:"seen,omitzero"`     // when the host sent the part, or a sign of life
	Last         time.Time `json:"last,omitzero"`     // all of its windows before were sent
	Over         bool      `json:"over,omitempty"`    // its stage is over; its fio may run on
	Ended        time.Time `json:"ended,omitzero"`    // when its fio had ended and all was sent
	Exit         int       `json:"exit,omitempty"`    // code of its fio
	Windows      int       `json:"windows,omitempty"` // of the fio so far
	// Files are the hashes of its reports, by which an ingest of these knows the run: see [Source.Hashes].
	Files []string `json:"files,omitempty"`
	// Document is that of a run of this part alone: its totals, sections, options, clock and reports.
	Document *Run `json:"document,omitempty"`
}

// ID returns the document's _id. No run has this id.
func (p *Part) ID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", p.Run, p.Host, p.Unit))
	id := SharedField + "." + hex.EncodeToString(sum[:10])
	if p.Document == nil {
		id += ".seen"
	}
	return id
}

// Sign returns the sign of life of a part.
func (p *Part) Sign() *Part {
	sign := *p
	sign.Files, sign.Document = nil, nil
	return &sign
}

// Rest returns what the sign of life of a part has not. Its times are not in it, or it would look like a part that is silent.
func (p *Part) Rest() *Part {
	return &Part{Run: p.Run, Ingest: p.Ingest, Host: p.Host, Unit: p.Unit, Files: p.Files, Document: p.Document}
}

// JoinParts returns the parts, sorted by host and unit, of the two documents of each in any order.
func JoinParts(docs []*Part) (parts []*Part) {
	rest := map[string]*Part{}
	for _, d := range docs {
		if d.Document != nil {
			rest[d.Sign().ID()] = d
		}
	}
	for _, sign := range docs {
		if of := rest[sign.ID()]; of != nil {
			p := *sign
			p.Files, p.Document = of.Files, of.Document
			parts = append(parts, &p)
		}
	}
	slices.SortFunc(parts, func(a, b *Part) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Unit, b.Unit)) })
	return parts
}

// Check fails if the document is wrong: see [Run.Check].
func (p *Part) Check() error {
	if p.Run == "" || p.Host == "" || !isShared(p.Ingest) || !isTime(p.Seen) {
		return fmt.Errorf("check part %q of run %q: %w", p.Unit, p.Run, ErrIdentity)
	}
	if p.Document == nil {
		return nil
	}
	return p.Document.Check()
}

// AppendJSON appends the document to dst. It has no field of a run document but below [SharedField], so readers and dashboards do not
// take it for a run.
func (p *Part) AppendJSON(dst []byte) []byte {
	return append(appendObject(append(dst, `{"`+SharedField+`":`...), reflect.ValueOf(p).Elem()), '}')
}

// ReadPart is the inverse of [Part.AppendJSON].
func ReadPart(text []byte) (*Part, error) {
	var doc struct {
		Shared *Part `json:"shared"`
	}
	if err := json.Unmarshal(text, &doc); err != nil || doc.Shared == nil {
		return nil, fmt.Errorf("read a part of a run: %w (%v)", ErrUnreadable, err)
	}
	return doc.Shared, nil
}
