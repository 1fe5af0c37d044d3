package window

import "time"

// Span is the time from the earliest start to the latest end of some windows. The zero value has no windows.
type Span struct{ Start, End time.Time }

// Add extends the span by a window.
func (s *Span) Add(w *Window) { s.Join(Span{w.Start, w.End}) }

// Join extends the span by another one, which must not be zero.
func (s *Span) Join(o Span) {
	if s.IsZero() || o.Start.Before(s.Start) {
		s.Start = o.Start
	}
	if o.End.After(s.End) {
		s.End = o.End
	}
}

// IsZero reports whether the span has no windows.
func (s *Span) IsZero() bool { return s.End.IsZero() }

// Length returns the time between start and end.
func (s *Span) Length() time.Duration { return s.End.Sub(s.Start) }
