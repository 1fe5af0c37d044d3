package workload

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/trend"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// NumbersOf returns the figures with these names, as in columns or as for people. An unknown name is an error.
func NumbersOf(names ...string) (list []facts.Metric, err error) {
	for _, name := range names {
		var texts []string
		have := len(list)
		for _, m := range facts.OfTotals {
			if !m.LessIsBad() && m.Kind != expr.Latency { // how many requests a run has depends on how long it was
				continue
			}
			texts = append(texts, m.Text())
			if strings.EqualFold(name, m.Name) || strings.EqualFold(name, m.Text()) {
				list = append(list, m)
			}
		}
		if len(list) == have {
			return nil, fmt.Errorf("%s: want one of %s", name, strings.Join(texts, ", "))
		}
	}
	return list, nil
}

// MustNumbers is like [NumbersOf], for names in the program. It panics if there is no such number.
func MustNumbers(names ...string) []facts.Metric {
	list, err := NumbersOf(names...)
	if err != nil {
		panic(err)
	}
	return list
}

// Series is a number in one direction, over the runs of a workload that have it.
type Series struct {
	*Workload
	Direction string
	Number    facts.Metric
	Runs      []*mapping.Run
	Values    []trend.Value // value of each run
	Median    trend.Value   // median of all values
	Changes   []Change

	visible float64 // the smallest change, as a share, that would be seen in the last runs
	known   int     // how many runs have the number
	unknown int     // how many are left out, because it is not known well enough: see mostApart
}

// mostApart is how far the bounds of a number may be apart, as a ratio, in a run of a series. In fio's last bin there is no upper
// bound, and the lower one says enough.
const mostApart = 2

// Change is a change in a series.
type Change struct {
	Level         trend.Change
	Before, After *mapping.Run // last run before the change, and first run after it
	before, after *record
	isOfDay       bool // another run of the series is of the day of After
}

// TextOf returns a value of the series for people. A lower bound has a mark: "≥17.0s".
func (s *Series) TextOf(v trend.Value) string {
	return facts.Bounded(v.Low, v.High).Text(s.Number.Kind)
}

// Text returns the size of the change for people, such as "+9.1 %". If only its smallest size is known, it is "≥+9.1
// %" or "≤-9.1 %".
func (c *Change) Text() string {
	text := percentText(c.ratio()) + " %"
	switch {
	case c.Level.Ratio.IsKnown():
		return text
	case c.isUp():
		return "≥" + text
	}
	return "≤" + text
}

// ratio returns the size of the change, or that of its bounds which is nearer to no change.
func (c *Change) ratio() float64 {
	if c.isUp() {
		return c.Level.Ratio.Low
	}
	return c.Level.Ratio.High
}

// Size returns the size of the change on a scale of ratios: that of twice as much equals that of half as much.
func (c *Change) Size() float64 { return math.Abs(math.Log(c.ratio())) }

// isUp reports whether the number became larger.
func (c *Change) isUp() bool { return c.Level.Ratio.Low > 1 }

// interval returns the bounds of the size as text. One of them may be missing.
func (c *Change) interval() string {
	low, high := percentText(c.Level.Low), percentText(c.Level.High)
	switch {
	case math.IsInf(c.Level.High, 1):
		return "≥" + low + " %"
	case c.Level.Low == 0:
		return "≤" + high + " %"
	}
	return low + " … " + high + " %"
}

// Day returns the day on which a run started, in UTC, or "-" if its date is not known.
func Day(run *mapping.Run) string {
	day, _, _ := strings.Cut(facts.Started(run), " ")
	return day
}

// IsWorse reports whether the change made the number worse.
func (s *Series) IsWorse(c *Change) bool { return c.isUp() != s.Number.LessIsBad() }

// Series returns a series for each number and direction of the workload, with the changes of at least least (a
// share). Runs that [LeftOut] names, that lack the number, or whose bounds of it are far apart, are left out.
func (w *Workload) Series(numbers []facts.Metric, least float64) []*Series {
	var records []*record
	for _, run := range w.Runs {
		r := newRecord(run, numbers)
		r.run = run
		records = append(records, r)
	}
	return w.series(records, numbers, least)
}

// record is what series need of a run.
type record struct {
	id         string
	start      time.Time
	directions uint8 // a bit for each of inSeries
	// values are the numbers of each direction. The lower bound is 0 if there is none, and the upper one is not if the number is not known
	// well enough.
	values []trend.Value

	run     *mapping.Run
	section string // if run is read later
	state   uint64 // how its document was then
}

// inSeries are the directions of series.
var inSeries = append(mapping.Directions[:], mapping.AllDirections)

// newRecord returns what series of numbers need of a run.
func newRecord(run *mapping.Run, numbers []facts.Metric) *record {
	r := &record{id: run.Run.ID, start: run.Run.Start}
	if LeftOut(run) != "" {
		return r
	}
	totals := run.ByDirection()
	r.values = make([]trend.Value, 0, len(totals)*len(numbers))
	for _, d := range totals {
		r.directions |= 1 << slices.Index(inSeries, d.Direction)
		for _, n := range numbers {
			value := trend.Value{}
			switch v := n.OfTotals(d.Totals); {
			case !v.IsKnown() && !v.IsBound():
			case v.Low > 0 && (v.High <= mostApart*v.Low || v.IsOpen):
				value = trend.Value{Low: v.Low, High: v.High}
			case v.IsBound():
				value.High = math.Inf(1)
			}
			r.values = append(r.values, value)
		}
	}
	return r
}

// compare compares records by the start and the id of their runs.
func (r *record) compare(b *record) int {
	return cmp.Or(r.start.Compare(b.start), cmp.Compare(r.id, b.id))
}

// series makes the series of records, which are sorted.
func (w *Workload) series(records []*record, numbers []facts.Metric, least float64) (list []*Series) {
	for d, direction := range inSeries {
		var of []*record
		var values [][]trend.Value
		for _, r := range records {
			if r.directions>>d&1 > 0 {
				at := bits.OnesCount8(r.directions&(1<<d-1)) * len(numbers)
				of, values = append(of, r), append(values, r.values[at:at+len(numbers)])
			}
		}
		for n, number := range numbers {
			s := &Series{Workload: w, Direction: direction, Number: number, Values: make([]trend.Value, 0, len(of))}
			have := make([]*record, 0, len(of))
			for i, r := range of {
				switch v := values[i][n]; {
				case v.Low > 0:
					have, s.Values = append(have, r), append(s.Values, v)
				case v.High > 0:
					s.unknown++
				}
			}
			if s.known = len(have); s.known+s.unknown == 0 {
				continue
			}
			for _, r := range have {
				if r.run != nil {
					s.Runs = append(s.Runs, r.run)
				}
			}
			if s.Median = trend.Known(math.NaN()); len(s.Values) > 0 {
				s.Median = trend.Median(s.Values)
			}
			changes, visible := trend.Detect(s.Values, least)
			s.visible = max(visible, least)
			for _, c := range changes {
				before, after := have[c.At-1], have[c.At]
				isOfDay := func(i int) bool {
					return i < len(have) && unit.Time(have[i].start, unit.Day) == unit.Time(after.start, unit.Day)
				}
				s.Changes = append(s.Changes, Change{c, before.run, after.run, before, after, isOfDay(c.At-1) || isOfDay(c.At+1)})
			}
			list = append(list, s)
		}
	}
	return list
}

// LeftOut says why a run is in no series. It is empty if a run can be.
func LeftOut(run *mapping.Run) string {
	switch {
	case run.Run.Live():
		return "live"
	case run.Run.Partial:
		return "without some of their files"
	case !unit.IsKnown(run.Run.Start):
		return "without a date"
	case len(run.ByDirection()) == 0:
		return "without requests"
	}
	return ""
}

// Differences lists how a run differs from another in versions, labels, settings and configurations, such as
// "ceph_version 18.2.1, was 17.2.6".
func Differences(before, after *mapping.Run) (list []string) {
	was, is := circumstances(before), circumstances(after)
	names := differing(was, is)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(strings.Count(a, "."), strings.Count(b, ".")) })
	for _, name := range names {
		list = append(list, fmt.Sprintf("%s %s, was %s", name, cmp.Or(is[name], none), cmp.Or(was[name], none)))
	}
	return list
}

// none is the text of what a run does not have.
const none = "none"

// differing returns the names whose texts differ, sorted.
func differing(was, is map[string]string) (names []string) {
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if was[name] != is[name] {
			names = append(names, name)
		}
	}
	return names
}

// circumstances returns what may explain a change, by name as in conditions.
func circumstances(run *mapping.Run) map[string]string {
	all := map[string]string{}
	set := func(name, text string) {
		if text != "" {
			all[name] = text
		}
	}
	set("fio", run.Fio.Version)
	set("fio2es", run.Program.Version)
	for _, c := range facts.Settings() {
		if c.Name != "iteration" {
			set(c.Name, c.TextOf(run))
		}
	}
	for name, text := range run.Run.Labels {
		set("label."+name, text)
	}
	for name, text := range fioargs.Measured(run.Fio.Options, run.CBT.ByCBT()) { // not the paths of its files
		set("option."+name, text)
	}
	flatten("config", run.Configuration(), set)
	set("hosts", hostsOf(run))
	return all
}

func flatten(path string, v any, set func(name, text string)) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for name, item := range v {
			flatten(path+"."+name, item, set)
		}
	case []any:
		var texts []string
		for _, item := range v {
			texts = append(texts, fmt.Sprint(item))
		}
		set(path, strings.Join(texts, ","))
	default:
		set(path, fmt.Sprint(v))
	}
}

// LeastChange is the default of the smallest change that is looked for, as a share: 0.03 is 3 %.
const LeastChange = 0.03

// Usual returns the names of the numbers in which changes are looked for by default.
func Usual() []string { return []string{"p50", "p99", "p99.9", "mean", "iops", "bandwidth"} }

// Marks finds the changes of the usual numbers in all workloads of runs. It returns them by the id of the first run
// after each, and their number.
func Marks(runs []*mapping.Run) (changes map[string][]mapping.Change, n int) {
	numbers := MustNumbers(Usual()...)
	changes = map[string][]mapping.Change{}
	for _, w := range Group(facts.Parts(runs...)) {
		for _, s := range w.Series(numbers, LeastChange) {
			for i := range s.Changes {
				id := s.Changes[i].After.Run.ID
				changes[id] = append(changes[id], (&Row{s, &s.Changes[i]}).mark())
				n++
			}
		}
	}
	return changes, n
}

// mark returns the change as documents have it.
func (r *Row) mark() mapping.Change {
	c, of := r.Change, mapping.Plural(r.Direction)
	if name := facts.PartName(c.After); name != "" {
		of += " of " + name
	}
	return mapping.Change{
		Direction: r.Direction, Metric: r.Number.Name, Verdict: r.Verdict(), Before: digits(c.Level.Before.Middle()), After: digits(c.Level.After.Middle()),
		Percent: percent(c.ratio()), BeforeRun: c.Before.Run.ID,
		Text: fmt.Sprintf("%s of %s %s, was %s: %s (%s)", r.Number.Text(), of,
			r.TextOf(c.Level.After), r.TextOf(c.Level.Before), c.Text(), c.interval()),
	}
}
