package elastic

import "time"

// Hurry makes everything small and quick, for tests: pages of few documents, short
// pauses.
func (e *Store) Hurry(pageBytes int) *Store {
	e.limits.pageBytes, e.limits.pageHits = pageBytes, 50
	e.limits.ahead = 0
	e.limits.closeAfter = 50 * time.Millisecond
	e.limits.answer, e.limits.document = 2<<20, 2<<20
	return e
}

// Ahead makes it read n pages ahead.
func (e *Store) Ahead(n int) *Store {
	e.limits.ahead = n
	return e
}

// Answers makes it read no longer ones.
func (e *Store) Answers(bytes int64) *Store {
	e.limits.answer, e.limits.document = bytes, bytes
	return e
}
