package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping"
)

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

func (c Counts) add(run, ingest string, level mapping.Level, n, pending int) {
	if c[run] == nil {
		c[run] = map[string]Count{}
	}
	d := c[run][ingest]
	d.Add(level, n)
	d.Pending += pending
	c[run][ingest] = d
}

// Count implements [Store].
func (s *SQLite) Count(ctx context.Context, runs []string, levels ...mapping.Level) (Counts, error) {
	out, err := s.count(ctx, runs, levels)
	if err != nil {
		return nil, s.fail(ctx, "read", fmt.Errorf("count documents: %w", err))
	}
	return out, nil
}

func (s *SQLite) count(ctx context.Context, runs []string, levels []mapping.Level) (Counts, error) {
	if len(levels) == 0 {
		levels = allLevels
	}
	wanted, _ := json.Marshal(numbers(levels)) // numbers cannot fail
	rows, err := s.reader.QueryContext(ctx, `SELECT g.run, g.ingest, l.value,
			(SELECT count(*) FROM intervals AS i WHERE i.ingest = g.number AND i.level = l.value AND i.part = 0)
		FROM ingests AS g, json_each(?) AS l WHERE ? OR g.run IN (SELECT value FROM json_each(?))`, string(wanted), len(runs) == 0, list(runs))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := Counts{}
	for rows.Next() {
		var run, ingest string
		var level mapping.Level
		var n int
		if err := rows.Scan(&run, &ingest, &level, &n); err != nil {
			return nil, err
		}
		out.add(run, ingest, level, n, 0)
	}
	return out, errors.Join(rows.Err(), s.checkFrozen())
}

var allLevels = []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job}

func numbers(levels []mapping.Level) (n []int) {
	for _, l := range levels {
		n = append(n, int(l))
	}
	return n
}

// MakeCurrent implements [Store]. No document is pending here.
func (s *SQLite) MakeCurrent(ctx context.Context, runID, ingest string) error {
	err := s.transact(ctx, func(tx *sql.Tx) error { return remove(ctx, tx, `run = ? AND ingest <> ?`, runID, ingest) })
	if err == nil {
		s.forget(runID, ingest)
	}
	return s.fail(ctx, "write to", err)
}

// Count implements [Store], in one request for a thousand versions.
func (e *Elastic) Count(ctx context.Context, runs []string, levels ...mapping.Level) (Counts, error) {
	out, chunks := Counts{}, slices.Collect(slices.Chunk(runs, mostTerms))
	if len(runs) == 0 {
		chunks = [][]string{nil}
	}
	for _, some := range chunks {
		var queries []any
		if len(some) > 0 {
			queries = append(queries, es.Terms("run.id", some))
		}
		if len(levels) > 0 {
			var names []string
			for _, l := range levels {
				names = append(names, l.String())
			}
			queries = append(queries, es.Terms("level", names))
		}
		if err := e.addCounts(ctx, out, es.All(queries...)); err != nil {
			return nil, e.fail(ctx, "read", err)
		}
	}
	return out, ctx.Err()
}

func (e *Elastic) addCounts(ctx context.Context, to Counts, query any) error {
	const verb = "count documents"
	const run, ingest, level, part = "run.id", "run.ingest", "level", "part" // a part but for the first of a document
	found, err := e.client.Groups(ctx, query, []string{run, ingest, level}, []string{part, mapping.PendingField}, e.intervals())
	if err != nil {
		return because(ctx, verb, err)
	}
	for _, g := range found {
		l, err := mapping.ParseLevel(g.Key[level])
		if err != nil {
			return fmt.Errorf("%s: %w", verb, err)
		}
		to.add(g.Key[run], g.Key[ingest], l, int(g.Documents-g.Having[part]), int(g.Having[mapping.PendingField]))
	}
	return nil
}

// MakeCurrent implements [Store]. Other versions go first: dashboards never see two.
func (e *Elastic) MakeCurrent(ctx context.Context, runID, ingest string) error {
	run, version := es.Term("run.id", runID), es.Term("run.ingest", ingest)
	_, err := e.remove(ctx, e.intervals(), es.All(run, es.None(version)))
	if err == nil {
		pending := es.All(run, version, es.Term(mapping.PendingField, "true"))
		_, err = e.client.UpdateAll(ctx, pending, mapping.ShowPending, e.intervals())
		err = because(ctx, "show documents", err)
	}
	return e.fail(ctx, "write to", err)
}
