package report

import (
	"math"

	"github.com/fio2es/fio2es/hist"
)

// sparse is a histogram that stores only bins with requests.
type sparse struct {
	layout hist.Layout
	bins   []hist.Weight
}

func (s *sparse) histogram() *hist.Histogram {
	h := hist.New(s.layout)
	for _, b := range s.bins {
		h.AddAt(b.Index, b.Count)
	}
	return h
}

func (s *sparse) add(o *sparse) {
	switch {
	case len(o.bins) == 0:
	case len(s.bins) == 0:
		*s = *o
	case s.layout == o.layout:
		s.bins = sum(s.bins, o.bins)
	default:
		h := s.histogram()
		h.Merge(o.histogram())
		*s = sparse{h.Layout(), h.Weights()}
	}
}

// sum adds bins of one layout, without allocating a whole histogram.
func sum(a, b []hist.Weight) []hist.Weight {
	list := make([]hist.Weight, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Index < b[0].Index:
			list, a = append(list, a[0]), a[1:]
		case a[0].Index > b[0].Index:
			list, b = append(list, b[0]), b[1:]
		default:
			list = append(list, hist.Weight{Index: a[0].Index, Count: a[0].Count + b[0].Count})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(list, a...), b...)
}

// slowest returns the lowest latency of the slowest request's bin, in microseconds, or NaN if there is none.
func (s *sparse) slowest() float64 {
	if len(s.bins) == 0 {
		return math.NaN()
	}
	low, _ := s.layout.Bounds(s.bins[len(s.bins)-1].Index)
	return micros(float64(low))
}

// lastBin returns the lowest latency of the last bin, in microseconds.
func (s *sparse) lastBin() float64 {
	low, _ := s.layout.Bounds(s.layout.Len() - 1)
	return micros(float64(low))
}

// isOpen reports whether a latency lies in the last bin, so that it is a lower bound.
func (s *sparse) isOpen(us float64) bool { return len(s.bins) > 0 && us >= s.lastBin() }
