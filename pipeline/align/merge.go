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
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Weighting is how requests count in windows.
type Weighting uint8

// The weightings. The package comment defines them.
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
	// Last delays a stream until all others have ended, because its rows are known only
	// then: such as requests that fio did not log for several jobs together.
	Last bool
	// Next returns the next row, which is valid until the next call, and false at the end.
	// It is called by one goroutine at a time.
	Next func() (Row, bool)
}

// Options say how windows are made.
type Options struct {
	Window    int64           // length in milliseconds, at least 1
	Tolerance int64           // times so close to a window's edge are on it: 5 % of a row's length is usual
	Weighting Weighting       // InFlight by default
	SpreadAll bool            // in-flight weights for all requests, not only those longer than a window
	Levels    []mapping.Level // ascending; Cluster by default
	Workers   int             // goroutines; by default one for each CPU
	Eager     bool            // yield each window as soon as it is final, not several at a time
}

// Stats describe the data of a merge. They are complete when it has ended.
type Stats struct {
	// Late is the number of requests whose windows were already closed: their row began
	// over a minute before it was written, or they took over ten minutes. They, or that part
	// of their weight, count in the first open window.
	Late float64
	// Layout is the layout to which the bins of all streams can be added.
	Layout hist.Layout
}

// horizon is how far behind the newest rows a window stays open, in milliseconds, for
// each weighting: a row may begin a minute before it is written, such as the first row of a
// direction that stalled at once. Its slowest requests began earlier still.
const horizon = 60_000

// slab is how many windows are filled between two looks at what can be closed. They are few,
// so that a worker's open windows stay in its cache.
const slab = 8

// manyInputs is how many streams fill one window at a time, because their windows take much
// memory and have rows enough for all workers.
const manyInputs = 100

// Merge merges the streams into windows, in order of time and then of [Key]. It reads
// the streams in parallel. The windows are the same to the last bit for any number of
// workers. It ends with ctx's error when ctx ends. stats may be nil.
func Merge(ctx context.Context, streams []*Stream, opt Options, stats *Stats) iter.Seq2[*Window, error] {
	return func(yield func(*Window, error) bool) {
		if opt.Window <= 0 {
			yield(nil, errors.New("windows have no length"))
			return
		}
		m := newMerger(streams, opt)
		if stats != nil {
			defer m.setStats(stats)
		}
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

// merger is the state of one merge.
type merger struct {
	opt     Options
	inputs  []*input
	groups  []group
	workers []*worker
	layout  hist.Layout
	known   bool             // the layout is that of rows
	cold    map[int64][]*sum // packed windows, by slot
	until   int64            // rows that end by then have been read
	last    bool             // the delayed streams have begun
}

// input is one stream with its next row.
type input struct {
	*Stream
	slot  int // of its first direction
	row   Row
	more  bool
	ended [fiolog.Directions]int64 // end of the last row of each direction, -1 before the first
}

func (in *input) advance() {
	if in.row.Bins != nil {
		in.ended[in.row.Direction] = in.row.End
	}
	in.row, in.more = in.Next()
}

// group is a key of the result: its slots and its rounding.
type group struct {
	key   Key
	slots []int
	round rounder
}

func newMerger(streams []*Stream, opt Options) *merger {
	if len(opt.Levels) == 0 {
		opt.Levels = []mapping.Level{mapping.Cluster}
	}
	m := &merger{opt: opt, cold: map[int64][]*sum{}}
	keys := m.addInputs(streams)
	m.groups = groupKeys(keys, opt.Levels)
	count := opt.Workers
	if count <= 0 {
		count = runtime.GOMAXPROCS(0)
	}
	for range min(count, max(len(streams), 1)) {
		m.workers = append(m.workers, &worker{
			grid:      grid{opt.Window, min(max(opt.Tolerance, 0), opt.Window/2)},
			weighting: opt.Weighting, spreadAll: opt.SpreadAll,
			open: map[int64][]*sum{}, slots: len(keys),
		})
	}
	m.parallel(func(_ *worker, in *input) {
		if !in.Last {
			in.advance()
		}
	})
	m.learn()
	return m
}

// addInputs adds the streams and returns the keys of their slots, sorted: each key of the
// lowest level has read, write and trim.
func (m *merger) addInputs(streams []*Stream) (keys []Key) {
	lowest := slices.Max(m.opt.Levels)
	keyOf := func(s *Stream) Key { return Key{Level: mapping.Job, Host: s.Host, Job: s.Job}.At(lowest) }
	slots := map[Key]int{}
	for _, s := range streams {
		slots[keyOf(s)] = 0
	}
	for _, key := range slices.SortedFunc(maps.Keys(slots), Key.Compare) {
		slots[key] = len(keys)
		for d := range fiolog.Direction(fiolog.Directions) {
			key.Direction = d
			keys = append(keys, key)
		}
	}
	for _, s := range streams {
		m.inputs = append(m.inputs, &input{Stream: s, slot: slots[keyOf(s)], ended: [fiolog.Directions]int64{-1, -1, -1}})
	}
	return keys
}

// learn merges the layouts of the streams that have begun.
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

// widen changes to a coarser layout. It adds up the open sums of all workers first: converted
// one by one, their fractions would depend on which worker had which row.
func (m *merger) widen(l hist.Layout) {
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
				o.latencies = *o.latencies.To(l)
			}
		}
	}
}

// groupKeys makes the groups of all levels from the keys of the lowest.
func groupKeys(keys []Key, levels []mapping.Level) []group {
	slots := map[Key][]int{}
	for _, l := range levels {
		for slot, k := range keys {
			slots[k.At(l)] = append(slots[k.At(l)], slot)
		}
	}
	var groups []group
	for _, k := range slices.SortedFunc(maps.Keys(slots), Key.Compare) {
		groups = append(groups, group{key: k, slots: slots[k]})
	}
	return groups
}

// next advances by a slab or to the next row, over any gap. It reports false at the end.
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
	if len(m.inputs) > manyInputs {
		step = m.opt.Window
	}
	m.until = max(m.until+step, soonest-soonest%m.opt.Window+step)
	return true
}

// begin starts the delayed streams once all others have ended.
func (m *merger) begin() {
	if m.last || slices.ContainsFunc(m.inputs, func(in *input) bool { return in.more }) {
		return
	}
	m.last = true
	for _, in := range m.inputs {
		if in.Last {
			in.advance()
		}
	}
	m.learn()
}

// fill reads all rows of the slab.
func (m *merger) fill(ctx context.Context) {
	m.parallel(func(w *worker, in *input) {
		for until := m.until + w.tolerance; in.more && in.row.End <= until && ctx.Err() == nil; in.advance() {
			w.add(in.slot+int(in.row.Direction), &in.row)
		}
	})
}

// watermark is the time before which later rows cannot change a window. A request reaches
// back as far as its layout has bins, but at most longest milliseconds.
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

// close yields the windows that are final.
func (m *merger) close(yield func(*Window, error) bool) bool {
	mark := m.watermark(m.longest())
	closed := m.openBefore(mark)
	for at := range m.cold {
		if m.isBefore(at, mark) {
			closed = append(closed, at)
		}
	}
	slices.Sort(closed)
	for _, at := range slices.Compact(closed) {
		total := m.joined(at)
		for i := range m.groups {
			if w := m.window(&m.groups[i], at, total); w != nil && !yield(w, nil) {
				return false
			}
		}
		for _, s := range total {
			if s != nil {
				s.release()
			}
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
	return mark == math.MaxInt64 || (at+1)*m.opt.Window+m.workers[0].tolerance < mark
}

// openBefore lists the windows of all workers that end before a time, some several times.
func (m *merger) openBefore(mark int64) (list []int64) {
	for _, w := range m.workers {
		for at := range w.open {
			if m.isBefore(at, mark) {
				list = append(list, at)
			}
		}
	}
	return list
}

// joined takes the sums of a window from all workers and adds them up.
func (m *merger) joined(at int64) []*sum {
	total := m.cold[at]
	delete(m.cold, at)
	for _, s := range total {
		if s != nil {
			s.unpack()
		}
	}
	for _, w := range m.workers {
		total = w.addTo(total, at)
	}
	return total
}

// addTo takes the worker's sums of a window and adds them to total, which may be nil.
func (w *worker) addTo(total []*sum, at int64) []*sum {
	mine := w.open[at]
	delete(w.open, at)
	if total == nil {
		return mine
	}
	for i, s := range mine {
		switch {
		case s == nil:
		case total[i] == nil:
			total[i] = s
		default:
			total[i].merge(s)
			s.release()
		}
	}
	return total
}

// window makes one key's window from its slots; nil if it is empty.
func (m *merger) window(g *group, at int64, total []*sum) *Window {
	all := sum{latencies: *hist.New(m.layout)}
	for _, slot := range g.slots {
		if total[slot] != nil {
			all.merge(total[slot])
		}
	}
	completed := g.round.count(all.completed)
	if all.latencies.IsEmpty() && completed == 0 { // a fraction of a request may stay for a later window
		return nil
	}
	m.widen(all.latencies.Layout())
	w := &Window{
		Key: g.key, Elapsed: at * m.opt.Window, Length: m.opt.Window, Latencies: &all.latencies,
		Start: at * m.opt.Window, End: (at + 1) * m.opt.Window,
		Counts: g.round.bins(&all.latencies), Completed: completed,
	}
	if !all.cut {
		w.Start += all.start.mean()
		w.End += all.end.mean()
	}
	return w
}

func (m *merger) setStats(stats *Stats) {
	stats.Layout = m.layout
	for _, w := range m.workers {
		stats.Late += w.late
	}
}

// parallel calls do once for each input, from all workers, and waits for all calls.
func (m *merger) parallel(do func(*worker, *input)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for _, w := range m.workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(m.inputs); i = int(next.Add(1)) - 1 {
				do(w, m.inputs[i])
			}
		})
	}
	all.Wait()
}
