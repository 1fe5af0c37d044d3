package history

import "github.com/fio2es/fio2es/mapping"

// Counts are how many interval documents a history has: by run.id, then by run.ingest.
type Counts map[string]map[string]Count

// Count is of one version of a run.
type Count struct {
	mapping.Documents
	Pending int // that dashboards leave out: see [mapping.PendingField]
}

// Lack is how many interval documents of each level are missing of a run's version: those
// that its document has counted less those that there are.
func (c Counts) Lack(run *mapping.Run) mapping.Documents {
	have, lack := c[run.Run.ID][run.Run.Ingest].Documents, mapping.Documents{}
	for l := mapping.Cluster; l <= mapping.Job; l++ {
		lack.Add(l, max(run.Documents.Of(l)-have.Of(l), 0))
	}
	return lack
}

// IsWhole reports whether no document of a run's version is missing.
func (c Counts) IsWhole(run *mapping.Run) bool { return c.Lack(run) == mapping.Documents{} }

// IsCurrent reports whether all interval documents of a run are of its version, and none is
// pending.
func (c Counts) IsCurrent(run *mapping.Run) bool {
	return !c.HasOthers(run) && c[run.Run.ID][run.Run.Ingest].Pending == 0
}

// HasOthers reports whether there are interval documents of other versions of a run.
func (c Counts) HasOthers(run *mapping.Run) bool {
	for ingest := range c[run.Run.ID] {
		if ingest != run.Run.Ingest {
			return true
		}
	}
	return false
}

// Add counts n documents of a level of one version of a run; pending of them are.
func (c Counts) Add(run, ingest string, level mapping.Level, n, pending int) {
	if c[run] == nil {
		c[run] = map[string]Count{}
	}
	d := c[run][ingest]
	d.Add(level, n)
	d.Pending += pending
	c[run][ingest] = d
}
