package slo

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
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
	bounds *mapping.Bounds // of these percentiles for certain; may be nil
}

// total has the requests of a direction in the whole run.
type total struct {
	completed int64
	iops      float64
	latency   *hist.Histogram // of the requests that are in bins; nil if there are none
	totals    *mapping.Totals // of the run document; nil if these are the sums of windows
}

// of returns the value of a rule about latency. Bounds are NaN if it is not known.
func (t *total) of(m facts.Metric) hist.Answer {
	if t.totals == nil {
		return m.Of(t.latency)
	}
	return m.InTotals(t.totals, t.latency)
}

// Evaluator checks a run against rules. It keeps 32 bytes for each window, and 56 for each
// rule about latency in windows.
type Evaluator struct {
	rules  []Rule
	series map[string]*series // by direction
	syncs  *mapping.Totals    // of the run, if they are asked for; logs do not have them, so they may be in no window
	end    int64
	even   bool // all windows should have the same length

	elapsed int64              // nominal start of the open windows, in milliseconds since the run's start
	open    map[string]*sample // by direction; windows of other hosts or jobs may still be added
}

type series struct {
	windows   []passed
	completed int64
	latency   hist.Histogram // merged from all windows
	total     *total         // from the run document; nil if it is not set
	judged    [][]judged     // by rule, if it is about latency in windows
}

// passed is the part of a window that is kept.
type passed struct{ start, end, completed int64 }

// judged is a window with the outcome of a rule in it.
type judged struct {
	passed
	outcome
}

// New returns an evaluator of rules.
func New(rules []Rule) *Evaluator {
	return &Evaluator{rules: rules, series: map[string]*series{}, end: math.MaxInt64, open: map[string]*sample{}}
}

func (e *Evaluator) of(direction string) *series {
	s := e.series[direction]
	if s == nil {
		s = &series{judged: make([][]judged, len(e.rules))}
		e.series[direction] = s
	}
	return s
}

// in returns the outcome of a rule in a window. It returns false if the window lacks what the rule is about.
func (r *Rule) in(w *sample) (o outcome, ok bool) {
	switch isOfLatency := r.Metric.IsOfHistogram(); {
	case !r.isAbout(w.direction):
	case isOfLatency && w.latency != nil && !w.latency.IsEmpty():
		a := r.Metric.Of(w.latency)
		if w.stored != nil {
			if us, ok := w.stored.Figure(r.Metric.String()); ok {
				a.Value = math.Round(us * 1000)
				a.Open = a.Open || w.latency.Layout().Open(w.latency.Layout().Index(int64(a.Value)))
				for i, p := range mapping.Percentiles {
					if between, ok := w.bounds.Of(i); ok && p.Field == r.Metric.Name {
						a.Low, a.High = between.Low*1000, between.Highest()*1000
					}
				}
			}
		}
		return r.judge(a), true
	case r.Metric.Kind == expr.Rate && w.end > w.start:
		return r.exact(perSecond(w.completed, w.end-w.start)), true
	}
	return o, false
}

func (e *Evaluator) add(w sample) {
	s, kept := e.of(w.direction), passed{w.start, w.end, w.completed}
	s.completed += w.completed
	if w.latency != nil {
		s.latency.Merge(w.latency)
	}
	s.windows = append(s.windows, kept)
	for i := range e.rules {
		if r := &e.rules[i]; r.InWindows() && r.Metric.IsOfHistogram() {
			if o, ok := r.in(&w); ok {
				s.judged[i] = append(s.judged[i], judged{kept, o})
			}
		}
	}
}

// perSecond returns a rate, rounded as in documents.
func perSecond(n, ms int64) float64 {
	if ms <= 0 {
		return 0
	}
	return math.Round(float64(n)*1000/float64(ms)*1000) / 1000
}

// Verdicts returns the verdicts for the windows so far, in the order of the rules, and for each rule by direction:
// read, write, trim, sync.
func (e *Evaluator) Verdicts() (all []Verdict) {
	e.addOpen()
	for i, r := range e.rules {
		before := len(all)
		for _, d := range append(mapping.Directions[:], mapping.AllDirections) {
			s := e.series[d]
			switch {
			case !r.isAbout(d):
			case d == mapping.Sync && e.syncs != nil && (s == nil || r.InWindows() && len(s.windows) == 0):
				all = append(all, e.unseen(r))
			case s != nil:
				all = append(all, e.verdict(i, d, s))
			}
		}
		if len(all) == before {
			v := newVerdict(r, r.Direction)
			if v.unknown("there are no %ss", cmp.Or(r.Direction, "request")); e.series[mapping.AllDirections] != nil {
				v.unknown("fio reported all directions in one (unified_rw_reporting)")
			}
			all = append(all, v)
		}
	}
	return all
}

// unseen returns the verdict on the syncs of a run that are in no window of a rule about windows, or of a part of the run: it is met if
// the slowest sync of the run meets it.
func (e *Evaluator) unseen(r Rule) Verdict {
	v := newVerdict(r, mapping.Sync)
	fastest, slowest := facts.Min.InTotals(e.syncs, nil), facts.Max.InTotals(e.syncs, nil)
	if r.Metric.Kind != expr.Latency || !r.isUpper() || !r.met(slowest.High) {
		v.unknown("syncs are in no window: only periodic reports have them (--status-interval=1)")
		return v
	}
	v.State, v.Requests = Met, float64(e.syncs.Requests)
	if v.Answer = (hist.Answer{Value: 1, Low: 1, High: 1}); !r.InWindows() {
		v.Answer = hist.Answer{Value: math.NaN(), Low: fastest.Low, High: slowest.High}
	}
	return v
}

func (e *Evaluator) verdict(i int, direction string, s *series) Verdict {
	v := newVerdict(e.rules[i], direction)
	r := &v.Rule
	slices.SortFunc(s.windows, func(a, b passed) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	all := s.total
	if all == nil { // the sum of the windows, from the start of the first to the run's end or that of the last
		last := s.windows[len(s.windows)-1]
		if last.start < e.end {
			last.end = min(last.end, e.end)
		}
		all = &total{s.completed, perSecond(s.completed, last.end-s.windows[0].start), &s.latency, nil}
	}
	v.Requests = float64(all.completed)
	hasBins := all.latency != nil && !all.latency.IsEmpty()
	if r.Metric.IsOfHistogram() && hasBins {
		v.Requests = math.Round(all.latency.Total())
		if all.totals != nil {
			v.Requests += float64(all.totals.Unbinned)
		}
	}
	var o outcome
	switch {
	case r.InWindows():
		if r.Metric.IsOfHistogram() && !hasBins {
			v.unknown("there are no histograms of latency")
			return v
		}
		list := s.judged[i]
		if !r.Metric.IsOfHistogram() {
			list = s.rates(r, e.end)
		}
		v.judgeWindows(list, s.gap(), e.even, s.unseen(r))
		return v
	case r.Metric.IsOfHistogram():
		if !hasBins && all.totals == nil {
			v.unknown("there are no histograms of latency")
			return v
		}
		if o = r.judge(all.of(r.Metric)); math.IsNaN(o.Low) {
			v.unknown("there are no histograms of latency")
			return v
		}
	case r.Metric.Kind == expr.Rate:
		o = r.exact(all.iops)
	case all.completed == 0 && (all.iops > 0 || direction == mapping.Sync):
		v.unknown("fio's report does not say how many there were")
		return v
	default:
		o = r.exact(float64(all.completed))
	}
	v.Answer, v.Close = o.Answer, o.surely != o.maybe && !math.IsNaN(o.Value)
	if all.totals != nil && slices.Contains(facts.LatencyNames, r.Metric.Name) {
		v.ByFio = r.Metric.OfTotals(all.totals).ByFio
	}
	switch {
	case o.isUnknown && math.IsNaN(o.Value):
		v.unknown("%s", v.betweenText())
		v.Lack = all.lack(direction)
	case o.isUnknown:
		v.unknown("it lies in fio's last bin, which has no end")
	case o.met:
		v.State = Met
	default:
		v.State = Broken
	}
	if r.Metric.Kind == expr.Percent && !r.isUpper() && !math.IsNaN(o.Value) {
		v.setBudget(1-o.Value, 1-r.limit.value)
	}
	return v
}

// lack says how many requests are in no bin.
func (t *total) lack(direction string) string {
	if t.completed == 0 {
		return "fio's report has no bins (--output-format=json+ has them)"
	}
	return fmt.Sprintf("%s of %s %s are in no row (--output-format=json+ has them)",
		unit.Count(t.totals.Unbinned), unit.Count(t.completed), mapping.Plural(direction))
}

// unseen returns how long, in milliseconds, a rule about windows may be broken without a window that shows it: requests of the run
// are in no window, and the slowest of all does not meet the rule.
func (s *series) unseen(r *Rule) int64 {
	t := s.total
	if t == nil || t.totals == nil || t.completed <= s.completed || !r.Metric.IsOfHistogram() {
		return 0
	}
	if slowest := facts.Max.InTotals(t.totals, t.latency); r.isUpper() && r.Metric.Kind == expr.Latency && r.met(slowest.High) {
		return 0
	}
	seen := int64(0)
	for _, w := range s.windows {
		seen += w.end - w.start
	}
	return max(t.totals.DurationMS-seen, 1)
}

// gap returns the shortest time between two windows that counts as a gap: three quarters of the shortest window.
// Shorter times come from rows that were a little late. The first and the last window are ignored, because the run
// may cut them. Windows must be sorted.
func (s *series) gap() int64 {
	var lengths []int64
	for _, w := range s.windows {
		lengths = append(lengths, w.end-w.start)
	}
	switch n := len(lengths); n {
	case 0, 1:
		return math.MaxInt64
	case 2:
		return max(lengths[0], lengths[1]) * 3 / 4
	default:
		return slices.Min(lengths[1:n-1]) * 3 / 4
	}
}

// rates returns the windows with the outcome of a rule about iops, and the gaps between them. Windows must be sorted. end
// is that of the run.
func (s *series) rates(r *Rule, end int64) (list []judged) {
	gap := s.gap()
	for i, w := range s.windows {
		if i > 0 {
			if before := s.windows[i-1].end; w.start-before >= gap {
				list = append(list, judged{passed{start: before, end: w.start}, r.exact(0)})
			}
		}
		if i == len(s.windows)-1 {
			// A last window that the run's end cuts by more than a twentieth has no usable rate, and neither has one that is
			// shorter than a tenth of the shortest other window, of which the gap is three quarters.
			isCut := w.end > end && (w.end-end)*20 > w.end-w.start
			isScrap := (w.end-w.start)*10*3 < gap*4
			if i > 0 && (isCut || isScrap) {
				break
			}
			if isCut && end > w.start {
				w.end = end
			}
		}
		list = append(list, judged{w, r.exact(perSecond(w.completed, w.end-w.start))})
	}
	return list
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
		if w.Bounds.AreCertain() {
			s.bounds = w.Bounds
		}
		return s, true, nil
	}
	if s.completed == 0 && w.IOPS > 0 { // averages have a rate, but no number of requests
		s.completed = int64(math.Round(w.IOPS * float64(s.end-s.start) / 1000))
	}
	return s, s.completed > 0 || !w.Averaged, nil
}

// Add adds a window. Those of hosts or jobs that have one direction and nominal time become one window, so these must come in
// order of time.
func (e *Evaluator) Add(w *window.Window) error {
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
		isUnknown := d.Requests == 0 && d.IOPS == 0 && d.Direction != mapping.Sync
		if len(directions) > 0 && !slices.Contains(directions, d.Direction) || isUnknown {
			continue
		}
		t := &total{completed: d.Requests, iops: d.IOPS, totals: d.Totals}
		if d.Latency.HasPercentiles() {
			var err error
			if t.latency, err = d.Latency.Hist(); err != nil {
				return err
			}
		}
		e.of(d.Direction).total = t
	}
	e.SetPart(run, directions)
	return nil
}

// SetPart sets what the document of a run says about a part of it: the end, because the last window may be longer, and whether there
// are syncs.
func (e *Evaluator) SetPart(run *mapping.Run, directions []string) {
	if len(directions) == 0 || slices.Contains(directions, mapping.Sync) {
		e.syncs = run.Sync
	}
	e.even = run.IntervalMS > 0
	if ms := run.Run.End.Sub(run.Run.Start).Milliseconds(); ms > 0 {
		e.end = ms
	}
}

// outcome is the result of comparing a value with the limit.
type outcome struct {
	hist.Answer
	met           bool // the value meets the rule
	surely, maybe bool // all values within the error bounds meet it; at least one does
	isUnknown     bool // an upper bound would be needed to decide
}

// judge compares a value with the limit. A latency is rounded to whole nanoseconds, as it is printed.
func (r *Rule) judge(a hist.Answer) outcome {
	if math.IsNaN(a.Value) { // only bounds are known
		low, high := r.met(a.Low), r.met(a.High)
		return outcome{Answer: a, met: low && high, surely: low && high, maybe: low || high, isUnknown: low != high}
	}
	isLatency := r.Metric.Kind == expr.Latency
	if isLatency {
		a.Value = math.Round(a.Value)
	}
	a.Low, a.High = min(a.Low, a.Value), max(a.High, a.Value)
	if a.Open && isLatency {
		a.High = math.Inf(1)
	}
	o := outcome{Answer: a, met: r.met(a.Value), surely: r.met(a.Low), maybe: r.met(a.High)}
	if r.isUpper() {
		o.surely, o.maybe = o.maybe, o.surely
	}
	if a.Open && r.Metric != facts.Mean && o.surely != o.maybe {
		o.isUnknown, o.met = true, false
	}
	return o
}

func (r *Rule) exact(value float64) outcome {
	return r.judge(hist.Answer{Value: value, Low: value, High: value})
}

// judgeWindows sets the result of a rule about windows. gap is that of [series.gap], and unseen that of [series.unseen]. isEven says
// that the windows should have the same length.
func (v *Verdict) judgeWindows(list []judged, gap int64, isEven bool, unseen int64) {
	slices.SortFunc(list, func(a, b judged) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	isUpper := v.Rule.isUpper()
	worse := func(m, than Moment) bool {
		if m.Value == than.Value {
			return m.Start < than.Start
		}
		return (m.Value > than.Value) == isUpper
	}
	longest := int64(math.MaxInt64) // a window that is not much longer than a usual one
	if usual := gap * 4 / 3; isEven && gap < math.MaxInt64/2 {
		longest = usual + usual*3/4
	}
	w := &v.Windows
	// Milliseconds of windows: surely and maybe met at the values within the error bounds; unknown, because the latency
	// has no upper bound; met, but in windows that are much longer than a usual one, because fio's reports came late.
	var surely, maybe, open, longer int64
	var stretch Moment // the last one of broken windows with less than gap between them, or none that met a rule with "for"
	lasts := v.Rule.lasts.value > 0
	for _, one := range list {
		m, length := Moment{one.start, one.end, one.Value, one.Open}, one.end-one.start
		if length <= 0 {
			continue
		}
		if w.Judged == 0 || worse(m, w.Worst) {
			w.Worst = m
		}
		w.Judged += length
		if one.surely {
			surely += length
		}
		if one.maybe {
			maybe += length
		}
		switch {
		case one.met:
			if w.Held += length; one.completed > 0 && length > longest {
				longer += length
			}
			if lasts {
				stretch = Moment{}
			}
			continue
		case one.isUnknown:
			open += length
			continue
		case w.First.IsZero():
			w.First, stretch = m, m
		case m.Start-stretch.End < gap, lasts && !stretch.IsZero():
			stretch.End = max(stretch.End, m.End)
			if worse(m, stretch) {
				stretch.Value, stretch.Open = m.Value, m.Open
			}
		default:
			stretch = m
		}
		if stretch.End-stretch.Start > w.Longest.End-w.Longest.Start {
			w.Longest = stretch
		}
	}
	if w.Judged == 0 {
		v.unknown("there are no windows to judge")
		return
	}
	if lasts {
		v.judgeLongest(open, longer, unseen)
		return
	}
	limit, total := v.Rule.share.value, float64(w.Judged)
	v.Value, v.Low, v.High = float64(w.Held)/total, float64(surely)/total, float64(maybe)/total
	v.State, v.Close = Broken, (v.Low >= limit) != (v.High >= limit)
	switch whole := total + float64(unseen); {
	case float64(w.Held-longer)/whole >= limit:
		v.State = Met
	case v.Value >= limit && float64(w.Held-longer)/total >= limit:
		v.unknown(whyUnseen)
	case v.Value >= limit:
		v.unknown(whyLate, float64(longer)/1000)
	case float64(w.Held+open)/total >= limit:
		v.unknown(whyOpen, float64(open)/1000)
	}
	v.setBudget(float64(w.Judged-w.Held-open)/total, 1-limit)
}

const (
	whyUnseen = "requests of the run are in no window, and fio's report has slower ones than the limit (--output-format=json+ has them)"
	whyLate   = "for %v s fio's reports came late, and it may be broken in a part of that time"
	whyOpen   = "for %v s it lies in fio's last bin, which has no end"
)

// judgeLongest sets the result of a rule that may be broken for less than a time: the longest that it was broken.
func (v *Verdict) judgeLongest(open, longer, unseen int64) {
	longest := v.Windows.Longest.End - v.Windows.Longest.Start
	isLong := func(more int64) bool { return v.Rule.hasLasted(time.Duration(longest+more) * time.Millisecond) }
	v.Value = float64(longest) * 1e6
	v.Low, v.High = v.Value, v.Value
	switch v.State = Met; {
	case isLong(0):
		v.State = Broken
	case isLong(unseen) && unseen > 0:
		v.unknown(whyUnseen)
	case isLong(longer) && longer > 0:
		v.unknown(whyLate, float64(longer)/1000)
	case isLong(open) && open > 0:
		v.unknown(whyOpen, float64(open)/1000)
	}
}

// setBudget sets the used share of the error budget.
func (v *Verdict) setBudget(broken, budget float64) {
	if budget > 0 {
		v.Budget = broken / budget
	}
}

func (v *Verdict) unknown(why string, args ...any) {
	v.State, v.Why = Unknown, fmt.Sprintf(why, args...)
}
