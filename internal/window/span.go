package window

import "time"

// Span is the time from the earliest start to the latest end of some windows. The zero value is
// that of no windows.
type Span struct{ Start, End time.Time }

// Add widens the span by a window.
func (s *Span) Add(w *Window) {
	if s.End.IsZero() || w.Start.Before(s.Start) {
		s.Start = w.Start
	}
	if w.End.After(s.End) {
		s.End = w.End
	}
}

// IsZero reports whether there are no windows.
func (s *Span) IsZero() bool { return s.End.IsZero() }

// Length is the time between the start and the end.
func (s *Span) Length() time.Duration { return s.End.Sub(s.Start) }
