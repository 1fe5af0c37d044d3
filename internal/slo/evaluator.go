package slo

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// sample is a window in the form that rules need.
type sample struct {
	direction  string
	start, end int64           // in milliseconds since the run's start
	completed  int64           // completed requests, for iops
	latency    *hist.Histogram // of the requests; nil or empty if there were none
	// stored has percentiles computed from exact weights, before these were rounded to whole requests. Other commands
	// print these, so they have precedence over the histogram. It may be nil.
	stored *mapping.Latency
}

// total has the requests of a direction in the whole run.
type total struct {
	completed int64
	iops      float64
	latency   *hist.Histogram // nil if it is not known
}

// Breach is a rule that is broken in a window.
type Breach struct {
	Rule  Rule
	Value float64 // value in the window, in the unit of the rule's metric
	Close bool    // the limit lies within the error bounds of the value
	Open  bool    // Value is a lower bound, because it lies in the last bin

	requests float64 // number of requests in the window
}

// Evaluator checks a run against rules. Windows may come in any order. It keeps 24 bytes for each window, and as
// many for each rule about windows that the window breaks.
type Evaluator struct {
	rules  []Rule
	series map[string]*series // by direction
	end    int64
	even   bool // all windows should have the same length

	elapsed int64              // nominal start of the open windows, in milliseconds since the run's start
	open    map[string]*sample // by direction; windows of other hosts or jobs may still be added
}

// series is one direction of the run.
type series struct {
	windows   []passed
	completed int64
	latency   hist.Histogram // merged from all windows
	total     *total         // from the run document; nil if it is not set
	tallies   []tally        // one for each rule about latency in windows
}

// passed is the part of a window that is kept.
type passed struct{ start, end, completed int64 }

// New returns an evaluator of rules.
func New(rules []Rule) *Evaluator {
	return &Evaluator{rules: rules, series: map[string]*series{}, end: math.MaxInt64, open: map[string]*sample{}}
}

func (e *Evaluator) of(direction string) *series {
	s := e.series[direction]
	if s == nil {
		s = &series{tallies: make([]tally, len(e.rules))}
		e.series[direction] = s
	}
	return s
}

// add adds a window and returns the rules that it breaks. Rules about the number of requests are not checked.
func (e *Evaluator) add(w sample) []Breach {
	s := e.of(w.direction)
	s.add(&w)
	var broken []Breach
	for i := range e.rules {
		r := &e.rules[i]
		if !r.isAbout(w.direction) {
			continue
		}
		o, ok := r.inWindow(&w)
		if !ok {
			continue
		}
		if r.InWindows() && r.Metric.IsOfHistogram() {
			s.tallies[i].add(r, passed{w.start, w.end, w.completed}, o)
		}
		if !o.met && !o.isUnknown {
			broken = append(broken, Breach{*r, o.Value, o.surely != o.maybe, o.Open, float64(max(w.completed, 1))})
		}
	}
	return broken
}

func (s *series) add(w *sample) {
	s.completed += w.completed
	if w.latency != nil {
		s.latency.Merge(w.latency)
	}
	s.windows = append(s.windows, passed{w.start, w.end, w.completed})
}

// inWindow checks one window. It returns false if the window lacks what the rule is about.
func (r *Rule) inWindow(w *sample) (outcome, bool) {
	switch r.Metric.Unit() {
	case window.Number:
		return outcome{}, false
	case window.PerSecond:
		return r.exact(perSecond(w.completed, w.end-w.start)), w.end > w.start
	}
	if w.latency == nil || w.latency.IsEmpty() {
		return outcome{}, false
	}
	a := r.Metric.Of(w.latency)
	if w.stored != nil {
		if us, ok := w.stored.Figure(r.Metric.String()); ok {
			a.Value = math.Round(us * 1000)
			a.Open = a.Open || w.latency.Layout().Open(w.latency.Layout().Index(int64(a.Value)))
		}
	}
	return r.judge(a), true
}

// perSecond returns a rate, rounded as in documents.
func perSecond(n, ms int64) float64 {
	if ms <= 0 {
		return 0
	}
	return math.Round(float64(n)*1000/float64(ms)*1000) / 1000
}

// Verdicts returns the verdicts for the windows so far, in the order of the rules, and for each rule by direction:
// read, write, trim.
func (e *Evaluator) Verdicts() []Verdict {
	e.addOpen()
	var all []Verdict
	for i, r := range e.rules {
		before := len(all)
		for _, d := range mapping.Directions {
			if s := e.series[d]; s != nil && r.isAbout(d) {
				all = append(all, e.verdict(i, d, s))
			}
		}
		if len(all) == before {
			v := newVerdict(r, r.Direction)
			v.unknown("there are no " + cmp.Or(r.Direction, "request") + "s")
			all = append(all, v)
		}
	}
	return all
}

func newVerdict(r Rule, direction string) Verdict {
	nan := math.NaN()
	return Verdict{Rule: r, Direction: direction, Answer: hist.Answer{Value: nan, Low: nan, High: nan}, Budget: nan}
}

// verdict returns the verdict on rule i in one direction.
func (e *Evaluator) verdict(i int, direction string, s *series) Verdict {
	v := newVerdict(e.rules[i], direction)
	total := s.total
	if total == nil {
		total = s.sum(e.end)
	}
	v.Requests = float64(total.completed)
	r := &v.Rule
	if r.Metric.IsOfHistogram() {
		if total.latency == nil || total.latency.IsEmpty() {
			v.unknown("there are no histograms of latency")
			return v
		}
		v.Requests = math.Round(total.latency.Total())
	}
	switch {
	case r.InWindows():
		s.sort()
		t := &s.tallies[i]
		if !r.Metric.IsOfHistogram() {
			t = s.rates(r, e.end)
		}
		if t.judged == 0 {
			v.unknown("there are no windows to judge")
			return v
		}
		v.setWindows(t, s.gap(), e.even)
	case r.Metric.IsOfHistogram():
		v.set(r.judge(r.Metric.Of(total.latency)))
	case r.Metric.Unit() == window.PerSecond:
		v.set(r.exact(total.iops))
	default:
		v.set(r.exact(float64(total.completed)))
	}
	return v
}

// sum returns the total of all windows. It covers the time from the start of the first window to end, or to the end
// of the last window.
func (s *series) sum(end int64) *total {
	s.sort()
	n := len(s.windows)
	last := s.windows[n-1]
	if last.start < end {
		last.end = min(last.end, end)
	}
	return &total{s.completed, perSecond(s.completed, last.end-s.windows[0].start), &s.latency}
}

// sort sorts windows by time.
func (s *series) sort() {
	slices.SortFunc(s.windows, func(a, b passed) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
}

// gap returns the shortest time between two windows that counts as a gap: three quarters of the shortest window.
// Shorter times come from rows that were a little late. The first and the last window are ignored, because the run
// may cut them. Windows must be sorted.
func (s *series) gap() int64 {
	length := func(w passed) int64 { return w.end - w.start }
	inner := s.windows
	switch n := len(inner); n {
	case 0, 1:
		return math.MaxInt64
	case 2:
		return max(length(inner[0]), length(inner[1])) * 3 / 4
	default:
		inner = inner[1 : n-1]
	}
	return length(slices.MinFunc(inner, func(a, b passed) int { return cmp.Compare(length(a), length(b)) })) * 3 / 4
}

// rates checks a rule about iops in windows, and in the gaps between them. Windows must be sorted.
func (s *series) rates(r *Rule, end int64) *tally {
	t, gap := &tally{}, s.gap()
	for i, w := range s.windows {
		if i > 0 {
			if before := s.windows[i-1].end; w.start-before >= gap {
				t.add(r, passed{start: before, end: w.start}, r.exact(0))
			}
		}
		if i == len(s.windows)-1 {
			if i > 0 && (isCut(w, end) || isScrap(w, gap)) {
				break
			}
			if isCut(w, end) && end > w.start {
				w.end = end
			}
		}
		t.add(r, w, r.exact(perSecond(w.completed, w.end-w.start)))
	}
	return t
}

// isCut reports whether more than a twentieth of a window lies after the run's end.
func isCut(w passed, end int64) bool { return w.end > end && (w.end-end)*20 > w.end-w.start }

// isScrap reports whether a last window is too short for a rate: shorter than a tenth of the shortest
// other window. gap
// is three quarters of that shortest one.
func isScrap(w passed, gap int64) bool { return (w.end-w.start)*10*3 < gap*4 }

// Add adds a complete window, and returns the rules that it breaks. Rules about the number of requests are not
// checked.
func (e *Evaluator) Add(w *window.Window) ([]Breach, error) {
	one, ok, err := sampleOf(w)
	if err != nil || !ok {
		return nil, err
	}
	return e.add(one), nil
}

// sampleOf returns a window in the form that rules need. It returns false if the window has no requests or rates,
// such as averages of bandwidth only.
func sampleOf(w *window.Window) (sample, bool, error) {
	s := sample{direction: w.Direction, start: w.StartMS(), end: w.EndMS(), completed: w.Completed}
	var err error
	if s.latency, err = w.Histogram(); err != nil {
		return s, false, err
	}
	if s.latency != nil {
		s.stored = &w.Latency
		return s, true, nil
	}
	if s.completed == 0 && w.IOPS > 0 { // averages have a rate, but no number of requests
		s.completed = int64(math.Round(w.IOPS * float64(s.end-s.start) / 1000))
	}
	return s, s.completed > 0 || !w.Averaged, nil
}

// Merge adds a window of one host or job. Windows of one direction and nominal time become one window, so Merge must
// be called in order of time.
func (e *Evaluator) Merge(w *window.Window) error {
	if w.ElapsedMS != e.elapsed {
		e.addOpen()
		e.elapsed = w.ElapsedMS
	}
	one, ok, err := sampleOf(w)
	if err != nil || !ok {
		return err
	}
	all := e.open[w.Direction]
	if all == nil {
		e.open[w.Direction] = &one
		return nil
	}
	if one.end-one.start > all.end-all.start { // rows of hosts are some milliseconds apart
		all.start, all.end = one.start, one.end
	}
	all.completed += one.completed
	if all.latency == nil {
		all.latency = one.latency
	} else if one.latency != nil {
		all.latency.Merge(one.latency)
	}
	all.stored = nil
	return nil
}

// addOpen adds the windows that are complete, because a later one has begun.
func (e *Evaluator) addOpen() {
	for _, direction := range slices.Sorted(maps.Keys(e.open)) {
		e.add(*e.open[direction])
	}
	clear(e.open)
}

// SetRun sets the totals and the end of the run from its document. Empty directions means all.
func (e *Evaluator) SetRun(run *mapping.Run, directions []string) error {
	for _, d := range run.ByDirection() {
		if len(directions) > 0 && !slices.Contains(directions, d.Direction) || d.Requests == 0 { // 0 is unknown
			continue
		}
		t := &total{completed: d.Requests, iops: d.IOPS}
		if d.Latency.HasPercentiles() {
			var err error
			if t.latency, err = d.Latency.Hist(); err != nil {
				return err
			}
		}
		e.of(d.Direction).total = t
	}
	e.SetEnd(run)
	return nil
}

// SetEnd sets the end of the run from its document, because the last window may be longer.
func (e *Evaluator) SetEnd(run *mapping.Run) {
	e.even = run.IntervalMS > 0
	if ms := run.Run.End.Sub(run.Run.Start).Milliseconds(); ms > 0 {
		e.end = ms
	}
}

// tally adds up the results of a rule in windows, as milliseconds of their lengths.
type tally struct {
	judged, held  int64   // all windows that count; windows in which the rule is met
	open          int64   // windows that are unknown, because the latency has no upper bound
	surely, maybe int64   // windows in which the rule is met at all values within the error bounds; at some of them
	lengths       []int64 // of the windows with requests in which the rule is met
	worst         Moment
	broken        []Moment // broken windows, in any order
}

func (t *tally) add(r *Rule, w passed, o outcome) {
	m, length := Moment{w.start, w.end, o.Value, o.Open}, w.end-w.start
	if length <= 0 {
		return
	}
	if t.judged == 0 || worse(m, t.worst, r.isUpper()) {
		t.worst = m
	}
	t.judged += length
	if o.surely {
		t.surely += length
	}
	if o.maybe {
		t.maybe += length
	}
	switch {
	case o.met:
		if t.held += length; w.completed > 0 {
			t.lengths = append(t.lengths, length)
		}
	case o.isUnknown:
		t.open += length
	default:
		t.broken = append(t.broken, m)
	}
}

// longer returns the milliseconds of windows in which the rule is met although they are much longer than a usual one,
// because fio's reports came late. The rule may be broken in a part of them.
func (t *tally) longer(usual int64) (sum int64) {
	for _, length := range t.lengths {
		if length > usual+usual*3/4 {
			sum += length
		}
	}
	return sum
}

// worse reports whether m is worse than another moment. If their values are equal, the earlier one is worse.
func worse(m, than Moment, upper bool) bool {
	if m.Value == than.Value {
		return m.Start < than.Start
	}
	return (m.Value > than.Value) == upper
}

// stretches returns the first broken window, and the longest stretch of broken windows with less than gap between
// them.
func (t *tally) stretches(gap int64, upper bool) (first, longest Moment) {
	slices.SortFunc(t.broken, func(a, b Moment) int { return cmp.Compare(a.Start, b.Start) })
	var open Moment
	for i, m := range t.broken {
		switch {
		case i == 0:
			first, open = m, m
		case m.Start-open.End < gap:
			open.End = max(open.End, m.End)
			if worse(m, open, upper) {
				open.Value, open.Open = m.Value, m.Open
			}
		default:
			open = m
		}
		if open.End-open.Start > longest.End-longest.Start {
			longest = open
		}
	}
	return first, longest
}
