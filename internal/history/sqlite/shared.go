package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Join implements [history.Store].
func (s *Store) Join(ctx context.Context, run *mapping.Run) (stored *mapping.Run, err error) {
	if err := run.Check(); err != nil {
		return nil, s.fail(ctx, "write to", err)
	}
	err = s.transact(ctx, func(tx *sql.Tx) (err error) {
		if stored, err = readRun(ctx, tx, run.Run.ID); !errors.Is(err, history.ErrNotFound) {
			return err
		}
		stored = run
		return s.putRun(ctx, tx, run)
	})
	return stored, s.fail(ctx, "write to", err)
}

// PutPart implements [history.Store].
func (s *Store) PutPart(ctx context.Context, p *mapping.Part) error {
	err := p.Check()
	replaced := false
	if err == nil {
		err = s.transact(ctx, func(tx *sql.Tx) error {
			row := tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM runs WHERE id = ? AND ingest = ?)`, p.Run, p.Ingest)
			if err := row.Scan(&replaced); err != nil {
				return fmt.Errorf("find run: %w", err)
			}
			if replaced {
				return remove(ctx, tx, `run = ? AND ingest = ?`, p.Run, p.Ingest)
			}
			if _, err := tx.ExecContext(ctx, insertPart, p.ID(), p.Run, p.Ingest, pack(p.AppendJSON)); err != nil {
				return fmt.Errorf("insert part: %w", err)
			}
			if _, err := tx.ExecContext(ctx, insertFiles, p.ID(), list(p.Files), list(p.Files)); err != nil {
				return fmt.Errorf("insert hashes of a part: %w", err)
			}
			_, err := s.begin(ctx, tx, history.Version{Run: p.Run, Ingest: p.Ingest}) // by which its parts are removed
			return err
		})
	}
	if err == nil && replaced {
		s.forget(p.Run, "")
		err = history.ErrReplaced
	}
	return s.fail(ctx, "write to", err)
}

const insertPart = `INSERT INTO parts (id, run, ingest, doc) VALUES (?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET ingest = excluded.ingest, doc = excluded.doc`

// Now implements [history.Store].
func (s *Store) Now(context.Context) (time.Time, error) { return time.Now(), nil }

// Parts implements [history.Store].
func (s *Store) Parts(ctx context.Context, runID string) (parts []*mapping.Part, err error) {
	err = s.each(ctx, func(rows *sql.Rows) error {
		var blob sql.RawBytes
		if err := rows.Scan(&blob); err != nil {
			return err
		}
		return unpack(blob, func(text []byte) error {
			p, err := mapping.ReadPart(text)
			parts = append(parts, p)
			return err
		})
	}, `SELECT doc FROM parts WHERE run = ?`, runID)
	slices.SortFunc(parts, func(a, b *mapping.Part) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Unit, b.Unit)) })
	return parts, s.fail(ctx, "read", err)
}
