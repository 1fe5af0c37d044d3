package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/fio2es/fio2es/mapping"
)

// MarkRemoved implements [history.Store].
func (s *Store) MarkRemoved(ctx context.Context, r *mapping.Removed) error {
	return s.fail(ctx, "write to", s.transact(ctx, func(tx *sql.Tx) error {
		if err := restore(ctx, tx, r.ID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO removed (run, doc) VALUES (?, ?)`, r.ID, pack(r.AppendJSON)); err != nil {
			return fmt.Errorf("insert removed run: %w", err)
		}
		for _, hash := range r.Source.Hashes() {
			if _, err := tx.ExecContext(ctx, `INSERT INTO removed_files (hash, run) VALUES (?, ?)`, hash, r.ID); err != nil {
				return fmt.Errorf("insert hashes of removed files: %w", err)
			}
		}
		return nil
	}))
}

// Removed implements [history.Store].
func (s *reader) Removed(ctx context.Context, hashes []string) ([]*mapping.Removed, error) {
	if len(hashes) == 0 {
		return nil, ctx.Err()
	}
	var all []*mapping.Removed
	for r, err := range each(ctx, s, s.readRemoved, `SELECT doc FROM removed
		WHERE run IN (SELECT run FROM removed_files WHERE hash IN (SELECT value FROM json_each(?))) ORDER BY run`, list(hashes)) {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func (s *reader) readRemoved(rows *sql.Rows) (*mapping.Removed, error) {
	var blob sql.RawBytes
	if err := rows.Scan(&blob); err != nil {
		return nil, err
	}
	var doc struct{ Removed mapping.Removed }
	return &doc.Removed, unpack(blob, func(text []byte) error { return json.Unmarshal(text, &doc) })
}

// Restore implements [history.Store].
func (s *Store) Restore(ctx context.Context, runIDs ...string) error {
	return s.fail(ctx, "write to", s.transact(ctx, func(tx *sql.Tx) error { return restore(ctx, tx, runIDs...) }))
}

func restore(ctx context.Context, tx *sql.Tx, runIDs ...string) error {
	for _, statement := range []string{`DELETE FROM removed_files`, `DELETE FROM removed`} {
		if _, err := tx.ExecContext(ctx, statement+` WHERE run IN (SELECT value FROM json_each(?))`, list(runIDs)); err != nil {
			return fmt.Errorf("delete removed runs: %w", err)
		}
	}
	return nil
}
