package window

import (
	"cmp"
	"iter"
	"slices"

	"github.com/fio2es/fio2es/mapping"
)

// Rejoin returns the windows of documents. A document whose counts exceed [mapping.MaxCount] is stored in several
// parts ([mapping.Interval.Split]), which a store returns one after another. Rejoin makes one window of them. An
// error of docs ends the windows.
func Rejoin(docs iter.Seq2[*mapping.Interval, error]) iter.Seq2[*Window, error] {
	return func(yield func(*Window, error) bool) {
		var open *Window
		for d, err := range docs {
			if err != nil {
				yield(nil, err)
				return
			}
			if open != nil && d.Part > 0 && open.isOf(d) {
				open.add(d)
				continue
			}
			if open != nil && !yield(open, nil) {
				return
			}
			open = From(d)
		}
		if open != nil {
			yield(open, nil)
		}
	}
}

// RejoinAll is [Rejoin] for a list, which must have all parts of its documents.
func RejoinAll(docs []*mapping.Interval) (list []*Window) {
	for _, d := range docs {
		if n := len(list); n > 0 && d.Part > 0 && list[n-1].isOf(d) {
			list[n-1].add(d)
		} else {
			list = append(list, From(d))
		}
	}
	return list
}

// isOf reports whether d is a further part of the window's document.
func (w *Window) isOf(d *mapping.Interval) bool {
	return w.Level == d.Level && w.ElapsedMS == d.Window.ElapsedMS && w.Direction == d.Fio.Direction &&
		w.Host == d.Host.Name && w.Job == d.Fio.Job && w.Run.ID == d.Run.ID
}

// add adds a further part of the window's document. Bins are split in ascending order. Percentiles and bandwidth
// stay, because each part has those of the complete document.
func (w *Window) add(d *mapping.Interval) {
	bins := &w.Latency.Bins
	bins.Values = append(bins.Values[:len(bins.Values):len(bins.Values)], d.Latency.Bins.Values...)
	bins.Counts = append(bins.Counts[:len(bins.Counts):len(bins.Counts)], d.Latency.Bins.Counts...)
	w.Completed += d.Requests.Completed
	w.Weight += d.Requests.Weight
	w.IOPS += d.IOPS
}

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
