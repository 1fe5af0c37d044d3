// Package align puts the rows of many jobs' logs, each with its own times, onto common
// windows of time, weights them and merges them.
//
// The input are [Stream]s of [Row]s: requests by latency that completed in an interval of
// time. The output are [Window]s in time order, one for each window, key (cluster, host,
// job, section) and direction. Times are milliseconds since the run's start. The package does no I/O
// and keeps only the windows that later rows can still reach.
//
// # Rows and windows
//
// The requests of a row completed somewhere in (start, end]. A window that follows the rows
// is exact. A window that is cut across rows is an estimate: it takes completions as uniform
// over the row. Rows end a few milliseconds late, because fio writes a row with the first
// completion after the interval. So a time within [Options.Tolerance] of a window's edge
// counts as the edge, and such a row stays whole.
//
// # Weighting
//
// A request of latency L that completed at c was in the system over [c-L, c].
// [InFlight] weighting counts it in each window by the share of that life spent there.
// With c uniform over the row, the time of presence is the sum of two uniform
// variables. Its density is a trapezoid and its distribution function piecewise
// quadratic. The share of a window is a difference of two values of that function; there is
// no sampling. Requests no longer than a window count where they completed, unless
// [Options.SpreadAll] is set: few of them cross an edge, and whole counts stay whole.
package align

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Weighting says in which windows a request counts.
type Weighting uint8

// The weightings. The package comment defines them.
const (
	InFlight   Weighting = iota // in each window, by the share of the request's life in it
	Completion                  // in the window where it completed
)

// String returns the name in documents and options.
func (w Weighting) String() string {
	if w == Completion {
		return "completion"
	}
	return "inflight"
}

// Options say how windows are made.
type Options struct {
	Window    int64     // length in milliseconds, at least 1
	Tolerance int64     // times within this distance of an edge count as the edge; usual is 5 % of a row's length
	Weighting Weighting // InFlight by default
	SpreadAll bool      // in-flight weights for all requests, not only those longer than a window
	Levels    []Level   // in any order; Cluster by default
	Workers   int       // goroutines; by default one for each CPU
	// Coarseness is the least coarseness of the bins of windows. Weights and times come from the bins of the rows.
	Coarseness int
	// Bounds has windows say what else their latencies may be: see [Window].Fastest. It takes up to three times the memory.
	Bounds bool
	// Live says that rows come while fio writes them, and that none begins before an earlier row of its stream, in any
	// direction. Each window is passed on as soon as it is final, not several at a time. Without in-flight weights that is as
	// soon as the next row of each stream is known.
	Live bool
}

// Stats describe the data of a merge.
type Stats struct {
	// Late is the number of requests whose windows were already closed. They took over ten minutes, or their row began
	// over a minute before it was written. They, or this part of their weight, count in the first open window.
	Late float64
	// Layout is the layout to which the bins of all streams can be added.
	Layout hist.Layout
}

// slab is the number of windows that are filled before the merge looks which windows can be closed. It is small, so the
// open windows of a worker stay in the CPU's cache.
const slab = 8

// manyStreams is the number of streams from which on the merge fills one window at a time. The windows of many streams
// take much memory, and one window has enough rows for all workers.
const manyStreams = 100

// Merge merges the streams into windows, and passes them to put in order of time and then of [Key]. It reads the streams
// in parallel, but not while put runs. The windows are the same to the last bit for any number of workers. The error is
// that of put or of ctx.
func Merge(ctx context.Context, streams []*Stream, opt Options, put func(*Window) error) (stats Stats, err error) {
	if opt.Window <= 0 {
		return stats, errors.New("windows have no length")
	}
	m := newMerger(streams, opt)
	defer func() {
		stats.Layout = m.layout
		for _, w := range m.workers {
			stats.Late += w.late
		}
	}()
	until := int64(0) // all rows that end by this time are read
	for soonest := m.soonest(); soonest < math.MaxInt64; {
		switch {
		case opt.Live:
			until = max(until, soonest)
		case len(streams) > manyStreams:
			until = max(until, soonest-soonest%opt.Window) + opt.Window
		default:
			until = max(until, soonest-soonest%opt.Window) + slab*opt.Window
		}
		m.parallel(func(w *worker, s *Stream) {
			for s.more && s.row.End <= until+w.tolerance && ctx.Err() == nil {
				d, late := s.row.Direction, 0.0
				for _, slot := range s.slots {
					late = w.add(slot+int(d), &s.row)
				}
				w.late += late
				if s.row.Start < s.row.End { // the rate at a moment is unknown
					w.doubt(s.slots, d, &s.pairs[d], stretch{s.row.Start, s.row.End, float64(s.row.Total), s.row.Whole})
				}
				s.advance()
			}
			if !s.more {
				for d := range fiolog.Direction(fiolog.WithSync) {
					w.doubt(s.slots, d, &s.pairs[d], stretch{})
				}
			}
		})
		if err := ctx.Err(); err != nil {
			return stats, err
		}
		soonest = m.soonest() // before windows are closed, because it may begin streams
		if err := m.close(put); err != nil {
			return stats, err
		}
	}
	return stats, nil
}

type merger struct {
	opt     Options
	streams []*Stream
	groups  []group
	begun   int // 1 when the first rows of streams were read, 2 when also those of streams with Last

	workers []*worker
	cold    map[int64][]*sum // packed windows
	layout  hist.Layout      // to which the bins of all rows so far can be added
	known   bool             // the layout is that of rows
}

// group is a key of the result, with its slots and its integer rounding.
type group struct {
	key    Key
	slots  []int
	twin   int  // index of a group of a wider level with the same slots, and so the same windows; else -1
	isTwin bool // of another group
	round  rounder

	ended       int64 // index of the last window
	begun, edge int64 // its start and end
}

// newMerger gives each key of the lowest level slots for read, write, trim and sync, and finds the groups of slots that the keys
// of all levels have. Jobs are parts of hosts, and hosts of the cluster. Sections lie across hosts, so they have slots of
// their own: one for each section on each host would take several times the memory.
func newMerger(streams []*Stream, opt Options) *merger {
	if len(opt.Levels) == 0 {
		opt.Levels = []Level{Cluster}
	}
	opt.Levels = slices.Sorted(slices.Values(opt.Levels))
	m := &merger{opt: opt, streams: streams, cold: map[int64][]*sum{}}
	var lowest []Level // to whose slots rows are added
	for i, l := range opt.Levels {
		if i == len(opt.Levels)-1 || opt.Levels[i+1] == Section {
			lowest = append(lowest, l)
		}
	}
	first := map[Key]int{} // slot of each key of these levels
	for _, s := range streams {
		for _, l := range lowest {
			first[s.key().At(l)] = 0
		}
	}
	slots := map[Key][]int{} // of all levels
	for i, key := range slices.SortedFunc(maps.Keys(first), Key.Compare) {
		first[key] = i * fiolog.WithSync
		for d := range fiolog.Direction(fiolog.WithSync) {
			key.Direction = d
			for _, l := range opt.Levels {
				if (l == Section) == (key.Level == Section) {
					slots[key.At(l)] = append(slots[key.At(l)], i*fiolog.WithSync+int(d))
				}
			}
		}
	}
	for _, s := range streams {
		s.slots, s.ended = nil, [fiolog.WithSync]int64{-1, -1, -1, -1}
		for _, l := range lowest {
			s.slots = append(s.slots, first[s.key().At(l)])
		}
	}
	index := map[Key]int{}
	for _, k := range slices.SortedFunc(maps.Keys(slots), Key.Compare) {
		g := group{key: k, slots: slots[k], twin: -1, ended: -2, begun: math.MinInt64}
		for _, l := range opt.Levels {
			if i, ok := index[k.At(l)]; ok && l < k.Level && slices.Equal(m.groups[i].slots, g.slots) {
				g.twin, g.isTwin, m.groups[i].isTwin = i, true, true
			}
		}
		index[k] = len(m.groups)
		m.groups = append(m.groups, g)
	}
	count := opt.Workers
	if count <= 0 {
		count = runtime.GOMAXPROCS(0)
	}
	for range min(count, max(len(streams), 1)) {
		m.workers = append(m.workers, &worker{
			grid:      grid{opt.Window, min(max(opt.Tolerance, 0), opt.Window/2)},
			weighting: opt.Weighting, spreadAll: opt.SpreadAll, bounds: opt.Bounds,
			open: map[int64][]*sum{}, slots: len(first) * fiolog.WithSync,
		})
	}
	return m
}

// soonest returns the end of the next row of all streams, or math.MaxInt64 if no stream has more rows. It begins the streams:
// first those without Last, and the others when these have ended.
func (m *merger) soonest() int64 {
	for ; ; m.begun++ {
		soonest := int64(math.MaxInt64)
		for _, s := range m.streams {
			if s.more {
				soonest = min(soonest, s.row.End)
			}
		}
		if m.begun == 2 || soonest < math.MaxInt64 {
			return soonest
		}
		m.parallel(func(_ *worker, s *Stream) {
			if s.Last == (m.begun == 1) {
				s.advance()
			}
		})
		l := m.layout
		for _, of := range m.streams {
			switch {
			case !of.more:
			case !m.known:
				l, m.known = of.row.Layout, true
			default:
				l = l.Merged(of.row.Layout)
			}
		}
		m.rebin(l)
	}
}

// close passes on the windows that no later row can change.
func (m *merger) close(put func(*Window) error) error {
	usual := m.final(usualReach)
	limit := m.final(min(longestReach, max(usualReach, longestWindows*m.opt.Window)))
	if m.opt.Live && m.opt.Weighting != InFlight {
		limit = math.MaxInt64
		for _, s := range m.streams {
			if s.more {
				grid := m.workers[0].grid
				first, _ := grid.windows(grid.snap(s.row.Start), grid.snap(s.row.End))
				limit = min(limit, first)
			}
		}
	}
	for ready := m.before(limit); len(ready) > 0; {
		at := ready[0]
		last := at // of the windows that become one with it
		for was := at - 1; was != last; {
			was = last
			for _, w := range m.workers {
				w.spans = slices.DeleteFunc(w.spans, func(of span) bool { return of.last < w.floor })
				for _, of := range w.spans {
					if of.first <= last && at <= of.last {
						last = max(last, of.last)
					}
				}
			}
		}
		if last > at && last >= limit {
			break
		}
		total := m.take(at)
		for ready = ready[1:]; len(ready) > 0 && ready[0] <= last; ready = ready[1:] {
			// The sums of both windows become one, which starts with the first and ends with the later one.
			for _, of := range total {
				if of != nil {
					of.end = edge{}
				}
			}
			for i, later := range m.take(ready[0]) {
				switch {
				case later == nil:
				case total[i] == nil:
					later.start = edge{}
					total[i] = later
				default:
					later.start = edge{}
					total[i].merge(later)
					later.release()
				}
			}
		}
		made := make([]*Window, len(m.groups))
		for i := range m.groups {
			g := &m.groups[i]
			if g.twin < 0 {
				made[i] = m.window(g, span{at, last}, total)
			} else if made[i] = made[g.twin]; made[i] != nil {
				w := *made[i]
				w.Key, made[i] = g.key, &w
			}
			if made[i] == nil {
				continue
			}
			if err := put(made[i]); err != nil {
				return err
			}
		}
		for _, of := range total {
			if of != nil {
				of.release()
			}
		}
		for _, w := range m.workers { // later rows for these windows count in the next one
			w.floor = last + 1
		}
	}
	if usual == limit {
		return nil
	}
	// Only slower requests can still change the windows before usual, so they become cold: only the bins that are not zero
	// stay in memory, and later requests go to new sums. Requests that were spread over bins of another layout stay,
	// because only their histogram records that.
	for _, at := range m.before(usual) {
		if !slices.ContainsFunc(m.workers, func(w *worker) bool { return w.open[at] != nil }) {
			continue // it is already cold
		}
		total := m.take(at)
		for _, of := range total {
			if of != nil && !of.latencies.Rebinned() {
				for i, h := range of.histograms() {
					of.packed[i], *h = h.Weights(), *hist.New(h.Layout())
				}
			}
		}
		m.cold[at] = total
	}
	return nil
}

// final returns the first window that a later row may change. A request reaches back by its latency, which the bins limit,
// but by at most longest milliseconds.
func (m *merger) final(longest int64) int64 {
	mark := int64(math.MaxInt64) // windows are final that end before this time
	for _, s := range m.streams {
		if !s.more {
			continue
		}
		at := s.row.Start
		for _, ended := range s.ended {
			if ended >= 0 {
				at = min(at, ended)
			}
		}
		reach := max((s.row.Layout.Reach()-1)/int64(time.Millisecond)+1, usualReach) // of its slowest requests
		mark = min(mark, max(at, s.row.End-horizon)-min(reach, longest))
	}
	if mark == math.MaxInt64 {
		return mark
	}
	grid := m.workers[0].grid
	return (mark - grid.tolerance - 1) / grid.length
}

// rebin changes to a coarser layout. It first adds up the open sums of all workers. If each were converted by itself,
// the fractions would depend on which worker read which row.
func (m *merger) rebin(l hist.Layout) {
	if l == m.layout {
		return
	}
	m.layout = l
	one := m.workers[0]
	for _, w := range m.workers {
		w.layout = l
		for at := range w.open {
			if w != one {
				one.open[at] = w.addTo(one.open[at], at)
			}
		}
	}
	for _, slots := range one.open {
		for _, o := range slots {
			if o != nil {
				o.to(l)
			}
		}
	}
}

// before returns the windows before the one with an index, in order.
func (m *merger) before(limit int64) []int64 {
	all := slices.Collect(maps.Keys(m.cold))
	for _, w := range m.workers {
		all = slices.AppendSeq(all, maps.Keys(w.open))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	n, _ := slices.BinarySearch(all, limit)
	return all[:n]
}

// take removes the sums of a window from all workers and adds them up.
func (m *merger) take(at int64) []*sum {
	total := m.cold[at]
	delete(m.cold, at)
	for _, of := range total {
		if of != nil {
			for i, h := range of.histograms() {
				h.AddWeights(h.Layout(), of.packed[i])
			}
			of.packed = [3][]hist.Weight{}
		}
	}
	for _, w := range m.workers {
		total = w.addTo(total, at)
	}
	return total
}

// window makes the window of one key from its slots. If it spans several windows, total has their sums. It returns nil
// if the window is empty.
func (m *merger) window(g *group, at span, total []*sum) *Window {
	var all *sum
	for _, slot := range g.slots {
		switch {
		case total[slot] == nil:
		case len(g.slots) == 1: // later groups with this slot are twins
			all, total[slot] = total[slot], nil
		default:
			if all == nil {
				all = newSum(m.layout)
			}
			all.merge(total[slot])
		}
	}
	if all == nil {
		return nil
	}
	completed := g.round.count(all.completed)
	if all.latencies.IsEmpty() && completed == 0 { // a fraction of a request may remain for a later window
		return nil
	}
	l := m.layout.Merged(all.latencies.Layout())
	if all.latencies.Layout() != l { // packed before the first row of a coarser layout
		all.to(l)
	}
	m.rebin(l)
	all.to(l.Coarser(m.opt.Coarseness))
	w := &Window{
		Key: g.key, Elapsed: at.first * m.opt.Window, Length: (at.last - at.first + 1) * m.opt.Window,
		Start: at.first * m.opt.Window, End: (at.last + 1) * m.opt.Window, Latencies: &all.latencies,
		Fastest: all.moved(0), Slowest: all.moved(1), Counts: g.round.bins(&all.latencies), Completed: completed, Unsure: [2]float64{all.start.unsure, all.end.unsure},
	}
	if all.whole != (span{}) && !all.start.cut && !all.end.cut {
		w.Start, w.End = all.whole.first, all.whole.last
	} else {
		w.Start += all.start.mean()
		w.End += all.end.mean()
	}
	// Windows neither overlap nor leave gaps, though the mean is over other requests. A row that is never cut may begin long before its
	// window, but no two windows begin at one moment.
	if g.ended == at.first-1 || w.Start <= g.begun && g.edge < w.End {
		w.Start = g.edge
	}
	g.ended, g.begun, g.edge = at.last, w.Start, w.End
	if !g.isTwin {
		w.sum = all
	}
	return w
}

// parallel calls do once for each stream, from all workers. It returns after all calls.
func (m *merger) parallel(do func(*worker, *Stream)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for _, w := range m.workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(m.streams); i = int(next.Add(1)) - 1 {
				do(w, m.streams[i])
			}
		})
	}
	all.Wait()
}

// Key names the direction, the host, the job and the section of a window's requests. Fields that the level does not
// distinguish are empty.
type Key struct {
	Level     Level
	Host      string
	Job       string
	Section   string
	Direction fiolog.Direction
}

// Compare orders keys by level, host, job, section and direction. Job 2 comes before job 10.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Level, o.Level), cmp.Compare(k.Host, o.Host), unit.Compare(k.Job, o.Job),
		cmp.Compare(k.Section, o.Section), cmp.Compare(k.Direction, o.Direction))
}

// At returns the key of the same requests at another level.
func (k Key) At(l Level) Key {
	at := Key{Level: l, Direction: k.Direction}
	switch l {
	case Host:
		at.Host = k.Host
	case Job:
		at.Host, at.Job = k.Host, k.Job
	case Section:
		at.Section = k.Section
	}
	return at
}

// Stream has the rows of one job, in order of their ends in each direction. All rows have the same layout. It is read
// once.
type Stream struct {
	Host, Job, Section string
	// Last delays a stream until all others have ended. Its rows are not known before, such as requests that fio did
	// not log for several jobs together.
	Last bool
	// Next returns the next row, which is valid until the next call. It returns false at the end. Only one goroutine at
	// a time calls it.
	Next func() (Row, bool)

	slots []int // of its first direction, at the lowest level and of its section
	row   Row   // the next one, if there are more
	more  bool
	ended [fiolog.WithSync]int64 // end of the last row of each direction, -1 before the first
	pairs [fiolog.WithSync]pair
}

func (s *Stream) key() Key { return Key{Host: s.Host, Job: s.Job, Section: s.Section} }

func (s *Stream) advance() {
	if s.row.Bins != nil {
		s.ended[s.row.Direction] = s.row.End
	}
	s.row, s.more = s.Next()
}

// horizon is how long a window stays open after the newest rows, in milliseconds, by weighting. A row may begin a
// minute before it is written, such as the first row of a direction that stalled at once. Its slowest requests began
// even earlier.
const horizon = 60_000

// A rebuilt fio with more groups has bins for requests of minutes, so windows stay open for minutes. Few rows reach so
// far back. So a window becomes cold after 17 s: see [merger.close].

const (
	// usualReach is the longest latency of a released fio, in milliseconds. It is the shortest reach of any layout
	// here.
	usualReach = 17_180

	// longestReach limits how far back requests of any layout are spread, in milliseconds.
	longestReach = 600_000

	// longestWindows is the same limit as a number of windows, for short windows.
	longestWindows = 1 << 13
)
