package window

import "github.com/fio2es/fio2es/mapping"

// Sum adds up the windows of one run and one level, for each direction and for all directions together. The zero
// value is empty.
type Sum struct {
	directions map[string]*joined
	span       Span
}

// Add adds a window.
func (s *Sum) Add(w *Window) error {
	if s.directions == nil {
		s.directions = map[string]*joined{}
	}
	h, err := w.Histogram()
	if err != nil {
		return err
	}
	s.span.Add(w)
	for _, direction := range []string{w.Direction, AllDirections} {
		if s.directions[direction] == nil {
			s.directions[direction] = &joined{first: w}
		}
		s.directions[direction].add(w, h)
	}
	return nil
}

// Windows returns the sums as windows without a level: one for each direction, and one for all directions if there
// are several. Each spans all windows that were added.
func (s *Sum) Windows() (list []*Window) {
	names := mapping.Directions[:]
	if len(s.directions) > 2 {
		names = append(names[:len(names):len(names)], AllDirections)
	}
	for _, direction := range names {
		sum := s.directions[direction]
		if sum == nil {
			continue
		}
		w := &Window{Run: sum.first.Run, Direction: direction, Start: s.span.Start, End: s.span.End, Averaged: sum.first.Averaged}
		w.ElapsedMS = w.StartMS()
		sum.fill(w)
		list = append(list, w)
	}
	return list
}
