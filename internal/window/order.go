package window

import (
	"cmp"
	"iter"
	"slices"

	"github.com/fio2es/fio2es/mapping"
)

// compare orders windows of a run by nominal time, level, host, job and direction, as files have them.
func compare(a, b *Window) int {
	place := func(direction string) int { return slices.Index(mapping.Directions[:], direction) }
	return cmp.Or(cmp.Compare(a.ElapsedMS, b.ElapsedMS), cmp.Compare(a.Level, b.Level), cmp.Compare(a.Host, b.Host),
		mapping.CompareJobs(a.Job, b.Job), cmp.Compare(place(a.Direction), place(b.Direction)))
}

// Ordered returns the windows of several levels of a run in the order in which files have them. A store has the windows
// of each level in the order of their starts, which differ by some milliseconds within one nominal time.
func Ordered(levels ...iter.Seq2[*Window, error]) iter.Seq2[*Window, error] {
	return func(yield func(*Window, error) bool) {
		type head struct {
			next func() (*Window, error, bool)
			w    *Window // nil at the end
		}
		var heads []*head
		advance := func(h *head) (err error) {
			h.w, err, _ = h.next()
			return err
		}
		for _, level := range levels {
			next, stop := iter.Pull2(level)
			defer stop()
			h := &head{next: next}
			heads = append(heads, h)
			if err := advance(h); err != nil {
				yield(nil, err)
				return
			}
		}
		for {
			var open []*Window // of one nominal time
			var first *Window
			for _, h := range heads {
				if h.w != nil && (first == nil || h.w.ElapsedMS < first.ElapsedMS) {
					first = h.w
				}
			}
			if first == nil {
				return
			}
			for _, h := range heads {
				for h.w != nil && h.w.ElapsedMS == first.ElapsedMS {
					open = append(open, h.w)
					if err := advance(h); err != nil {
						yield(nil, err)
						return
					}
				}
			}
			slices.SortFunc(open, compare)
			for _, w := range open {
				if !yield(w, nil) {
					return
				}
			}
		}
	}
}
