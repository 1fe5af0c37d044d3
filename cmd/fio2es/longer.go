package main

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// longer puts the stored windows of a run together into windows of length milliseconds, a
// whole number of stored ones. Nothing is cut: counts add up, and all else is computed from
// the sums. docs are of one level, in order of time; so are the results. The last window ends
// when the run does.
func longer(docs iter.Seq2[*mapping.Interval, error], run *mapping.Run, length int64) iter.Seq2[*mapping.Interval, error] {
	return func(yield func(*mapping.Interval, error) bool) {
		j := &joining{run: run, step: run.IntervalMS, length: length, open: map[joinKey]*joinedWindow{}}
		for d, err := range docs {
			if err == nil {
				err = j.add(d)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			// Windows of one nominal time begin some milliseconds apart, so those of the next
			// may come between them.
			if !j.flush(j.latest-1, yield) {
				return
			}
		}
		j.flush(math.MaxInt64, yield)
	}
}

// joining is windows that are being put together.
type joining struct {
	run          *mapping.Run
	step, length int64 // milliseconds
	// phase is how long before the run's start the grid of windows begins: a run may cut its
	// first window. It follows from any later window.
	phase   int64
	isKnown bool
	latest  int64 // place of the latest joined window
	open    map[joinKey]*joinedWindow
}

// joinKey is a joined window: its place among all, and of what it is.
type joinKey struct {
	place                int64
	direction, host, job string
}

// add adds a stored window.
func (j *joining) add(d *mapping.Interval) error {
	from := int64(0) // nominal, since the grid begins
	if at := d.Window.ElapsedMS; at > 0 {
		if !j.isKnown {
			j.phase, j.isKnown = (j.step-at%j.step)%j.step, true
		}
		from = at + j.phase
	}
	since := d.Window.End.Sub(d.Run.Start).Milliseconds() + j.phase
	to := max((since+j.step/2)/j.step*j.step, from+j.step)
	place := from / j.length
	if from%j.step != 0 || (to-1)/j.length != place {
		return usagef("--interval %s: the windows of run %s are not of one length (--interval auto at ingest?): leave the option out, or ingest its files again with --interval %s",
			lengthText(j.length), j.run.Run.Name, lengthText(j.length))
	}
	j.latest = max(j.latest, place)
	key := joinKey{place, d.Fio.Direction, d.Host.Name, d.Fio.Job}
	if j.open[key] == nil {
		j.open[key] = &joinedWindow{first: d, from: from}
	}
	if err := j.open[key].add(d); err != nil {
		return fmt.Errorf("%s: %w", d.Run.Name, err)
	}
	j.open[key].to = max(j.open[key].to, to)
	return nil
}

// flush hands on the joined windows before a place, in order of time.
func (j *joining) flush(before int64, yield func(*mapping.Interval, error) bool) bool {
	var keys []joinKey
	for key := range j.open {
		if key.place < before {
			keys = append(keys, key)
		}
	}
	var list []*mapping.Interval
	for _, key := range keys {
		list = append(list, j.document(key.place, j.open[key]))
		delete(j.open, key)
	}
	slices.SortFunc(list, func(a, b *mapping.Interval) int {
		return cmp.Or(cmp.Compare(a.Window.ElapsedMS, b.Window.ElapsedMS), a.Time.Compare(b.Time), cmp.Compare(a.Fio.Direction, b.Fio.Direction),
			cmp.Compare(a.Host.Name, b.Host.Name), cmp.Compare(a.Fio.Job, b.Fio.Job))
	})
	for _, d := range list {
		if !yield(d, nil) {
			return false
		}
	}
	return true
}

// document is that of a joined window. Where its first or last stored windows are missing,
// nothing was served then, which is a part of the time all the same.
func (j *joining) document(place int64, w *joinedWindow) *mapping.Interval {
	d := *w.first
	from, to := place*j.length, (place+1)*j.length
	d.Part, d.Window.ElapsedMS = 0, max(from-j.phase, 0)
	if w.from > from {
		d.Time = d.Run.Start.Add(time.Duration(d.Window.ElapsedMS) * time.Millisecond)
	}
	d.Window.End = w.end
	end := d.Run.Start.Add(time.Duration(to-j.phase) * time.Millisecond)
	if last := j.run.Run.End; last.After(d.Run.Start) && last.Before(end) {
		end = last
	}
	if w.to < to && end.After(w.end) {
		d.Window.End = end
	}
	d.Window.MS = d.Window.End.Sub(d.Time).Milliseconds()
	w.fill(&d)
	return &d
}

// joinedWindow is the sums of stored windows.
type joinedWindow struct {
	first     *mapping.Interval
	from, to  int64 // nominal
	end       time.Time
	requests  hist.Histogram
	most      *mapping.Interval // with the highest weight
	completed int64
	weight    float64
	bytes     float64
	noBytes   bool // of some window with requests
	// Averages have neither a histogram nor a number of requests, but a rate.
	averaged, means float64
}

func (w *joinedWindow) add(d *mapping.Interval) error {
	seconds := float64(d.Window.MS) / 1000
	if d.Window.End.After(w.end) {
		w.end = d.Window.End
	}
	w.completed += d.Requests.Completed
	w.weight += d.Requests.Weight
	w.bytes += d.Bandwidth * seconds
	w.noBytes = w.noBytes || d.Bandwidth == 0 && d.Requests.Completed > 0
	if d.Latency.Layout == "" {
		n := d.IOPS * seconds
		w.averaged += n
		w.means += n * d.Latency.Mean
		return nil
	}
	if w.most == nil || d.Requests.Weight > w.most.Requests.Weight {
		w.most = d
	}
	h, err := d.Latency.Hist()
	if err != nil {
		return err
	}
	w.requests.Merge(h)
	return nil
}

// fill writes the sums into a document that has its times.
func (w *joinedWindow) fill(d *mapping.Interval) {
	seconds := float64(d.Window.MS) / 1000
	perSecond := func(n float64) float64 {
		if seconds <= 0 {
			return 0
		}
		return math.Round(n/seconds*1000) / 1000
	}
	d.Requests = mapping.Requests{Completed: w.completed, Weight: math.Round(w.weight*1e6) / 1e6}
	d.IOPS, d.Bandwidth = perSecond(float64(w.completed)), 0
	if !w.noBytes {
		d.Bandwidth = math.Round(perSecond(w.bytes))
	}
	switch {
	case w.most == nil:
		d.Latency, d.IOPS = mapping.Latency{}, perSecond(max(w.averaged, float64(w.completed)))
		if w.averaged > 0 {
			d.Latency.Mean = math.Round(w.means/w.averaged*1000) / 1000
		}
	case w.requests.IsEmpty(): // less than half a request in each
		d.Latency = w.most.Latency
	default:
		d.Latency = mapping.NewLatency(&w.requests, nil)
	}
	d.DocCount = d.Latency.Bins.Total()
}
