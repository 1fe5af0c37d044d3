package elastic

import "time"

// Hurry makes everything small, for tests: pages of few documents. A point in time is closed, however busy the machine is.
func (e *Store) Hurry(pageBytes int) *Store {
	e.limits.pageBytes, e.limits.pageHits = pageBytes, 50
	e.limits.ahead = 0
	e.limits.closeAfter = time.Hour
	e.limits.answer, e.limits.document = 2<<20, 2<<20
	return e
}

// Ahead makes it read n pages ahead.
func (e *Store) Ahead(n int) *Store {
	e.limits.ahead = n
	return e
}

// CloseAfter makes it wait so long for a point in time to be closed.
func (e *Store) CloseAfter(d time.Duration) *Store {
	e.limits.closeAfter = d
	return e
}

// Answers makes it read no longer ones.
func (e *Store) Answers(bytes int64) *Store {
	e.limits.answer, e.limits.document = bytes, bytes
	return e
}
