package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/fio2es/fio2es/internal/history"
)

// Integrity returns the faults that SQLite finds in the file.
func (s *Store) Integrity(ctx context.Context) (faults []string, err error) {
	err = s.each(ctx, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		if err == nil && text != "ok" {
			faults = append(faults, text)
		}
		return err
	}, `PRAGMA integrity_check(20)`)
	if err = s.fail(ctx, "check", err); errors.Is(err, history.ErrDamaged) {
		return append(faults, err.Error()), nil
	}
	return faults, err
}

// QuickCheck fails with [history.ErrDamaged] if the structure of the file is damaged. It reads the whole file, about
// a gigabyte per second, so it skips files larger than most bytes.
func (s *Store) QuickCheck(ctx context.Context, most int64) error {
	if info, err := os.Stat(s.path); err != nil || info.Size() > most {
		return s.fail(ctx, "check", err)
	}
	var text string
	err := s.reads.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&text)
	if err == nil && text != "ok" {
		s.spoilt.Store(true)
		err = fmt.Errorf("%w: %s: nothing is written to it: keep a copy, and ingest into a new file with --history", history.ErrDamaged, text)
	}
	return s.fail(ctx, "check", err)
}

// leastFree is the share of a file that must be free before Reclaim rewrites it. Later runs soon use less free
// space.
const leastFree = 0.25

// Reclaim makes the file smaller if a quarter of it is free, and returns by how many bytes. It rewrites the whole
// file. Meanwhile this takes twice the size of the smaller file on disk.
func (s *Store) Reclaim(ctx context.Context) (freed int64, err error) {
	if s.writes == nil {
		return 0, s.fail(ctx, "write to", errReadOnly)
	}
	var size, pages, free int64
	row := s.writes.QueryRowContext(ctx, `SELECT p.page_size, c.page_count, f.freelist_count
		FROM pragma_page_size AS p, pragma_page_count AS c, pragma_freelist_count AS f`)
	if err := row.Scan(&size, &pages, &free); err != nil {
		return 0, s.fail(ctx, "read", err)
	}
	if float64(free) < leastFree*float64(pages) {
		return 0, nil
	}
	for _, statement := range []string{`VACUUM`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		if _, err := s.writes.ExecContext(ctx, statement); err != nil {
			return 0, s.fail(ctx, "shrink", err)
		}
	}
	var now int64
	err = s.writes.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&now)
	return (pages - now) * size, s.fail(ctx, "read", err)
}
