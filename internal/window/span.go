package window

import "time"

// Span is the time from the earliest start to the latest end of some windows. The zero value is
// that of no windows.
type Span struct{ Start, End time.Time }

// Add widens the span by a window.
func (s *Span) Add(w *Window) { s.Join(Span{w.Start, w.End}) }

// Join widens the span by another one, which is not zero.
func (s *Span) Join(o Span) {
	if s.IsZero() || o.Start.Before(s.Start) {
		s.Start = o.Start
	}
	if o.End.After(s.End) {
		s.End = o.End
	}
}

// IsZero reports whether there are no windows.
func (s *Span) IsZero() bool { return s.End.IsZero() }

// Length is the time between the start and the end.
func (s *Span) Length() time.Duration { return s.End.Sub(s.Start) }
