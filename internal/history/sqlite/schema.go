package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
)

// applicationID marks a file as a history ("fio2"), so that a mistaken path never writes to
// another program's database.
const applicationID = 0x66696f32

// migrations bring a file from version i to i+1. Those that are released do not change.
//
// intervals is clustered in the order in which it is read: one run's documents of a
// level lie one after another by time. doc is a document packed by codec. Times
// are milliseconds since 1970. ingests gives each version of a run a short number,
// which is never used again (AUTOINCREMENT): see Store.Finish. files has the hashes of
// each run's reports and logs, by which Store.Holding finds the run. removed has the runs that
// people removed, and removed_files the same hashes of those. briefs has the documents without
// histograms and lists of files, in the order of lists; in version 4 they lacked what conditions on
// configurations and options need, and the column light had it. Since version 6 the documents of
// intervals are packed in another form, which programs before it cannot read.
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

// dropLight removes documents that briefs has since version 5.
const dropLight = `ALTER TABLE runs DROP COLUMN light`

// The first versions that have the tables files, removed and briefs.
const (
	withFiles   = 2
	withRemoved = 3
	withBriefs  = 5
)

// readVersion is the version of a file, 0 of an empty one. It fails if another program or a
// newer version of this one made the file.
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

// migrate brings the file to the newest version, in one transaction. It returns the number of runs
// in a file of an older version.
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
