package window

import (
	"iter"

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
