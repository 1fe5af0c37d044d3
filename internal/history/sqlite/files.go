package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	if s.version < withFiles { // an older file has no table of hashes
		isOne := func(hash string) bool { return slices.Contains(hashes, hash) }
		isWanted := func(run *mapping.Run) bool { return slices.ContainsFunc(run.Source.Hashes(), isOne) }
		return s.runsOf(ctx, isWanted, `SELECT id FROM runs`)
	}
	return s.runsOf(ctx, anyRun, `SELECT run FROM files WHERE hash IN (SELECT value FROM json_each(?))`, list(hashes))
}

func anyRun(*mapping.Run) bool { return true }

// Sharing returns the runs that have a report or a log in common with another run, by id and without histograms.
func (s *reader) Sharing(ctx context.Context) ([]*mapping.Run, error) {
	return s.runsOf(ctx, anyRun, `SELECT run FROM files WHERE hash IN (SELECT hash FROM files GROUP BY hash HAVING count(*) > 1)`)
}

// Versions implements [history.Store].
func (s *reader) Versions(ctx context.Context, ids []string) (map[string]*mapping.Run, error) {
	decode := func(blob []byte) (*mapping.Run, error) { return unpackBrief(blob, history.DecodeRun) }
	query := `SELECT runs.id, briefs.doc FROM runs JOIN briefs ON briefs.start = runs.start AND briefs.id = runs.id`
	if s.version < withBriefs {
		decode, query = s.codec.unpackRun, `SELECT id, light FROM runs`
	}
	all := map[string]*mapping.Run{}
	for run, err := range s.runs(ctx, decode, query+` WHERE runs.id IN (SELECT value FROM json_each(?))`, list(ids)) {
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

// runsOf returns the wanted ones of the runs whose ids a query returns. It skips damaged ones.
func (s *reader) runsOf(ctx context.Context, isWanted func(*mapping.Run) bool, ids string, args ...any) ([]*mapping.Run, error) {
	var runs []*mapping.Run
	found := s.runs(ctx, s.codec.unpackRun, `SELECT id, doc FROM runs WHERE id IN (`+ids+`) ORDER BY id`, args...)
	for run, err := range history.Readable(found, nil) {
		if err != nil {
			return nil, err
		}
		if isWanted(run) {
			runs = append(runs, run.WithFiles())
		}
	}
	return runs, nil
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

// indexOldFiles stores the hashes for all runs of a history of version 1, which had none, and returns the number of
// runs. It skips damaged documents.
func (s *writer) indexOldFiles(ctx context.Context, tx *sql.Tx) (int, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, doc FROM runs`)
	if err != nil {
		return 0, fmt.Errorf("read runs: %w", err)
	}
	defer rows.Close()
	sources := map[string]*mapping.Source{}
	for rows.Next() {
		var id string
		var blob sql.RawBytes
		if err := rows.Scan(&id, &blob); err != nil {
			return 0, fmt.Errorf("read runs: %w", err)
		}
		var run struct{ Source mapping.Source }
		if s.codec.unpack(blob, func(text []byte) error { return json.Unmarshal(text, &run) }) == nil {
			sources[id] = &run.Source
		}
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("read runs: %w", err)
	}
	for id, src := range sources {
		if err := indexFiles(ctx, tx, id, src); err != nil {
			return 0, err
		}
	}
	return len(sources), nil
}
