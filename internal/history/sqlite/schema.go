package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
)

// applicationID marks a file as a history ("fio2"), so that a wrong path never writes to the database of another
// program.
const applicationID = 0x66696f32

// migrations[i] changes a file of version i to version i+1. Released migrations must not change. Times are
// milliseconds since 1970. The tables are:
//   - intervals: interval documents, packed by codec, stored in the order in which they are read: the documents of
//     one run and level lie together, sorted by time. Programs before version 6 cannot read the form of the
//     documents.
//   - ingests: a short number for each version of a run, never used again (AUTOINCREMENT): see Store.Finish.
//   - files: the hashes of each run's reports and logs, by which Store.Holding finds the run.
//   - removed: the runs that people removed. removed_files has the hashes of their files.
//   - briefs: run documents without histograms and lists of files, in the order of lists. In version 4 they lacked
//     the configuration and the options, and the column light had a document with them.
var migrations = [...]string{`
CREATE TABLE runs (
	id     TEXT PRIMARY KEY,
	ingest TEXT NOT NULL,
	start  INTEGER NOT NULL,
	light  BLOB NOT NULL,
	doc    BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_by_start ON runs (start DESC, id);
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
`, `
CREATE TABLE files (
	hash TEXT NOT NULL,
	run  TEXT NOT NULL,
	PRIMARY KEY (hash, run)
) WITHOUT ROWID;
CREATE INDEX files_by_run ON files (run);
`, `
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
`, `
CREATE TABLE briefs (
	start INTEGER NOT NULL,
	id    TEXT NOT NULL,
	doc   BLOB NOT NULL,
	PRIMARY KEY (start DESC, id)
) WITHOUT ROWID;
DROP INDEX runs_by_start;
`, `
DELETE FROM briefs;
`, ``}

// dropLight removes a column that the table briefs replaced in version 5.
const dropLight = `ALTER TABLE runs DROP COLUMN light`

// The first versions with the tables files, removed and briefs.
const (
	withFiles   = 2
	withRemoved = 3
	withBriefs  = 5
)

// readVersion returns the version of a file; 0 means an empty file. It fails if another program or a newer version
// of fio2es made the file.
func readVersion(ctx context.Context, from interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (int, error) {
	var id, version, tables int
	row := from.QueryRowContext(ctx, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id AS a, pragma_user_version AS v`)
	if err := row.Scan(&id, &version, &tables); err != nil {
		return 0, fmt.Errorf("read version: %w", err)
	}
	switch {
	case id != applicationID && (id != 0 || version != 0 || tables != 0):
		return 0, fmt.Errorf("read version: a database of another program: %w", history.ErrDamaged)
	case version > len(migrations):
		return 0, fmt.Errorf("read version: %d, this one knows %d: %w", version, len(migrations), history.ErrNewer)
	}
	return version, nil
}

// migrate upgrades the file to the newest version in one transaction. If the file was of an older version, it
// returns the number of runs in it.
func (s *writer) migrate(ctx context.Context) (upgraded int, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	version, err := readVersion(ctx, tx)
	if err != nil || version == len(migrations) {
		return 0, err
	}
	for _, statements := range migrations[version:] {
		if _, err := tx.ExecContext(ctx, statements); err != nil {
			return 0, fmt.Errorf("create tables: %w", err)
		}
	}
	if version > 0 && version < withFiles {
		if upgraded, err = s.indexOldFiles(ctx, tx); err != nil {
			return 0, fmt.Errorf("upgrade: %w", err)
		}
	}
	if version > 0 && version < withBriefs {
		if err := s.storeOldBriefs(ctx, tx); err != nil {
			return 0, fmt.Errorf("upgrade: %w", err)
		}
	}
	if version < withBriefs {
		if _, err := tx.ExecContext(ctx, dropLight); err != nil {
			return 0, fmt.Errorf("drop column: %w", err)
		}
	}
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(migrations))
	if _, err := tx.ExecContext(ctx, mark); err != nil {
		return 0, fmt.Errorf("write version: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	return upgraded, nil
}
