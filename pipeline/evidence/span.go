package evidence

import "time"

// Span is the time in which fio ran. It is unknown if End is zero.
type Span struct{ Start, End time.Time }

// Add extends the span by another one, if that is known.
func (s *Span) Add(o Span) {
	if o.End.IsZero() {
		return
	}
	if s.End.IsZero() || o.Start.Before(s.Start) {
		s.Start = o.Start
	}
	if o.End.After(s.End) {
		s.End = o.End
	}
}

// IsWith reports whether two spans have at least half of the shorter one in common, because jobs that ran one after another may seem to
// overlap a little. Of what has an end alone, it reports whether both ended together.
func (s Span) IsWith(o Span) bool {
	if s.End.IsZero() || o.End.IsZero() {
		return false
	}
	if s.Start.Equal(s.End) || o.Start.Equal(o.End) {
		return s.End.Sub(o.End).Abs() <= Apart
	}
	start, end := s.Start, s.End
	if o.Start.After(start) {
		start = o.Start
	}
	if o.End.Before(end) {
		end = o.End
	}
	return end.Sub(start) >= min(s.End.Sub(s.Start), o.End.Sub(o.Start))/2
}
