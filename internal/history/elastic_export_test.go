package history

import "time"

// Hurry makes everything small and quick, for tests: pages of few documents, short
// pauses.
func (e *Elastic) Hurry(pageBytes int) *Elastic {
	e.limits.pageBytes, e.limits.pageHits = pageBytes, 50
	e.limits.keys, e.limits.ahead = 130, 0
	e.limits.closeAfter = 50 * time.Millisecond
	e.limits.answer, e.limits.document = 2<<20, 2<<20
	return e
}

// Ahead makes it read so many pages before they are asked for.
func (e *Elastic) Ahead(n int) *Elastic {
	e.limits.ahead = n
	return e
}

// Keys makes it ask for the keys of so many documents at once.
func (e *Elastic) Keys(n int) *Elastic {
	e.limits.keys = n
	return e
}

// Answers makes it read no longer ones.
func (e *Elastic) Answers(bytes int64) *Elastic {
	e.limits.answer, e.limits.document = bytes, bytes
	return e
}
