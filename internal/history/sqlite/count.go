package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Count implements [history.Store].
func (s *reader) Count(ctx context.Context, runs []string, levels ...mapping.Level) (history.Counts, error) {
	out, err := s.count(ctx, runs, levels)
	if err != nil {
		return nil, s.fail(ctx, "read", fmt.Errorf("count documents: %w", err))
	}
	return out, nil
}

func (s *reader) count(ctx context.Context, runs []string, levels []mapping.Level) (history.Counts, error) {
	if len(levels) == 0 {
		levels = mapping.Levels[:]
	}
	var wanted []int
	for _, l := range levels {
		wanted = append(wanted, int(l))
	}
	rows, err := s.db.QueryContext(ctx, `SELECT g.run, g.ingest, l.value,
			(SELECT count(*) FROM intervals AS i WHERE i.ingest = g.number AND i.level = l.value AND i.part = 0)
		FROM ingests AS g, json_each(?) AS l WHERE ? OR g.run IN (SELECT value FROM json_each(?))`, list(wanted), len(runs) == 0, list(runs))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := history.Counts{}
	for rows.Next() {
		var run, ingest string
		var level mapping.Level
		var n int
		if err := rows.Scan(&run, &ingest, &level, &n); err != nil {
			return nil, err
		}
		out.Add(run, ingest, level, n, 0, 0)
	}
	return out, errors.Join(rows.Err(), s.check())
}

// MakeCurrent implements [history.Store]. The embedded history has no pending documents. It removes nothing if another
// process has made another version current meanwhile.
func (s *writer) MakeCurrent(ctx context.Context, runID, ingest string) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		return remove(ctx, tx, `run = ?1 AND ingest <> ?2 AND EXISTS (SELECT 1 FROM runs WHERE runs.id = ?1 AND runs.ingest = ?2)`, runID, ingest)
	})
	if err == nil {
		s.forget(runID, ingest)
	}
	return s.fail(ctx, "write to", err)
}
