package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/pack"
	"github.com/fio2es/fio2es/mapping"
)

const (
	// insertInterval leaves an equal document as it is, so ingesting an archive again writes nothing.
	insertInterval = `INSERT INTO intervals (ingest, level, time, direction, host, job, part, doc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET doc = excluded.doc WHERE doc IS NOT excluded.doc`

	insertCommon = `INSERT INTO commons (ingest, id, doc) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET doc = excluded.doc WHERE doc IS NOT excluded.doc`

	insertIngest = `INSERT INTO ingests (run, ingest, written) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET written = excluded.written RETURNING number`

	insertSummary = `INSERT OR REPLACE INTO summaries (run, start, workload, doc) VALUES (?, ?, ?, ?)`
	deleteSummary = `DELETE FROM summaries WHERE run = ?`

	insertRun = `INSERT INTO runs (id, ingest, execution, start, doc) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET ingest = excluded.ingest, execution = excluded.execution, start = excluded.start, doc = excluded.doc`

	deleteRun = `DELETE FROM runs WHERE id = ?`

	// insertFiles is OR IGNORE, because a statement of several rows that may fail keeps each page that it changes in a temporary file.
	insertFiles = `INSERT OR IGNORE INTO files (hash, run, report)
		SELECT value, ?, value IN (SELECT value FROM json_each(?)) FROM json_each(?)`
	deleteFiles = `DELETE FROM files WHERE run = ?`

	findRun       = `SELECT doc FROM runs WHERE id = ?`
	existing      = `SELECT EXISTS (SELECT 1 FROM ingests WHERE `
	otherVersions = `run = ? AND number <> ?`
)

// Put implements [history.Store], in one transaction.
func (s *Store) Put(ctx context.Context, docs []*mapping.Interval) error {
	if len(docs) == 0 {
		return nil
	}
	blobs, err := packAll(docs)
	numbers := map[history.Version]int64{}
	if err == nil {
		err = s.transact(ctx, func(tx *transaction) error { return s.put(ctx, tx, docs, blobs, numbers) })
	}
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		maps.Copy(s.begun, numbers)
	}
	return s.fail(ctx, "write to", err)
}

// put stores documents and their packed forms. numbers has the numbers of versions, and gets those of other ones.
func (s *Store) put(
	ctx context.Context, tx *transaction, docs []*mapping.Interval, packed []packed, numbers map[history.Version]int64,
) error {
	put := map[*common]bool{}
	for i, d := range docs {
		v := history.VersionOf(d)
		number, ok := numbers[v]
		if !ok {
			var err error
			if number, err = s.begin(ctx, tx, v); err != nil {
				return err
			}
			numbers[v] = number
		}
		if of := packed[i].common; !put[of] {
			put[of] = true
			if _, err := tx.ExecContext(ctx, insertCommon, number, of.id, of.blob); err != nil {
				return fmt.Errorf("insert what documents have in common: %w", err)
			}
		}
		_, err := tx.ExecContext(ctx, insertInterval, number, int64(d.Level), d.Time.UnixMilli(),
			d.Fio.Direction, d.Host.Name, d.Series(), d.Part, packed[i].blob)
		if err != nil {
			return fmt.Errorf("insert: %w", err)
		}
	}
	return nil
}

// begin returns the number of a version. If this process has put documents under another number, another process has
// finished or deleted the run in the meantime. Continuing would make a run with missing documents, so begin fails.
func (s *Store) begin(ctx context.Context, tx *transaction, v history.Version) (int64, error) {
	var number int64
	row := tx.QueryRowContext(ctx, insertIngest, v.Run, v.Ingest, time.Now().UnixMilli())
	if err := row.Scan(&number); err != nil {
		return 0, fmt.Errorf("begin ingest: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, ok := s.begun[v]; ok && before != number {
		delete(s.begun, v) // so that the next attempt begins a new version
		return 0, fmt.Errorf("begin ingest of run %q: %w", v.Run, history.ErrReplaced)
	}
	return number, nil
}

// forget removes the numbers of a run's versions except keep, because this process has removed these versions.
func (s *Store) forget(run, keep string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.begun, func(v history.Version, _ int64) bool { return v.Run == run && v.Ingest != keep })
}

// Finish implements [history.Store]. It may be called again and again while a followed run grows.
func (s *Store) Finish(ctx context.Context, run *mapping.Run) error {
	err := run.Check()
	if err == nil {
		err = s.transact(ctx, func(tx *transaction) error {
			number, err := s.begin(ctx, tx, history.Version{Run: run.Run.ID, Ingest: run.Run.Ingest})
			if err != nil {
				return err
			}
			run, relabelled, err := s.keep(ctx, tx, run)
			if err != nil {
				return err
			}
			if relabelled {
				if err := s.relabel(ctx, tx, &run.Run); err != nil {
					return err
				}
			}
			if err := s.putRun(ctx, tx, run); err != nil {
				return fmt.Errorf("insert run: %w", err)
			}
			if err := indexFiles(ctx, tx, run.Run.ID, &run.Source); err != nil {
				return err
			}
			return remove(ctx, tx, otherVersions, run.Run.ID, number)
		})
	}
	if err == nil {
		s.forget(run.Run.ID, run.Run.Ingest)
	}
	return s.fail(ctx, "write to", err)
}

// putRun stores a run document in both of its forms.
func (s *Store) putRun(ctx context.Context, tx *transaction, run *mapping.Run) error {
	id, start := run.Run.ID, run.Run.Start.UnixMilli()
	_, err := tx.ExecContext(ctx, insertRun, id, run.Run.Ingest, run.Run.Execution, start, pack.Document(run.AppendJSON))
	if err == nil {
		_, err = tx.ExecContext(ctx, insertSummary, id, start, workloadOf(run), pack.Summary(run))
	}
	return err
}

// workloadOf returns the workload by which the run is found: "" if its sections have workloads of their own.
func workloadOf(run *mapping.Run) string {
	if len(run.Sections) > 0 {
		return ""
	}
	return run.Workload.ID
}

// keep returns the run with the labels and the note of the stored run, which people may have changed since the run
// was read. relabelled reports that its interval documents still lack these labels. If the stored document is
// otherwise equal, the run also gets the stored Ingested.
func (s *Store) keep(ctx context.Context, tx *transaction, run *mapping.Run) (_ *mapping.Run, relabelled bool, _ error) {
	stored, err := readRun(ctx, tx, run.Run.ID)
	switch {
	case errors.Is(err, history.ErrNotFound), history.IsSkipped(err): // the new document replaces a damaged one
		return run, false, nil
	case err != nil:
		return nil, false, err
	}
	kept := *run
	relabelled = kept.Run.AnnotateAs(&stored.Run)
	at := kept.Ingested
	if kept.Ingested = stored.Ingested; !bytes.Equal(kept.AppendJSON(nil), stored.AppendJSON(nil)) {
		kept.Ingested = at
	}
	return &kept, relabelled, nil
}

// Delete implements [history.Store].
func (s *Store) Delete(ctx context.Context, runID string) error {
	err := s.transact(ctx, func(tx *transaction) error {
		var known bool
		row := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?1)
			OR EXISTS (SELECT 1 FROM ingests WHERE run = ?1)`, runID)
		if err := row.Scan(&known); err != nil {
			return fmt.Errorf("find run: %w", err)
		}
		if !known {
			return fmt.Errorf("delete run %q: %w", runID, history.ErrNotFound)
		}
		for _, statement := range []string{deleteSummary, deleteRun, deleteFiles} {
			if _, err := tx.ExecContext(ctx, statement, runID); err != nil {
				return fmt.Errorf("delete run: %w", err)
			}
		}
		return remove(ctx, tx, `run = ?`, runID)
	})
	if err == nil {
		s.forget(runID, "")
	}
	return s.fail(ctx, "write to", err)
}

// remove deletes the versions that a condition selects, and their documents.
func remove(ctx context.Context, tx *transaction, where string, args ...any) error {
	isThere := false // most runs have one version
	row := tx.QueryRowContext(ctx, existing+where+`)`, args...)
	if err := row.Scan(&isThere); err != nil || !isThere {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM intervals WHERE ingest IN (SELECT number FROM ingests WHERE ` + where + `)`,
		`DELETE FROM commons WHERE ingest IN (SELECT number FROM ingests WHERE ` + where + `)`,
		`DELETE FROM files WHERE run IN (SELECT id FROM parts WHERE (run, ingest) IN (SELECT run, ingest FROM ingests WHERE ` + where + `))`,
		`DELETE FROM parts WHERE (run, ingest) IN (SELECT run, ingest FROM ingests WHERE ` + where + `)`,
		`DELETE FROM ingests WHERE ` + where,
	} {
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("delete documents: %w", err)
		}
	}
	return nil
}

// MarkRemoved implements [history.Store].
func (s *Store) MarkRemoved(ctx context.Context, r *mapping.Removed) error {
	return s.fail(ctx, "write to", s.transact(ctx, func(tx *transaction) error {
		if err := restore(ctx, tx, r.ID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO removed (run, doc) VALUES (?, ?)`, r.ID, pack.Document(r.AppendJSON)); err != nil {
			return fmt.Errorf("insert removed run: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO removed_files (hash, run) SELECT value, ? FROM json_each(?)`, r.ID, list(r.Source.Hashes())); err != nil {
			return fmt.Errorf("insert hashes of removed files: %w", err)
		}
		return nil
	}))
}

// Restore implements [history.Store].
func (s *Store) Restore(ctx context.Context, runIDs ...string) error {
	return s.fail(ctx, "write to", s.transact(ctx, func(tx *transaction) error { return restore(ctx, tx, runIDs...) }))
}

func restore(ctx context.Context, tx *transaction, runIDs ...string) error {
	for _, statement := range []string{`DELETE FROM removed_files`, `DELETE FROM removed`} {
		if _, err := tx.ExecContext(ctx, statement+` WHERE run IN (SELECT value FROM json_each(?))`, list(runIDs)); err != nil {
			return fmt.Errorf("delete removed runs: %w", err)
		}
	}
	return nil
}

// indexFiles stores the hashes of a run's files, so that the run is found by them.
func indexFiles(ctx context.Context, tx *transaction, id string, src *mapping.Source) error {
	if _, err := tx.ExecContext(ctx, deleteFiles, id); err != nil {
		return fmt.Errorf("delete hashes of files: %w", err)
	}
	var reports []string
	for _, f := range src.Reports() {
		reports = append(reports, f.Key())
	}
	if _, err := tx.ExecContext(ctx, insertFiles, id, list(reports), list(src.Hashes())); err != nil {
		return fmt.Errorf("insert hashes of files: %w", err)
	}
	return nil
}

// MakeCurrent implements [history.Store]. The embedded history has no pending documents. It removes nothing if another
// process has made another version current meanwhile.
func (s *Store) MakeCurrent(ctx context.Context, runID, ingest string) error {
	err := s.transact(ctx, func(tx *transaction) error {
		return remove(ctx, tx, `run = ?1 AND ingest <> ?2 AND EXISTS (SELECT 1 FROM runs WHERE runs.id = ?1 AND runs.ingest = ?2)`, runID, ingest)
	})
	if err == nil {
		s.forget(runID, ingest)
	}
	return s.fail(ctx, "write to", err)
}
