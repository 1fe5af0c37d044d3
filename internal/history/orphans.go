package history

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Orphan is an ingest that was begun and not finished: interrupted, or still going on.
type Orphan struct {
	RunID     string
	Ingest    string
	Documents int
	Written   time.Time // when documents were put last
}

const unfinished = `NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.id = ingests.run AND r.ingest = ingests.ingest)`

// Unfinished are the ingests that no reader sees yet, the oldest first.
func (s *SQLite) Unfinished(ctx context.Context) ([]Orphan, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT run, ingest, written,
		(SELECT count(*) FROM intervals AS i WHERE i.ingest = ingests.number)
		FROM ingests WHERE `+unfinished+` ORDER BY written, number`)
	if err != nil {
		return nil, s.fail(ctx, "read", err)
	}
	defer rows.Close()
	var out []Orphan
	for rows.Next() {
		var o Orphan
		var written int64
		if err := rows.Scan(&o.RunID, &o.Ingest, &written, &o.Documents); err != nil {
			return nil, s.fail(ctx, "read", err)
		}
		o.Written = time.UnixMilli(written).UTC()
		out = append(out, o)
	}
	return out, s.fail(ctx, "read", rows.Err())
}

// Purge removes what was put by ingests that were not finished and have written nothing
// since before; a recent one may still be going on in another process.
func (s *SQLite) Purge(ctx context.Context, before time.Time) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		return remove(ctx, tx, unfinished+` AND written < ?`, before.UnixMilli())
	})
	if err != nil {
		return s.fail(ctx, "write to", fmt.Errorf("purge: %w", err))
	}
	return nil
}
