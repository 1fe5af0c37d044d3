package elastic

import "time"

// Hurry makes pages small, and waits as long as needed for a point in time to be closed, so that tests do not depend
// on the speed of the machine. pageBytes is the size of a page.
func (e *Store) Hurry(pageBytes int) *Store {
	e.limits.pageBytes, e.limits.pageHits = pageBytes, 50
	e.limits.ahead = 0
	e.limits.closeAfter = time.Hour
	e.limits.answer, e.limits.document = 2<<20, 2<<20
	return e
}

// Ahead sets how many pages are read ahead.
func (e *Store) Ahead(n int) *Store {
	e.limits.ahead = n
	return e
}

// CloseAfter sets how long closing a point in time may take.
func (e *Store) CloseAfter(d time.Duration) *Store {
	e.limits.closeAfter = d
	return e
}

// Answers sets the limit of an answer in bytes.
func (e *Store) Answers(bytes int64) *Store {
	e.limits.answer, e.limits.document = bytes, bytes
	return e
}
