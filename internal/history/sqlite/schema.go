package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
)

const (
	// applicationID marks a file as a history ("fio2"), so that a wrong path never writes to the database of another
	// program.
	applicationID = 0x66696f32

	// schemaVersion is the version of the tables and of the documents in them (PRAGMA user_version).
	schemaVersion = 1
)

// tables creates the tables. Times are milliseconds since 1970.
//   - runs: the run documents, packed as in codec.go. Its rows have numbers, because without them each document of more than a quarter
//     of a page takes another page.
//   - lights: run documents without histograms and lists of files, in the order of lists.
//   - ingests: a short number for each version of a run, never used again (AUTOINCREMENT): see Store.Finish.
//   - intervals: interval documents, stored in the order in which they are read: the documents of
//     one run and level lie together, sorted by time. job is that of [mapping.Interval.Series].
//   - files: the hashes of each run's reports and logs, by which Store.Holding finds the run, and whether it is that of a
//     report; also those of each part of a shared run.
//   - removed: the runs that people removed. removed_files has the hashes of their files.
const tables = `
CREATE TABLE runs (
	id        TEXT PRIMARY KEY,
	ingest    TEXT NOT NULL,
	execution TEXT NOT NULL,
	start     INTEGER NOT NULL,
	doc       BLOB NOT NULL
);
CREATE INDEX runs_by_execution ON runs (execution, start);
CREATE TABLE lights (
	start INTEGER NOT NULL,
	id    TEXT NOT NULL,
	doc   BLOB NOT NULL,
	PRIMARY KEY (start DESC, id)
) WITHOUT ROWID;
CREATE TABLE ingests (
	number  INTEGER PRIMARY KEY AUTOINCREMENT,
	run     TEXT NOT NULL,
	ingest  TEXT NOT NULL,
	written INTEGER NOT NULL,
	UNIQUE (run, ingest)
);
CREATE TABLE intervals (
	ingest    INTEGER NOT NULL REFERENCES ingests (number),
	level     INTEGER NOT NULL,
	time      INTEGER NOT NULL,
	direction TEXT NOT NULL,
	host      TEXT NOT NULL,
	job       TEXT NOT NULL,
	part      INTEGER NOT NULL,
	doc       BLOB NOT NULL,
	PRIMARY KEY (ingest, level, time, direction, host, job, part)
) WITHOUT ROWID;
CREATE TABLE files (
	hash   TEXT NOT NULL,
	run    TEXT NOT NULL,
	report INTEGER NOT NULL,
	PRIMARY KEY (hash, run)
) WITHOUT ROWID;
CREATE INDEX files_by_run ON files (run);
CREATE TABLE removed (
	run TEXT PRIMARY KEY,
	doc BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE removed_files (
	hash TEXT NOT NULL,
	run  TEXT NOT NULL REFERENCES removed (run),
	PRIMARY KEY (hash, run)
) WITHOUT ROWID;
CREATE INDEX removed_files_by_run ON removed_files (run);
`

// later creates what earlier histories lack: the table of the parts of shared runs, and what finds live runs.
const later = `
CREATE INDEX IF NOT EXISTS runs_by_ingest ON runs (ingest, start, id);
CREATE TABLE IF NOT EXISTS parts (
	run    TEXT NOT NULL,
	id     TEXT NOT NULL,
	ingest TEXT NOT NULL,
	doc    BLOB NOT NULL,
	PRIMARY KEY (run, id)
) WITHOUT ROWID;
`

// hasTables reports whether a file is a history; false means an empty file. It fails if another program or another
// version of fio2es made the file.
func hasTables(ctx context.Context, from interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (bool, error) {
	var id, version, tables int
	row := from.QueryRowContext(ctx, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id AS a, pragma_user_version AS v`)
	if err := row.Scan(&id, &version, &tables); err != nil {
		return false, fmt.Errorf("read version: %w", err)
	}
	switch {
	case id == 0 && version == 0 && tables == 0:
		return false, nil
	case id != applicationID:
		return false, fmt.Errorf("read version: a database of another program: %w", history.ErrDamaged)
	case version != schemaVersion:
		return false, fmt.Errorf("its version is %d, this fio2es reads and writes version %d: %w", version, schemaVersion, history.ErrVersion)
	}
	return true, nil
}

// createTables creates the tables of an empty file in one transaction.
func (s *Store) createTables(ctx context.Context) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		ok, err := hasTables(ctx, tx)
		if err != nil {
			return err
		}
		if !ok {
			_, err = tx.ExecContext(ctx, fmt.Sprintf("%sPRAGMA application_id = %d; PRAGMA user_version = %d", tables, applicationID, schemaVersion))
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, later)
		}
		if err != nil {
			return fmt.Errorf("create tables: %w", err)
		}
		return nil
	})
}
