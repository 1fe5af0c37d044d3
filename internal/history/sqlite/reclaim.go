package sqlite

import "context"

// leastFree is the share of a file that must be free before Reclaim rewrites it. Later runs soon use less free
// space.
const leastFree = 0.25

// Reclaim makes the file smaller if a quarter of it is free, and returns by how many bytes. It rewrites the whole
// file. Meanwhile this takes twice the size of the smaller file on disk.
func (s *writer) Reclaim(ctx context.Context) (freed int64, err error) {
	if s.db == nil {
		return 0, s.fail(ctx, "write to", errReadOnly)
	}
	var size, pages, free int64
	row := s.db.QueryRowContext(ctx, `SELECT p.page_size, c.page_count, f.freelist_count
		FROM pragma_page_size AS p, pragma_page_count AS c, pragma_freelist_count AS f`)
	if err := row.Scan(&size, &pages, &free); err != nil {
		return 0, s.fail(ctx, "read", err)
	}
	if float64(free) < leastFree*float64(pages) {
		return 0, nil
	}
	for _, statement := range []string{`VACUUM`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return 0, s.fail(ctx, "shrink", err)
		}
	}
	var now int64
	err = s.db.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&now)
	return (pages - now) * size, s.fail(ctx, "read", err)
}
