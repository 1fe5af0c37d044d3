package history

import (
	"fmt"
	"strings"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Version is one version of one run: its id and its run.ingest.
type Version struct{ Run, Ingest string }

// VersionOf returns the version that a document belongs to.
func VersionOf(d *mapping.Interval) Version { return Version{d.Run.ID, d.Run.Ingest} }

// Counts is the number of interval documents in a history, by run.id and then by run.ingest.
type Counts map[string]map[string]Count

// Count is the number of interval documents of one version of a run. A document that was split counts once in its
// level.
type Count struct {
	mapping.Documents
	// parts after the first of split documents (see [mapping.Interval.Split]); always 0 in the embedded history
	Parts   int
	Pending int // documents that dashboards leave out: see [mapping.PendingField]
}

// All returns the number of stored documents. Each part of a split document counts.
func (c Count) All() int { return c.Documents.All() + c.Parts }

// Lack returns how many interval documents of each level are missing in a version of a run: the number in its run
// document less the number of stored ones.
func (c Counts) Lack(run *mapping.Run) mapping.Documents {
	have, lack := c[run.Run.ID][run.Run.Ingest].Documents, mapping.Documents{}
	for _, l := range mapping.Levels {
		lack.Add(l, max(run.Documents.Of(l)-have.Of(l), 0))
	}
	return lack
}

// LackText says how many documents of each level are missing in a run. It is empty if none is missing. Without
// levels it counts all levels.
func (c Counts) LackText(run *mapping.Run, levels ...mapping.Level) string {
	if len(levels) == 0 {
		levels = mapping.Levels[:]
	}
	lack := c.Lack(run)
	var texts []string
	for _, l := range levels {
		if n := lack.Of(l); n > 0 {
			texts = append(texts, fmt.Sprintf("%s of %s of level %s",
				unit.Count(int64(n)), unit.Plural(run.Documents.Of(l), "document"), l))
		}
	}
	return strings.Join(texts, ", ")
}

// IsWhole reports whether no interval document of a run is missing.
func (c Counts) IsWhole(run *mapping.Run) bool { return c.Lack(run) == mapping.Documents{} }

// IsCurrent reports whether all interval documents of a run belong to its version, and none is pending.
func (c Counts) IsCurrent(run *mapping.Run) bool {
	return !c.HasOthers(run.Run.ID, run.Run.Ingest) && c[run.Run.ID][run.Run.Ingest].Pending == 0
}

// HasOthers reports whether there are interval documents of other versions of a run.
func (c Counts) HasOthers(run, ingest string) bool {
	for other := range c[run] {
		if other != ingest {
			return true
		}
	}
	return false
}

// Add counts n documents of a level in a version of a run, and further parts of split documents. pending is how many
// of all these are pending.
func (c Counts) Add(run, ingest string, level mapping.Level, n, parts, pending int) {
	if c[run] == nil {
		c[run] = map[string]Count{}
	}
	d := c[run][ingest]
	d.Add(level, n)
	d.Parts += parts
	d.Pending += pending
	c[run][ingest] = d
}
