package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/pack"
)

const (
	// applicationID marks a file as a history ("fio2"), so that a wrong path never writes to the database of another
	// program.
	applicationID = 0x66696f32

	// schemaVersion is the version of the tables and of the documents in them (PRAGMA user_version). Files of earlier versions are read,
	// too, without summaries, and become files of schemaVersion when they are opened for writing. Version 1 had other summaries (the
	// table lights) and interval documents; version 2 had the configuration in summaries in another form.
	schemaVersion = 3
)

// tables creates the tables. Times are milliseconds since 1970.
//   - runs: the run documents, packed as in codec.go. Its rows have numbers, because without them each document of more than a quarter
//     of a page takes another page.
//   - summaries: run documents without histograms and lists of files, in their compact form, and what lists select and sort them by.
//     workload is that of the run, or empty if its sections have others: then the document says which.
//   - ingests: a short number for each version of a run, never used again (AUTOINCREMENT): see Store.Finish.
//   - intervals: interval documents, stored in the order in which they are read: the documents of
//     one run and level lie together, sorted by time. job is that of [mapping.Interval.Series].
//   - commons: what the interval documents of a series have in common, by a number that these have.
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

// later creates what earlier histories lack: the summaries, the table of the parts of shared runs, what finds live runs, and commons.
const later = `
CREATE TABLE IF NOT EXISTS summaries (
	run      TEXT PRIMARY KEY,
	start    INTEGER NOT NULL,
	workload TEXT NOT NULL,
	doc      BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS summaries_by_start ON summaries (start DESC, run);
CREATE INDEX IF NOT EXISTS summaries_by_workload ON summaries (workload, start DESC, run);
CREATE INDEX IF NOT EXISTS runs_by_ingest ON runs (ingest, start, id);
CREATE TABLE IF NOT EXISTS parts (
	run    TEXT NOT NULL,
	id     TEXT NOT NULL,
	ingest TEXT NOT NULL,
	doc    BLOB NOT NULL,
	PRIMARY KEY (run, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS commons (
	ingest INTEGER NOT NULL REFERENCES ingests (number),
	id     INTEGER NOT NULL,
	doc    BLOB NOT NULL,
	PRIMARY KEY (ingest, id)
) WITHOUT ROWID;
`

// versionOf returns the version of the tables of a file; 0 means an empty file. It fails if another program or another
// version of fio2es made the file.
func versionOf(ctx context.Context, from queries) (version int, err error) {
	var id, tables int
	row := from.QueryRowContext(ctx, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id AS a, pragma_user_version AS v`)
	if err := row.Scan(&id, &version, &tables); err != nil {
		return 0, fmt.Errorf("read version: %w", err)
	}
	switch {
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, fmt.Errorf("read version: a database of another program: %w", history.ErrDamaged)
	case version < 1 || version > schemaVersion:
		return 0, fmt.Errorf("its version is %d, this fio2es reads and writes version %d: %w", version, schemaVersion, history.ErrVersion)
	}
	return version, nil
}

// createTables creates the tables of an empty file, and those that a file lacks, in one transaction.
func (s *Store) createTables(ctx context.Context) error {
	return s.transact(ctx, func(tx *transaction) error {
		version, err := versionOf(ctx, tx)
		if err != nil {
			return err
		}
		statements := later
		if version == 0 {
			statements = tables + later
		}
		if version < schemaVersion {
			statements += fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion)
		}
		if _, err = tx.ExecContext(ctx, statements); err == nil && version < schemaVersion {
			err = summarize(ctx, tx)
		}
		if err != nil {
			return fmt.Errorf("create tables: %w", err)
		}
		return nil
	})
}

// summarize makes the summaries of a file of an earlier version. Documents that cannot be read stay as they are.
func summarize(ctx context.Context, tx *transaction) error {
	if _, err := tx.ExecContext(ctx, `DROP TABLE IF EXISTS lights; DELETE FROM summaries`); err != nil {
		return err
	}
	return each(ctx, tx, func(rows *sql.Rows) error {
		var id, workload string
		var start int64
		var doc []byte
		if err := rows.Scan(&id, &start, &doc); err != nil {
			return err
		}
		if run, err := pack.Run(doc); err == nil {
			workload, doc = workloadOf(run), pack.Summary(run)
		}
		_, err := tx.ExecContext(ctx, insertSummary, id, start, workload, doc)
		return err
	}, `SELECT id, start, doc FROM runs`)
}
