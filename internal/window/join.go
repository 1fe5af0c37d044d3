package window

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// ErrUneven means that windows cannot be joined, because they do not all have the same length.
var ErrUneven = errors.New("the windows are not of one length")

// Join joins the windows of a run to windows of length milliseconds, a multiple of their own length. It does not cut
// windows. It adds up counts, and computes everything else from the sums. Windows must be of one level and in order
// of time; so are the results. The last window ends with the run. Join fails with [ErrUneven].
func Join(windows iter.Seq2[*Window, error], run *mapping.Run, length int64) iter.Seq2[*Window, error] {
	return func(yield func(*Window, error) bool) {
		j := &joiner{run: run, step: run.IntervalMS, length: length, open: map[joinKey]*joined{}}
		for w, err := range windows {
			if err == nil {
				err = j.add(w)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			// Windows of one nominal time begin some milliseconds apart, so windows of the next nominal time may come
			// between them.
			if !j.flush(j.latest-1, yield) {
				return
			}
		}
		j.flush(math.MaxInt64, yield)
	}
}

type joiner struct {
	run          *mapping.Run
	step, length int64 // in milliseconds
	// phase is how many milliseconds before the run's start the first window of the grid begins, because a run may
	// cut its first window. Any later window shows it.
	phase   int64
	isKnown bool
	latest  int64 // place of the latest joined window
	open    map[joinKey]*joined
}

// joinKey identifies a joined window: its number on the grid, and its series.
type joinKey struct {
	place int64
	Series
}

func (j *joiner) add(w *Window) error {
	from := int64(0) // nominal, in milliseconds since the beginning of the grid
	if at := w.ElapsedMS; at > 0 {
		if !j.isKnown {
			j.phase, j.isKnown = (j.step-at%j.step)%j.step, true
		}
		from = at + j.phase
	}
	since := w.EndMS() + j.phase
	to := max((since+j.step/2)/j.step*j.step, from+j.step)
	place := from / j.length
	if from%j.step != 0 || (to-1)/j.length != place {
		return ErrUneven
	}
	j.latest = max(j.latest, place)
	key := joinKey{place, w.Series()}
	if j.open[key] == nil {
		j.open[key] = &joined{first: w, from: from}
	}
	j.open[key].to = max(j.open[key].to, to)
	h, err := w.Histogram()
	if err == nil {
		j.open[key].add(w, h)
	}
	return err
}

// flush yields the joined windows whose place is below before, in order of time.
func (j *joiner) flush(before int64, yield func(*Window, error) bool) bool {
	var list []*Window
	for key, open := range j.open {
		if key.place < before {
			list = append(list, j.window(key.place, open))
			delete(j.open, key)
		}
	}
	slices.SortFunc(list, compare)
	for _, w := range list {
		if !yield(w, nil) {
			return false
		}
	}
	return true
}

// window returns the joined window. If stored windows are missing at its begin or end, there were no requests then,
// and the joined window includes that time as far as the jobs of its series ran.
func (j *joiner) window(place int64, sum *joined) *Window {
	w := *sum.first
	from, to := place*j.length, (place+1)*j.length
	w.ElapsedMS = max(from-j.phase, 0)
	at := func(ms int64) time.Time { return w.Run.Start.Add(time.Duration(ms) * time.Millisecond) }
	if sum.from > from {
		w.Start = at(max(w.ElapsedMS, w.FromMS))
	}
	w.ToMS, w.End = sum.toMS, sum.end
	end, last := at(to-j.phase), j.run.Run.End
	if w.ToMS > 0 {
		last = at(w.ToMS)
	}
	if last.After(w.Run.Start) && last.Before(end) {
		end = last
	}
	if sum.to < to && end.After(sum.end) {
		w.End = end
	}
	if sum.fill(&w); sum.histograms == 1 { // its numbers come from exact weights, not from whole counts
		w.Latency, w.Counts, w.Layout, w.Bounds, w.IsRough = sum.most.Latency, sum.most.Counts, sum.most.Layout, sum.most.Bounds, false
	}
	return &w
}

// Limit moves latencies between the fastest and the slowest request of the series, if these are known: bins are wider.
func (w *Window) Limit() {
	if w.Slowest > 0 {
		w.Latency.Limit(w.Fastest, w.Slowest)
	}
}

// joined has the sums of stored windows.
type joined struct {
	first      *Window
	from, to   int64 // nominal, in milliseconds since the beginning of the grid
	end        time.Time
	toMS       int64 // when the jobs ended, from the latest window that has it
	requests   hist.Histogram
	histograms int             // number of windows with a histogram
	bounds     *mapping.Bounds // of the percentiles of all of these for certain
	cutsRows   bool            // those of a window are not known
	most       *Window         // of these the one with the highest weight
	completed  int64
	weight     float64
	isCut      bool // the weight of a window is no whole number, so its whole counts are rounded
	bytes      Bytes
	fastest    float64 // of the requests of all series
	slowest    float64
	isWithout  bool // a series whose fastest and slowest requests are not known
	// For averages, which have at most a rate and a mean, but no histogram and no number of requests.
	averaged, means float64 // requests by the rates, and their latencies
	meansByTime     float64 // means times seconds
	seconds         float64 // with a mean
	lacksRate       bool    // the rate of a window is not known
}

func (j *joined) add(w *Window, h *hist.Histogram) {
	seconds := float64(w.Length().Milliseconds()) / 1000
	if w.End.After(j.end) {
		j.end = w.End
	}
	j.toMS = max(j.toMS, w.ToMS)
	j.completed += w.Completed
	j.weight += w.Weight
	j.isCut = j.isCut || w.Weight != math.Trunc(w.Weight)
	j.bytes.Add(w)
	if h == nil {
		n := w.IOPS * seconds
		j.averaged += n
		j.means += n * w.Latency.Mean
		j.lacksRate = j.lacksRate || math.IsNaN(w.KnownIOPS())
		if w.Latency.Mean > 0 {
			j.meansByTime += seconds * w.Latency.Mean
			j.seconds += seconds
		}
		return
	}
	j.cutsRows = j.cutsRows || w.Bounds.AreCertain()
	if sure := mapping.SureBounds(&w.Latency, w.Bounds); j.bounds == nil {
		j.bounds = sure
	} else {
		j.bounds.Widen(sure)
	}
	if j.most == nil || w.Weight > j.most.Weight {
		j.most = w
	}
	if j.histograms++; j.histograms == 1 || w.Fastest < j.fastest {
		j.fastest = w.Fastest
	}
	j.slowest, j.isWithout = max(j.slowest, w.Slowest), j.isWithout || w.Slowest == 0
	j.requests.Merge(h)
}

// fill writes the sums into a window whose times are already set.
func (j *joined) fill(w *Window) {
	seconds := float64(w.Length().Milliseconds()) / 1000
	perSecond := func(n float64) float64 {
		if seconds <= 0 {
			return 0
		}
		return math.Round(n/seconds*1000) / 1000
	}
	w.Completed, w.Weight = j.completed, math.Round(j.weight*1e6)/1e6
	w.IOPS, w.Bandwidth = perSecond(float64(j.completed)), math.Round(perSecond(j.bytes.Sum()))
	w.Counts, w.Layout, w.Bounds = nil, hist.Layout{}, nil
	switch {
	case j.most == nil:
		w.Latency, w.IOPS = mapping.Latency{}, perSecond(max(j.averaged, float64(j.completed)))
		switch {
		case j.lacksRate:
			if w.IOPS = 0; j.seconds > 0 {
				w.Latency.Mean = math.Round(j.meansByTime/j.seconds*1000) / 1000
			}
		case j.averaged > 0:
			w.Latency.Mean = math.Round(j.means/j.averaged*1000) / 1000
		}
	case j.requests.IsEmpty(): // whole counts have none
		w.Latency, w.Counts, w.Layout = j.most.Latency, j.most.Counts, j.most.Layout
		w.Bounds = j.most.Bounds
	default:
		w.Latency, w.Counts, w.Layout = mapping.Figures(&j.requests), mapping.WholeCounts(&j.requests), j.requests.Layout()
		if b := j.most.Bounds; j.cutsRows && j.histograms < mapping.SureRows {
			w.Bounds = j.bounds
		} else if b != nil && !j.cutsRows {
			w.Bounds = mapping.NewBounds(&j.requests, b.Confidence)
		}
		if w.Fastest, w.Slowest = j.fastest, j.slowest; j.isWithout {
			w.Fastest, w.Slowest = 0, 0
		}
		w.Limit()
		w.IsRough = j.isCut && isRough(&j.requests)
	}
	if w.Direction == mapping.Sync {
		w.IOPS = 0
	}
}

// isRough reports whether one request more or less would change a percentile by more than a tenth. Percentiles without a
// slower request do not count: they are the maximum.
func isRough(h *hist.Histogram) bool {
	n := h.Total()
	for _, p := range mapping.Percentiles {
		if n*(1-p.Quantile) < 1 {
			continue
		}
		around := h.Percentiles(max(p.Quantile-1/n, 0), min(p.Quantile+1/n, 1))
		if around[1].Value > 1.1*around[0].Value {
			return true
		}
	}
	return false
}

// Sum adds up the windows of one run and one level, for each direction and for all but syncs together. The zero
// value is empty.
type Sum struct {
	Span       Span // of the windows
	directions map[string]*joined
}

// Add adds a window.
func (s *Sum) Add(w *Window) error {
	requests, err := w.Histogram()
	if err == nil {
		s.AddWith(w, requests)
	}
	return err
}

// AddWith adds a window whose [Window.Histogram] was read before.
func (s *Sum) AddWith(w *Window, requests *hist.Histogram) {
	if s.directions == nil {
		s.directions = map[string]*joined{}
	}
	s.Span.Add(w)
	for _, direction := range mapping.With(w.Direction) {
		if s.directions[direction] == nil {
			s.directions[direction] = &joined{first: w}
		}
		s.directions[direction].add(w, requests)
	}
}

// Windows returns the sums as windows without a level: one for each direction, and one for all together if these are several
// directions, or nothing separates them. Each spans all windows that were added.
func (s *Sum) Windows() (list []*Window) {
	names := mapping.Directions[:]
	if mapping.Several(slices.Collect(maps.Keys(s.directions))) {
		names = append(names[:len(names):len(names)], mapping.AllDirections)
	}
	for _, direction := range names {
		sum := s.directions[direction]
		if sum == nil {
			continue
		}
		w := &Window{Run: sum.first.Run, Direction: direction, Start: s.Span.Start, End: s.Span.End, Averaged: sum.first.Averaged}
		w.ElapsedMS = w.StartMS()
		sum.fill(w)
		list = append(list, w)
	}
	return list
}

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
			if w := open; w != nil && d.Part > 0 && w.Series() == SeriesOf(d) && w.ElapsedMS == d.Window.ElapsedMS && w.Run.ID == d.Run.ID {
				// Bins are split in ascending order. Percentiles and bandwidth stay, because each part has those of the complete
				// document.
				bins, more := &w.Latency.Bins, &d.Latency.Bins
				bins.Values = append(bins.Values[:len(bins.Values):len(bins.Values)], more.Values...)
				bins.Counts = append(bins.Counts[:len(bins.Counts):len(bins.Counts)], more.Counts...)
				w.Completed += d.Requests.Completed
				w.Weight += d.Requests.Weight
				w.IOPS += d.IOPS
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
	for w := range Rejoin(func(yield func(*mapping.Interval, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}) {
		list = append(list, w)
	}
	return list
}

// compare orders windows of a run by nominal time, level, host, job, section and direction, as files have them.
func compare(a, b *Window) int {
	place := func(direction string) int { return slices.Index(mapping.Directions[:], direction) }
	return cmp.Or(cmp.Compare(a.ElapsedMS, b.ElapsedMS), cmp.Compare(a.Level, b.Level), cmp.Compare(a.Host, b.Host),
		unit.Compare(a.Job, b.Job), cmp.Compare(a.Section, b.Section), cmp.Compare(place(a.Direction), place(b.Direction)))
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
			first := int64(math.MaxInt64)
			for _, h := range heads {
				if h.w != nil {
					first = min(first, h.w.ElapsedMS)
				}
			}
			var open []*Window // of this nominal time
			for _, h := range heads {
				for h.w != nil && h.w.ElapsedMS == first {
					open = append(open, h.w)
					if err := advance(h); err != nil {
						yield(nil, err)
						return
					}
				}
			}
			if len(open) == 0 {
				return
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

// Merge returns the sum of windows of one direction, such as those of the hosts of a cluster. It spans a time in which all of them are, and
// has the place of the first one.
func Merge(windows []*Window, over Span) (*Window, error) {
	w, sum := *windows[0], &joined{first: windows[0]}
	w.Start, w.End = over.Start, over.End
	for _, one := range windows {
		h, err := one.Histogram()
		if err != nil {
			return nil, err
		}
		sum.add(one, h)
	}
	sum.fill(&w)
	return &w, nil
}
