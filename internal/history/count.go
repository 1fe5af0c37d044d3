package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/fio2es/fio2es/internal/elastic"
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
			queries = append(queries, terms("run.id", some))
		}
		if len(levels) > 0 {
			var names []string
			for _, l := range levels {
				names = append(names, l.String())
			}
			queries = append(queries, terms("level", names))
		}
		if err := e.addCounts(ctx, out, all(queries...)); err != nil {
			return nil, e.fail(ctx, "read", err)
		}
	}
	return out, ctx.Err()
}

// addCounts counts values of fields. What aggregations call doc_count is no number of
// documents: it adds up _doc_count, the number of requests.
func (e *Elastic) addCounts(ctx context.Context, to Counts, query any) error {
	const verb, page = "count documents", 1000
	composite := map[string]any{"size": page, "sources": []any{source("run", "run.id"), source("ingest", "run.ingest"), source("level", "level")}}
	body := map[string]any{"size": 0, "track_total_hits": false, "query": query, "aggs": map[string]any{"versions": map[string]any{
		"composite": composite,
		"aggs": map[string]any{
			"documents": map[string]any{"value_count": map[string]any{"field": "run.id"}},
			"parts":     map[string]any{"value_count": map[string]any{"field": "part"}}, // but for the first of a document
			"pending":   map[string]any{"value_count": map[string]any{"field": mapping.PendingField}},
		},
	}}}
	for {
		var answer counted
		err := e.ask(ctx, verb, http.MethodPost, "/"+e.intervals()+"/_search?allow_partial_search_results=false", body, &answer)
		if errors.Is(err, ErrNoIndex) {
			return nil
		}
		if err == nil {
			err = answer.check(verb)
		}
		if err != nil {
			return err
		}
		versions := answer.Aggregations.Versions
		for _, b := range versions.Buckets {
			level, err := mapping.ParseLevel(b.Key.Level)
			if err != nil {
				return fmt.Errorf("%s: %w", verb, err)
			}
			to.add(b.Key.Run, b.Key.Ingest, level, b.Documents.Value-b.Parts.Value, b.Pending.Value)
		}
		if len(versions.After) == 0 || len(versions.Buckets) < page {
			return nil
		}
		composite["after"] = versions.After
	}
}

func source(name, field string) any {
	return map[string]any{name: map[string]any{"terms": map[string]any{"field": field}}}
}

// counted is the part of an answer that counts.
type counted struct {
	TimedOut     bool            `json:"timed_out"`
	Shards       *elastic.Shards `json:"_shards"`
	Aggregations struct {
		Versions struct {
			After   json.RawMessage `json:"after_key"`
			Buckets []struct {
				Key                       struct{ Run, Ingest, Level string }
				Documents, Parts, Pending struct{ Value int }
			}
		}
	}
}

func (c *counted) check(verb string) error {
	switch {
	case c.Shards == nil:
		return fmt.Errorf("%s: %w", verb, errOdd)
	case c.TimedOut:
		return fmt.Errorf("%s: the search ran out of time: %w", verb, ErrIncomplete)
	}
	return checkShards(verb, *c.Shards)
}

// MakeCurrent implements [Store]. Other versions go first: dashboards never see two.
func (e *Elastic) MakeCurrent(ctx context.Context, runID, ingest string) error {
	err := e.refresh(ctx, e.intervals()) // a removal sees what is refreshed
	if err == nil {
		_, err = e.remove(ctx, e.intervals(), all(term("run.id", runID), none(term("run.ingest", ingest))))
	}
	if err == nil {
		err = e.show(ctx, all(term("run.id", runID), term("run.ingest", ingest), term(mapping.PendingField, "true")))
	}
	if errors.Is(err, ErrNoIndex) {
		return nil
	}
	return e.fail(ctx, "write to", err)
}
