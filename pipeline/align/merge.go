package align

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Weighting is how requests count in windows.
type Weighting uint8

// The weightings; the package comment has their definitions.
const (
	InFlight   Weighting = iota // by the share of its life that a request spent in the window
	Completion                  // where it completed
)

// String is the name used in documents and options.
func (w Weighting) String() string {
	if w == Completion {
		return "completion"
	}
	return "inflight"
}

// Stream is the rows of one job, in order of their ends in each direction. All have the
// same layout.
type Stream struct {
	Host, Job string
	// Last is for rows that are known only when all other streams have ended, such as
	// what several jobs together lost at their ends: Next is not called before.
	Last bool
	// Next gives the next row, valid until the one after, and false at the end. It is
	// called by one goroutine at a time.
	Next func() (Row, bool)
}

// Options say how windows are made.
type Options struct {
	Window    int64     // length in milliseconds, at least 1
	Tolerance int64     // times so close to a window's edge are on it: 5 % of a row's length is usual
	Weighting Weighting // InFlight by default
	SpreadAll bool      // in-flight weights for all requests, not only those longer than a window
	Levels    Levels    // Cluster by default
	Workers   int       // goroutines; by default one for each CPU
	Eager     bool      // windows are given as soon as nothing can reach them, not some at a time
}

// Stats are what a merge has to say about its data; complete when it has ended.
type Stats struct {
	// Late is the number of requests whose row began so long before it was written
	// (over a minute), or that took so long (over ten), that their windows were closed:
	// they, or as much of their weight, count in the first open one.
	Late float64
	// Layout is the bins' layout, that in which those of all streams can be added.
	Layout hist.Layout
}

// How far behind the newest rows a window is kept open: a row may begin a minute
// before it is written, and its slowest requests began earlier still. So may,
// whatever the weighting, the first row of a direction that stalled at once.
const horizon = 60_000

// slab is how many windows are filled between two looks at what can be closed: few, so
// that a worker's open windows stay in its cache.
const slab = 8

// Merge merges the streams into windows, in order of time and then of [Key]. It reads
// the streams in parallel and gives the same windows, to the last bit, whatever the
// number of workers. It ends with ctx's error when ctx does. stats may be nil.
func Merge(ctx context.Context, streams []*Stream, opt Options, stats *Stats) iter.Seq2[*Window, error] {
	return func(yield func(*Window, error) bool) {
		if opt.Window <= 0 {
			yield(nil, errors.New("windows have no length"))
			return
		}
		m := newMerger(streams, opt)
		defer m.tell(stats)
		for m.begin(); m.next(); {
			m.fill(ctx)
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			m.begin()
			if !m.close(yield) {
				return
			}
		}
	}
}

// merger holds the state of one merge.
type merger struct {
	opt     Options
	grid    grid
	inputs  []*input
	keys    []Key // by slot, sorted: lowest level, read, write, trim of each
	groups  []group
	workers []*sums
	layout  hist.Layout
	known   bool // the layout is that of rows
	cold    map[int64]coldWindow
	until   int64 // rows that end up to here have been read
	lasts   bool  // the streams that come last have begun
}

// input is one stream with its next row.
type input struct {
	*Stream
	slot  int // of its first direction
	row   Row
	more  bool
	ended [fiolog.Directions]int64 // end of the last row of each direction, -1 for none yet
}

func (in *input) advance() {
	if in.row.Bins != nil {
		in.ended[in.row.Direction] = in.row.End
	}
	in.row, in.more = in.Next()
}

// group is a key of the result: the slots that make it up, and its rounding.
type group struct {
	key   Key
	slots []int
	round rounder
}

func newMerger(streams []*Stream, opt Options) *merger {
	m := &merger{opt: opt, grid: grid{opt.Window, min(max(opt.Tolerance, 0), opt.Window/2)}, cold: map[int64]coldWindow{}}
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	lowest := opt.Levels.Lowest()
	slots := map[Key]int{}
	for _, s := range streams {
		key := Key{Level: Job, Host: s.Host, Job: s.Job}.At(lowest)
		slots[key] = 0
		in := &input{Stream: s}
		for d := range in.ended {
			in.ended[d] = -1
		}
		m.inputs = append(m.inputs, in)
	}
	for _, key := range slices.SortedFunc(maps.Keys(slots), Key.Compare) {
		slots[key] = len(m.keys)
		for d := range fiolog.Direction(fiolog.Directions) {
			key.Direction = d
			m.keys = append(m.keys, key)
		}
	}
	for _, in := range m.inputs {
		in.slot = slots[Key{Level: Job, Host: in.Host, Job: in.Job}.At(lowest)]
	}
	m.groups = groupKeys(m.keys, opt.Levels)
	parallel(workers, len(m.inputs), func(_, i int) {
		if !m.inputs[i].Last {
			m.inputs[i].advance()
		}
	})
	for range min(workers, max(len(streams), 1)) {
		m.workers = append(m.workers, &sums{
			weigher: weigher{m.grid, opt.Weighting, opt.SpreadAll},
			open:    map[int64][]*sum{}, slots: len(m.keys),
		})
	}
	m.learn()
	return m
}

// learn takes in the layouts of the streams that have begun.
func (m *merger) learn() {
	l := m.layout
	for _, in := range m.inputs {
		switch {
		case !in.more:
		case !m.known:
			l, m.known = in.row.Layout, true
		default:
			l = l.Merged(in.row.Layout)
		}
	}
	m.widen(l)
}

// widen goes over to a coarser layout. Sums that are open are joined first: converting
// the parts of each worker would make fractions that depend on who had what.
func (m *merger) widen(l hist.Layout) {
	if l == m.layout {
		return
	}
	m.layout = l
	one := m.workers[0]
	for _, w := range m.workers {
		w.layout, w.free = l, nil
		for at := range w.open {
			if w != one {
				one.open[at] = m.handOver(w, at, one.open[at])
			}
		}
	}
	for _, slots := range one.open {
		for _, o := range slots {
			if o != nil {
				o.latencies = *o.latencies.To(l)
			}
		}
	}
}

// groupKeys makes the keys of all levels from those of the lowest.
func groupKeys(keys []Key, levels Levels) []group {
	slots := map[Key][]int{}
	for _, l := range []Level{Cluster, Host, Job} {
		if levels.Has(l) {
			for slot, k := range keys {
				slots[k.At(l)] = append(slots[k.At(l)], slot)
			}
		}
	}
	var groups []group
	for _, k := range slices.SortedFunc(maps.Keys(slots), Key.Compare) {
		groups = append(groups, group{key: k, slots: slots[k]})
	}
	return groups
}

// next moves on by a slab, or to the next row, over any gap, and tells whether there is anything left.
func (m *merger) next() bool {
	soonest := int64(math.MaxInt64)
	for _, in := range m.inputs {
		if in.more {
			soonest = min(soonest, in.row.End)
		}
	}
	if soonest == math.MaxInt64 {
		return false
	}
	if m.opt.Eager {
		m.until = max(m.until, soonest)
		return true
	}
	step := slab * m.opt.Window
	m.until = max(m.until+step, soonest-soonest%m.opt.Window+step)
	return true
}

// begin starts the streams that wait for the end of all others, once that has come.
func (m *merger) begin() {
	if m.lasts || slices.ContainsFunc(m.inputs, func(in *input) bool { return in.more }) {
		return
	}
	m.lasts = true
	for _, in := range m.inputs {
		if in.Last {
			in.advance()
		}
	}
	m.learn()
}

// fill reads all rows of the slab, which may be the whole run.
func (m *merger) fill(ctx context.Context) {
	until := m.until + m.grid.tolerance
	parallel(len(m.workers), len(m.inputs), func(worker, i int) {
		in, sums := m.inputs[i], m.workers[worker]
		for in.more && in.row.End <= until && ctx.Err() == nil {
			sums.add(in.slot+int(in.row.Direction), &in.row)
			in.advance()
		}
	})
}

// watermark is the time before which no row to come can change a window. Requests are taken
// to reach back as far as their layout has bins, but not further than longest, in milliseconds.
func (m *merger) watermark(longest int64) int64 {
	mark := int64(math.MaxInt64)
	for _, in := range m.inputs {
		if !in.more {
			continue
		}
		at := in.row.Start
		for _, ended := range in.ended {
			if ended >= 0 {
				at = min(at, ended)
			}
		}
		mark = min(mark, max(at, in.row.End-horizon)-min(reachOf(in.row.Layout), longest))
	}
	return mark
}

// close yields the windows that nothing can reach any more.
func (m *merger) close(yield func(*Window, error) bool) bool {
	closed := m.openBefore(m.watermark(m.longest()))
	for at := range m.cold {
		if m.isBefore(at, m.watermark(m.longest())) {
			closed = append(closed, at)
		}
	}
	slices.Sort(closed)
	for _, at := range slices.Compact(closed) {
		if !m.yield(at, yield) {
			return false
		}
		for _, w := range m.workers {
			w.floor = at + 1
		}
	}
	m.cool()
	return true
}

// isBefore reports whether a window ends before a time.
func (m *merger) isBefore(at, mark int64) bool {
	return mark == math.MaxInt64 || (at+1)*m.opt.Window+m.grid.tolerance < mark
}

// openBefore are the windows with sums that end before a time; some come several times.
func (m *merger) openBefore(mark int64) []int64 {
	var list []int64
	for _, w := range m.workers {
		for at := range w.open {
			if m.isBefore(at, mark) {
				list = append(list, at)
			}
		}
	}
	return list
}

// yield gives the windows at one time, of all keys.
func (m *merger) yield(at int64, yield func(*Window, error) bool) bool {
	total := m.joined(at)
	for i := range m.groups {
		if w := m.window(&m.groups[i], at, total); w != nil && !yield(w, nil) {
			return false
		}
	}
	m.recycle(total)
	return true
}

// joined takes the sums of a window from all workers.
func (m *merger) joined(at int64) []*sum {
	total := m.warm(at, m.workers[0].open[at])
	delete(m.workers[0].open, at)
	for _, w := range m.workers[1:] {
		total = m.handOver(w, at, total)
	}
	return total
}

// handOver adds a worker's sums of a window to total.
func (m *merger) handOver(worker *sums, at int64, total []*sum) []*sum {
	mine := worker.open[at]
	delete(worker.open, at)
	if total == nil {
		return mine
	}
	for i, o := range mine {
		switch {
		case o == nil:
		case total[i] == nil:
			total[i], mine[i] = o, nil
		default:
			total[i].merge(o)
		}
	}
	m.recycle(mine)
	return total
}

// recycle gives sums back to the workers, first to the one that has fewest in hand.
// Those of a layout that is no longer used are dropped.
func (m *merger) recycle(slots []*sum) {
	for _, o := range slots {
		if o != nil && o.latencies.Layout() == m.layout {
			o.reset()
			poorest := slices.MinFunc(m.workers, func(a, b *sums) int { return len(a.free) - len(b.free) })
			poorest.free = append(poorest.free, o)
		}
	}
}

// window makes one key's window from its slots; nil when there is nothing in it.
func (m *merger) window(g *group, at int64, total []*sum) *Window {
	all := sum{latencies: *hist.New(m.layout)}
	for _, slot := range g.slots {
		if total[slot] != nil {
			all.merge(total[slot])
		}
	}
	completed := g.round.count(all.completed)
	if all.latencies.IsEmpty() && completed == 0 { // perhaps a bit of a request, kept for later
		return nil
	}
	m.widen(all.latencies.Layout())
	w := &Window{
		Key: g.key, Elapsed: at * m.opt.Window, Length: m.opt.Window, Latencies: &all.latencies,
		Start: at * m.opt.Window, End: (at + 1) * m.opt.Window,
	}
	if !all.cut {
		w.Start += all.start.mean()
		w.End += all.end.mean()
	}
	w.Counts = g.round.bins(w.Latencies)
	w.Completed = completed
	return w
}

func (m *merger) tell(stats *Stats) {
	if stats == nil {
		return
	}
	stats.Layout = m.layout
	for _, w := range m.workers {
		stats.Late += w.late
	}
}

// parallel calls do for 0 … n-1 from so many workers and waits for all.
func parallel(workers, n int, do func(worker, i int)) {
	if workers = min(workers, n); workers <= 1 {
		for i := range n {
			do(0, i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(worker, i)
			}
		})
	}
	all.Wait()
}
