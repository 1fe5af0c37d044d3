package sqlite

import (
	"context"
	"database/sql"
)

// Recall returns those of the texts under these keys that Remember stored.
func (s *Store) Recall(ctx context.Context, keys []string) (map[string]string, error) {
	texts := map[string]string{}
	err := s.each(ctx, func(rows *sql.Rows) error {
		var key, text string
		err := rows.Scan(&key, &text)
		texts[key] = text
		return err
	}, `SELECT key, text FROM memos WHERE key IN (SELECT value FROM json_each(?))`, list(keys))
	return texts, s.fail(ctx, "read", err)
}

// Remember stores texts by key, with the day since 1970-01-01. It forgets texts that were last stored before oldest.
func (s *Store) Remember(ctx context.Context, texts map[string]string, day, oldest int) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx, `INSERT OR REPLACE INTO memos (key, text, day) VALUES (?, ?, ?)`)
		if err != nil {
			return err
		}
		defer insert.Close()
		for key, text := range texts {
			if _, err := insert.ExecContext(ctx, key, text, day); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM memos WHERE day < ?`, oldest)
		return err
	})
	return s.fail(ctx, "write to", err)
}
