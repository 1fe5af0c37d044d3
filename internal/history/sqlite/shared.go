package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/pack"
	"github.com/fio2es/fio2es/mapping"
)

// Join implements [history.Store].
func (s *Store) Join(ctx context.Context, run *mapping.Run) (stored *mapping.Run, err error) {
	if err := run.Check(); err != nil {
		return nil, s.fail(ctx, "write to", err)
	}
	err = s.transact(ctx, func(tx *transaction) (err error) {
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
		err = s.transact(ctx, func(tx *transaction) error {
			row := tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM runs WHERE id = ? AND ingest = ?)`, p.Run, p.Ingest)
			if err := row.Scan(&replaced); err != nil {
				return fmt.Errorf("find run: %w", err)
			}
			if replaced {
				return remove(ctx, tx, `run = ? AND ingest = ?`, p.Run, p.Ingest)
			}
			docs := []*mapping.Part{p.Sign()}
			if p.Document != nil {
				docs = append(docs, p.Rest())
			}
			for _, d := range docs {
				if _, err := tx.ExecContext(ctx, insertPart, d.ID(), p.Run, p.Ingest, pack.Document(d.AppendJSON)); err != nil {
					return fmt.Errorf("insert part: %w", err)
				}
			}
			if p.Document == nil {
				return nil
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
func (s *Store) Parts(ctx context.Context, runID string) ([]*mapping.Part, error) {
	docs, err := s.parts(ctx, `run = ?`, runID)
	return mapping.JoinParts(docs), err
}

// Signs implements [history.Store].
func (s *Store) Signs(ctx context.Context, runID string, _ bool) ([]*mapping.Part, error) {
	docs, err := s.parts(ctx, `run = ?`, runID)
	return slices.DeleteFunc(docs, func(p *mapping.Part) bool { return p.Document != nil }), err
}

// Sign implements [history.Store].
func (s *Store) Sign(ctx context.Context, of *mapping.Part) (*mapping.Part, error) {
	docs, err := s.parts(ctx, `run = ? AND id = ?`, of.Run, of.Sign().ID())
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	return docs[0], nil
}

// parts returns the documents of parts that a condition selects.
func (s *Store) parts(ctx context.Context, where string, args ...any) (docs []*mapping.Part, err error) {
	err = s.each(ctx, func(rows *sql.Rows) error {
		var blob sql.RawBytes
		if err := rows.Scan(&blob); err != nil {
			return err
		}
		return pack.Read(blob, func(text []byte) error {
			p, err := mapping.ReadPart(text)
			docs = append(docs, p)
			return err
		})
	}, `SELECT doc FROM parts WHERE `+where, args...)
	return docs, s.fail(ctx, "read", err)
}
