package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/pack"
	"github.com/fio2es/fio2es/mapping"
)

// Annotate implements [history.Store], in one transaction.
func (s *Store) Annotate(ctx context.Context, runID string, a mapping.Annotation) (run *mapping.Run, err error) {
	defer func() { err = s.fail(ctx, "write to", err) }()
	if err := a.Check(); err != nil {
		return nil, err
	}
	err = s.transact(ctx, func(tx *transaction) (err error) {
		if run, err = readRun(ctx, tx, runID); err != nil {
			return err
		}
		before := run.Run
		run.Run.Annotate(a)
		if err := s.putRun(ctx, tx, run); err != nil {
			return fmt.Errorf("update run: %w", err)
		}
		if maps.Equal(before.Labels, run.Run.Labels) && before.Edit() == run.Run.Edit() && !a.IsZero() {
			return nil // only the note has changed
		}
		return s.relabel(ctx, tx, &run.Run)
	})
	return run, err
}

// readRun returns the run with this full id. It fails with [history.ErrNotFound] or a [history.DamagedRunError].
func readRun(ctx context.Context, tx *transaction, id string) (*mapping.Run, error) {
	var blob []byte
	switch err := tx.QueryRowContext(ctx, findRun, id).Scan(&blob); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("find run %q: %w", id, history.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("read run: %w", err)
	}
	run, err := pack.Run(blob)
	if err != nil {
		return nil, &history.DamagedRunError{ID: id, Err: err}
	}
	return run, nil
}

// relabel sets the labels of a run in its interval documents: in what they have in common, and in those of version 1, some
// hundred documents at a time.
func (s *Store) relabel(ctx context.Context, tx *transaction, run *mapping.RunInfo) error {
	var number int64
	switch err := tx.QueryRowContext(ctx, `SELECT number FROM ingests WHERE run = ? AND ingest = ?`, run.ID, run.Ingest).Scan(&number); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("find documents: %w", err)
	}
	if err := relabelCommons(ctx, tx, number, run); err != nil {
		return err
	}
	after := new(mapping.Interval) // sorts before all documents, because a level is at least 1
	for {
		docs, err := following(ctx, tx, number, after)
		if err != nil || len(docs) == 0 {
			return err
		}
		var old []*mapping.Interval
		for _, d := range docs {
			if d.Relabel(run) {
				old = append(old, d)
			}
		}
		blobs, err := packAll(old)
		if err == nil {
			err = s.put(ctx, tx, old, blobs, map[history.Version]int64{{Run: run.ID, Ingest: run.Ingest}: number})
		}
		if err != nil {
			return err
		}
		after = docs[len(docs)-1]
	}
}

// relabelCommons sets the labels in what the documents of a version have in common. Their ids stay.
func relabelCommons(ctx context.Context, tx *transaction, number int64, run *mapping.RunInfo) error {
	blobs := map[int64][]byte{}
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		var blob sql.RawBytes
		if err := rows.Scan(&id, &blob); err != nil {
			return err
		}
		var d mapping.Interval
		err := pack.Read(blob, func(text []byte) error { return json.Unmarshal(text, &d) })
		if d.Relabel(run) {
			blobs[id] = pack.Document(d.AppendJSON)
		}
		return err
	}, `SELECT id, doc FROM commons WHERE ingest = ?`, number)
	for id, blob := range blobs {
		if err == nil {
			_, err = tx.ExecContext(ctx, insertCommon, number, id, blob)
		}
	}
	if err != nil {
		return fmt.Errorf("relabel documents: %w", err)
	}
	return nil
}

// following returns the documents of a version that come after one document, in the order of their key.
func following(ctx context.Context, tx *transaction, number int64, after *mapping.Interval) (docs []*mapping.Interval, err error) {
	const most = 250
	read := commons{from: tx}
	err = each(ctx, tx, func(rows *sql.Rows) error {
		d, err := read.scan(ctx, rows)
		docs = append(docs, d)
		return err
	}, `SELECT ingest, doc FROM intervals
		WHERE ingest = ? AND (level, time, direction, host, job, part) > (?, ?, ?, ?, ?, ?)
		ORDER BY level, time, direction, host, job, part LIMIT ?`,
		number, int64(after.Level), after.Time.UnixMilli(), after.Fio.Direction, after.Host.Name, after.Series(), after.Part, most)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	return docs, nil
}
