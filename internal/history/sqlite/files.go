package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

const (
	insertFile  = `INSERT INTO files (hash, run) VALUES (?, ?) ON CONFLICT DO NOTHING`
	deleteFiles = `DELETE FROM files WHERE run = ?`
)

// Holding implements [history.Store].
func (s *reader) Holding(ctx context.Context, hashes []string) ([]*mapping.Run, error) {
	if len(hashes) == 0 {
		return nil, ctx.Err()
	}
	var runs []*mapping.Run
	found := s.runs(ctx, unpackRun, `SELECT id, doc FROM runs
		WHERE id IN (SELECT run FROM files WHERE hash IN (SELECT value FROM json_each(?))) ORDER BY id`, list(hashes))
	for run, err := range history.Readable(found, nil) {
		if err != nil {
			return nil, err
		}
		runs = append(runs, run.WithFiles())
	}
	return runs, nil
}

// Versions implements [history.Store].
func (s *reader) Versions(ctx context.Context, ids []string) (map[string]*mapping.Run, error) {
	all := map[string]*mapping.Run{}
	for run, err := range s.runs(ctx, unpackRun, `SELECT runs.id, lights.doc FROM runs JOIN lights ON lights.start = runs.start AND lights.id = runs.id
		WHERE runs.id IN (SELECT value FROM json_each(?))`, list(ids)) {
		var damaged *history.DamagedRunError
		switch {
		case errors.As(err, &damaged):
			all[damaged.ID] = nil
		case err != nil:
			return nil, err
		default:
			all[run.Run.ID] = run
		}
	}
	return all, nil
}

// indexFiles stores the hashes of a run's files, so that the run is found by them.
func indexFiles(ctx context.Context, tx *sql.Tx, id string, src *mapping.Source) error {
	if _, err := tx.ExecContext(ctx, deleteFiles, id); err != nil {
		return fmt.Errorf("delete hashes of files: %w", err)
	}
	insert, err := tx.PrepareContext(ctx, insertFile)
	if err != nil {
		return fmt.Errorf("insert hashes of files: %w", err)
	}
	defer insert.Close()
	for _, hash := range src.Hashes() {
		if _, err := insert.ExecContext(ctx, hash, id); err != nil {
			return fmt.Errorf("insert hashes of files: %w", err)
		}
	}
	return nil
}
