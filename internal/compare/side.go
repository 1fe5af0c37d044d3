package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Run is one run of a side.
type Run struct {
	Name     string       // as the user named it: a path, or an id
	Document *mapping.Run // set by End; without histograms
	Together bool         // requests of all directions are one series, [mapping.AllDirections]; set before Add

	series map[string]*series // by direction
}

// Add adds a window of level Cluster and the histogram of its requests, or nil without requests. Windows come in
// order of time.
func (r *Run) Add(w *window.Window, requests *hist.Histogram) {
	if w.Averaged { // it has rates and no requests; the totals have what such windows add up to
		return
	}
	if r.series == nil {
		r.series = map[string]*series{}
	}
	direction := w.Direction
	if r.Together {
		if direction = mapping.AllDirections; w.Direction == mapping.Sync { // not among all requests
			return
		}
	}
	if r.series[direction] == nil {
		r.series[direction] = &series{}
	}
	r.series[direction].add(w, requests)
}

// totalsOf returns the totals of each direction that is compared.
func (r *Run) totalsOf(doc *mapping.Run) []mapping.DirectionTotals {
	list := doc.ByDirection()
	if r.Together {
		list = slices.DeleteFunc(list, func(d mapping.DirectionTotals) bool { return d.Direction == mapping.Sync })
	}
	switch {
	case !r.Together || len(list) == 0:
		return list
	case len(list) == 1:
		return []mapping.DirectionTotals{{Direction: mapping.AllDirections, Totals: list[0].Totals}}
	case doc.All == nil:
		return nil
	}
	return []mapping.DirectionTotals{{Direction: mapping.AllDirections, Totals: doc.All}}
}

// AddTotals adds the totals of a whole run in some directions, or in all. Without windows they are what is compared: what fio's
// report alone says, or logs of averages. Otherwise they have the requests that are in no window. It is called after End.
func (r *Run) AddTotals(doc *mapping.Run, directions []string) error {
	hasWindows := !r.IsEmpty()
	if !hasWindows {
		r.series = map[string]*series{}
	}
	for _, d := range r.totalsOf(doc) {
		if len(directions) > 0 && !slices.Contains(directions, d.Direction) {
			continue
		}
		h, err := &hist.Histogram{}, error(nil)
		if !d.Latency.Bins.IsZero() {
			h, err = d.Latency.Hist()
		}
		if err != nil {
			return err
		}
		if s := r.series[d.Direction]; hasWindows && (s != nil || d.Direction != mapping.Sync) { // logs do not have syncs
			if s != nil && !doc.Run.Live() {
				light := *d.Totals
				light.Latency.Bins = mapping.Bins{}
				s.whole, s.bins = &light, h
			}
			continue
		}
		ms, requests := d.DurationMS, d.Requests
		if requests == 0 && d.IOPS > 0 { // fio says only how many a second
			ms, requests = 1e6, int64(d.IOPS*1000)
		}
		r.series[d.Direction] = &series{totals: d.Totals, whole: d.Totals, bins: h, cut: []block{{end: ms, completed: requests, latency: *h}}}
	}
	return nil
}

// End sets the run document, after all windows are added. A direction with all of its requests in windows lasts as long as
// in the document, so that its IOPS are those of the run, to the last digit.
func (r *Run) End(doc *mapping.Run) {
	r.Document = doc.Light()
	lasted := map[string]int64{}
	for _, t := range r.totalsOf(doc) {
		if s := r.series[t.Direction]; s != nil && s.completed() == t.Requests {
			lasted[t.Direction] = t.DurationMS
		}
	}
	for d, s := range r.series {
		s.endBy(doc.Run.End.Sub(doc.Run.Start).Milliseconds(), lasted[d])
	}
}

// IsEmpty reports whether the run has nothing to compare.
func (r *Run) IsEmpty() bool { return len(r.series) == 0 }

// Side is a run, or several repetitions of a test.
type Side struct {
	Name string // as the user named it: the names of runs, joined by commas
	Runs []*Run
}

// of returns the series of a direction, one for each run that has it. If any has windows, those without are left out.
func (s *Side) of(direction string) (list []*series) {
	for _, r := range s.Runs {
		if one := r.series[direction]; one != nil {
			list = append(list, one)
		}
	}
	if slices.ContainsFunc(list, func(one *series) bool { return one.totals == nil }) {
		list = slices.DeleteFunc(list, func(one *series) bool { return one.totals != nil })
	}
	return list
}

func (s *Side) directions() string {
	var names []string
	for _, d := range append(mapping.Directions[:], mapping.AllDirections) {
		if s.of(d) != nil {
			names = append(names, mapping.Plural(d))
		}
	}
	return strings.Join(names, ", ")
}

// Line is the change of a metric in one direction.
type Line struct {
	Direction string
	Change
}

// Reason returns the direction, and why its change has no interval; or "" if it has one.
func (l *Line) Reason() string {
	if l.Why == "" || l.SpansGap() {
		return ""
	}
	return l.Direction + ": " + l.Why
}

// Compare compares the directions that both sides have. The notes say what was not compared, and what makes the
// answers less certain, except for the reasons of lines. It fails if the sides have no direction in common.
func Compare(base, other *Side, opt Options) (lines []Line, notes []string, err error) {
	note := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	for _, direction := range append(mapping.Directions[:], mapping.AllDirections) {
		from, to := base.of(direction), other.of(direction)
		switch {
		case from == nil && to == nil:
			continue
		case from == nil || to == nil:
			with := base
			if from == nil {
				with = other
			}
			note("only %s has %s: not compared", with.Name, mapping.Plural(direction))
			continue
		}
		for _, side := range []*Side{base, other} {
			if has := len(side.of(direction)); has < len(side.Runs) {
				note("only %d of the %d runs of %s have %s in windows", has, len(side.Runs), side.Name, mapping.Plural(direction))
			}
		}
		of := opt
		of.Metrics = slices.DeleteFunc(slices.Clone(opt.Metrics), func(m facts.Metric) bool { return !m.IsOf(direction) })
		for _, c := range changesOf(from, to, of) {
			if c.Why == "" && (c.BaseOpen || c.OtherOpen) {
				note("%s and %s: %s: %s rests on fio's last bin, which has no upper end: %s to %s, %s",
					base.Name, other.Name, direction, c.Metric, c.BaseText(), c.OtherText(), c.Text())
			}
			lines = append(lines, Line{direction, c})
		}
	}
	switch {
	case len(lines) > 0:
	case base.of(mapping.Sync) != nil && other.of(mapping.Sync) != nil:
		return nil, notes, errors.New("syncs have no IOPS and no bandwidth: compare their latencies")
	default:
		return nil, notes, fmt.Errorf("%s and %s have no direction in common: the first has %s, the second %s",
			base.Name, other.Name, base.directions(), other.directions())
	}
	return lines, notes, nil
}

const (
	maxBlocks = 30             // most blocks of a run
	fewBlocks = 10             // most blocks of a short run
	inBlock   = 4              // fewest windows in a block, except in short runs, because neighbours are correlated
	maxKept   = 32 * maxBlocks // an even number
)

// series has the windows of a run in one direction. It keeps up to 960 blocks and joins neighbours if there are
// more, so a day of one-second windows takes no more memory. The zero value is empty.
type series struct {
	kept    *window.Columns[block] // by the number of the window
	windows int
	start   int64           // of the last window, in milliseconds since the run's start
	end     int64           // the latest end of a window
	cut     []block         // what is drawn, after all windows are added; what was kept is dropped then
	totals  *mapping.Totals // of a run without windows; else nil
	whole   *mapping.Totals // of a whole run, of which windows may lack requests; nil for a part of a run
	bins    *hist.Histogram // of whole
}

// size returns the bytes of a request, the mean of the whole run, or NaN if it is not known.
func (s *series) size() float64 {
	switch t := s.whole; {
	case t == nil:
		return math.NaN()
	case t.Bytes > 0 && t.Requests > 0:
		return float64(t.Bytes) / float64(t.Requests)
	case t.Bandwidth > 0 && t.IOPS > 0:
		return t.Bandwidth / t.IOPS
	}
	return math.NaN()
}

// block is one window, or several consecutive ones.
type block struct {
	start, end int64
	completed  int64
	latency    hist.Histogram
}

// ms returns the length. That of a block that is drawn goes up to the next one, with the gaps between windows.
func (b *block) ms() int64 { return b.end - b.start }

// add adds the next window and the histogram of its requests, or nil without requests. Windows come in order of
// time. Those of two directions that overlap count as one.
func (s *series) add(w *window.Window, requests *hist.Histogram) {
	if s.windows == 0 {
		s.kept = window.NewColumns(maxKept, (*block).merge)
	}
	if s.windows == 0 || w.StartMS() >= s.end {
		s.windows, s.start = s.windows+1, w.StartMS()
	}
	b := s.kept.At(int64(s.windows - 1))
	if b.end == 0 {
		b.start = w.StartMS() // the nominal start may be later, and is not what runs and reports divide by
	}
	b.end = max(b.end, w.EndMS())
	b.completed += w.Completed
	if requests != nil {
		b.latency.Merge(requests)
	}
	s.end = max(s.end, w.EndMS())
}

func (b *block) merge(next *block) {
	b.end = max(b.end, next.end)
	b.completed += next.completed
	b.latency.Merge(&next.latency)
}

// completed returns the number of requests of all windows.
func (s *series) completed() (n int64) {
	for _, b := range s.kept.All() {
		n += b.completed
	}
	return n
}

// endBy sets when the run ended, in milliseconds since its start, because the last window may be longer. If lasted is not
// 0, it is the time from the start of the first window to the end of the last. After that no window can be added, and
// only blocks are kept, so that many runs fit into memory.
func (s *series) endBy(ms, lasted int64) {
	if s.windows > 0 {
		all := s.kept.All()
		last := all[len(all)-1]
		switch end := all[0].start + lasted; {
		case end > s.start && lasted > 0:
			last.end = end
		case ms > s.start:
			last.end = min(last.end, ms)
		}
	}
	s.cut, s.kept = s.blocks(), nil
}

// blocks cuts the run into blocks of equal numbers of windows. The numbers differ by at most one window; if there
// are more than 960 windows, by up to a sixteenth. There are up to 30 blocks with at least four windows each. If
// that would be fewer than ten blocks, there are ten, or as many as there are windows.
func (s *series) blocks() []block {
	if s.windows == 0 || s.cut != nil {
		return s.cut
	}
	kept := s.kept.All()
	n := len(kept)
	out := make([]block, min(maxBlocks, max(n/inBlock, min(n, fewBlocks))))
	for i := range out {
		from, to := i*n/len(out), (i+1)*n/len(out)
		b := &out[i]
		for _, one := range kept[from:to] {
			b.merge(one)
		}
		b.start, b.end = kept[from].start, kept[to-1].end
		if to < n {
			b.end = kept[to].start
		}
	}
	return out
}
