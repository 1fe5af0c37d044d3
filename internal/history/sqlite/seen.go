package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/fio2es/fio2es/internal/history"
)

// Recall returns what Remember stored, of those of the places that it knows.
func (s *Store) Recall(ctx context.Context, places []string) (seen map[string]history.Seen, err error) {
	err = s.each(ctx, func(rows *sql.Rows) error {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return err
		}
		return json.Unmarshal(text, &seen)
	}, `SELECT json_group_object(place, json_object('State', state, 'Runs', json(runs), 'Removed', json(removed), 'Said', json(said)))
		FROM seen WHERE place IN (SELECT value FROM json_each(?))`, list(places))
	return seen, s.fail(ctx, "read", err)
}

// Remember stores what ingests know of files, by place, instead of what it has stored of these places before.
func (s *Store) Remember(ctx context.Context, seen map[string]history.Seen) error {
	text, _ := json.Marshal(seen) // cannot fail: it has only texts
	return s.fail(ctx, "write to", s.transact(ctx, func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS seen (place TEXT PRIMARY KEY, state TEXT, runs TEXT, removed TEXT, said TEXT) WITHOUT ROWID`)
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO seen
				SELECT key, value ->> 'State', value -> 'Runs', value -> 'Removed', value -> 'Said' FROM json_each(?)`, string(text))
		}
		return err
	}))
}
