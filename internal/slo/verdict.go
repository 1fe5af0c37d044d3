package slo

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// State says whether a rule is met.
type State string

// The states of a rule.
const (
	Met     State = "met"
	Broken  State = "broken"
	Unknown State = "unknown" // there are no requests to check, or the value has no upper bound
)

// Verdict is the verdict on a rule in one direction.
type Verdict struct {
	Rule      Rule
	Direction string // empty if there is no request of a direction that the rule is about
	State     State
	Why       string // why the state is Unknown
	Lack      string // which requests would decide it, if the value is between bounds
	Close     bool   // the limit lies within the error bounds of the value
	ByFio     bool   // fio computed the value, because requests are in no bin

	// Value is compared with the rule's limit. Low and High are its error bounds. All three are in [Rule.Unit], and
	// NaN if they are not known. High is infinite for a latency in the last bin, which has no upper bound.
	hist.Answer
	Requests float64 // number of requests that count
	Budget   float64 // used share of the error budget; above 1 the rule is broken; NaN without a budget
	Windows  Windows // only for rules about windows
}

// Windows says when a rule was met and when it was broken.
type Windows struct {
	Judged, Held int64 // in milliseconds: all windows that count, and those in which the rule is met
	Worst        Moment
	First        Moment // first broken window; zero if there is none
	Longest      Moment // longest stretch of broken windows, with its worst value
}

// Moment is a stretch of time, with the metric's value in it and in its unit.
type Moment struct {
	Start, End int64 // in milliseconds since the run's start
	Value      float64
	Open       bool // Value is a lower bound, because it lies in the last bin
}

// IsZero reports whether there is no such moment.
func (m Moment) IsZero() bool { return m == Moment{} }

func newVerdict(r Rule, direction string) Verdict {
	nan := math.NaN()
	return Verdict{Rule: r, Direction: direction, Answer: hist.Answer{Value: nan, Low: nan, High: nan}, Budget: nan}
}

// closeText is the note on a verdict that is [Verdict.Close].
const closeText = "the limit lies within the error of the value"

// ValueText returns the value for people.
func (v *Verdict) ValueText() string {
	of := v.Requests
	if v.Rule.InWindows() {
		of = max(float64(v.Windows.Judged)/1000, 1) // in seconds
	}
	if k := v.Rule.Kind(); math.IsNaN(v.Value) && !math.IsNaN(v.Low) {
		return facts.Bounded(v.Low, v.High).TextBy(func(x float64) string { return facts.TextOf(k, x, math.NaN(), v.Requests) })
	}
	text := facts.TextOf(v.Rule.Kind(), v.Value, v.Rule.Limit(), of)
	if v.ByFio {
		return text + "*"
	}
	return unit.OrMore(text, math.IsInf(v.High, 1))
}

// betweenText returns the bounds of a value of which nothing else is known: "17.2ms to 555ms".
func (v *Verdict) betweenText() string {
	k := v.Rule.Kind()
	text := func(x float64) string { return facts.TextOf(k, x, v.Rule.Limit(), v.Requests) }
	if math.IsInf(v.High, 1) {
		return text(v.Low) + " or more"
	}
	return text(v.Low) + " to " + text(v.High)
}

// WorstText returns the metric of the worst window for people.
func (v *Verdict) WorstText() string {
	w := &v.Windows.Worst
	return unit.OrMore(facts.TextOf(v.Rule.Metric.Kind, w.Value, math.NaN(), v.Requests), w.Open)
}

// Message says for people whether a run meets a rule. If not, it says by how much and when, or why the verdict is
// unknown.
func (v *Verdict) Message(run *mapping.RunInfo) string {
	text := run.Name
	if run.Archive != "" {
		text = run.Archive + ":" + text
	}
	text = fmt.Sprintf("sla %s: %s: ", v.Rule, text)
	if v.State == Unknown {
		return text + "unknown: " + v.reason()
	}
	return text + v.text(run.Start)
}

// reason returns why the state is unknown.
func (v *Verdict) reason() string { return strings.TrimSuffix(v.Why+", because "+v.Lack, ", because ") }

// text says what is known of a rule in its direction.
func (v *Verdict) text(start time.Time) string {
	at := func(ms int64) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	text := fmt.Sprintf("%s %s: ", v.Direction, v.Rule.Metric)
	if w := &v.Windows; !v.Rule.InWindows() {
		text += v.ValueText()
	} else {
		held := v.ValueText()
		if v.Rule.lasts.value > 0 {
			held = length(w.Held)
		}
		text += fmt.Sprintf("met for %s of %s", held, length(w.Judged))
		if !w.First.IsZero() {
			text += fmt.Sprintf("; first broken at %s, longest from %s for %s", unit.Time(at(w.First.Start), unit.Moment),
				unit.Time(at(w.Longest.Start), unit.OfDayMS), length(w.Longest.End-w.Longest.Start))
		}
		text += fmt.Sprintf(", worst at %s: %s", unit.Time(at(w.Worst.Start), unit.OfDayMS), v.WorstText())
	}
	if v.Close {
		text += "; " + closeText
	}
	return text
}

// length returns milliseconds for people.
func length(ms int64) string { return unit.Elapsed(time.Duration(ms) * time.Millisecond) }

// Log logs broken rules as errors and unknown ones as warnings. It returns whether there are any of each.
func Log(log *slog.Logger, run *mapping.RunInfo, verdicts []Verdict) (broken, unknown bool) {
	for i := range verdicts {
		switch v := &verdicts[i]; v.State {
		case Broken:
			broken = true
			log.Error(v.Message(run))
		case Unknown:
			unknown = true
			log.Warn(v.Message(run))
		}
	}
	return broken, unknown
}

// Notes returns the notes below the table of a run that began at start: what * means, and the conclusion, if wanted.
func Notes(verdicts []Verdict, start time.Time, concludes bool) (notes []string) {
	if slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.ByFio }) {
		notes = append(notes, facts.FioNote)
	}
	if concludes {
		notes = append(notes, Conclusion(verdicts, start))
	}
	return notes
}

// Conclusion says in a line what the rules of a run that began at start come to, such as "broken: p99 <= 5ms (writes 10.8ms); 3 met".
func Conclusion(verdicts []Verdict, start time.Time) string {
	const most = 2
	of := map[State][]string{}
	for i := range verdicts {
		v := &verdicts[i]
		of[v.State] = append(of[v.State], v.Rule.String()+" ("+v.brief(start)+")")
	}
	var parts []string
	for _, state := range []State{Broken, Unknown, Met} {
		switch n := len(of[state]); {
		case n == 0:
		case state == Met && n < len(verdicts):
			parts = append(parts, fmt.Sprintf("%d met", n))
		default:
			parts = append(parts, string(state)+": "+unit.List(of[state], most, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// brief says in a few words by what a rule is met or broken, or what is not known: "reads for 58.0s of 60.0s, broken 09:12:04.000 to
// 09:12:06.000".
func (v *Verdict) brief(start time.Time) string {
	at := func(ms int64) string { return unit.Time(start.Add(time.Duration(ms)*time.Millisecond), unit.OfDayMS) }
	if v.State == Unknown {
		return v.Why
	}
	text := mapping.Plural(v.Direction) + " " + v.ValueText()
	if w := &v.Windows; v.Rule.InWindows() {
		if text = fmt.Sprintf("%s for %s of %s", mapping.Plural(v.Direction), length(w.Held), length(w.Judged)); !w.First.IsZero() {
			text += fmt.Sprintf(", broken %s to %s", at(w.Longest.Start), at(w.Longest.End))
			if w.Longest.End-w.Longest.Start < w.Judged-w.Held {
				text += " and at other times"
			}
		}
	}
	if v.Close {
		text += ", but " + closeText
	}
	return text
}

// Row is a verdict on a run. It is a row of a table.
type Row struct {
	Run     *mapping.RunInfo
	Checked window.Span // the time of the checked requests; zero if there are none
	*Verdict
}

func (r *Row) when(m Moment) time.Time {
	return r.Run.Start.Add(time.Duration(m.Start) * time.Millisecond)
}

// inUnit converts a number for programs, in the unit of the rule.
func (r *Row) inUnit(v float64) float64 { return r.Rule.Kind().InDocuments(v) }

// longest returns the length in milliseconds of the longest time in which the rule was broken.
func (r *Row) longest() int64 { return r.Windows.Longest.End - r.Windows.Longest.Start }

// Columns returns the columns of verdicts for tables. Those about windows are empty unless windows were checked, and those about broken
// windows unless there are any.
func Columns() []table.Column[*Row] {
	return slices.Concat(
		facts.RunColumns(func(r *Row) *mapping.RunInfo { return r.Run }),
		[]table.Column[*Row]{
			{Name: "from", Sparse: true, Value: func(r *Row) any { return r.Checked.Start }},
			{Name: "to", Sparse: true, Value: func(r *Row) any { return r.Checked.End }},
			{Name: "rule", Heading: "RULE", Value: func(r *Row) any { return r.Rule.String() }},
			// The direction is empty if there are no requests that the rule is about.
			{Name: "direction", Heading: "DIR", Value: func(r *Row) any { return r.Direction }},
			{Name: "metric", Value: func(r *Row) any { return r.Rule.Metric.String() }},
			{
				Name: "value", Heading: ">VALUE",
				Value: func(r *Row) any { return r.inUnit(r.Value) },
				Text:  (*Row).ValueText,
			},
			{Name: "low", Value: func(r *Row) any { return r.inUnit(r.Low) }}, // error bounds
			{Name: "high", Value: func(r *Row) any { return r.inUnit(r.High) }},
			{
				Name: "limit", Heading: ">LIMIT",
				Value: func(r *Row) any { return r.inUnit(r.Rule.Limit()) },
				Text:  func(r *Row) string { return r.Rule.Target() },
			},
			{Name: "unit", Value: func(r *Row) any { return facts.UnitOf(r.Rule.Kind()) }}, // of value, low, high and limit
			{Name: "verdict", Heading: "VERDICT", Value: func(r *Row) any { return string(r.State) }},
			{Name: "close", Value: func(r *Row) any { return r.Close }}, // the limit lies within the error bounds
			{Name: "why", Sparse: true, Value: func(r *Row) any { return r.Why }},
			// that the value is computed from
			{Name: "requests", Value: func(r *Row) any { return int64(r.Requests) }},
			{
				Name: "budget_used", Heading: ">BUDGET", Sparse: true,
				Value: func(r *Row) any { return r.Budget },
				Text: func(r *Row) string {
					if math.IsNaN(r.Budget) {
						return ""
					}
					return strconv.FormatFloat(r.Budget*100, 'f', 0, 64) + " %"
				},
			},
		},
		table.Where(func(r *Row) bool { return r.Windows.Judged > 0 }, []table.Column[*Row]{
			{Name: "judged", Unit: "ms", Value: func(r *Row) any { return r.Windows.Judged }},
			{Name: "held", Unit: "ms", Value: func(r *Row) any { return r.Windows.Held }},
			{
				Name: "worst", Heading: ">WORST",
				Value: func(r *Row) any { return r.Rule.Metric.Kind.InDocuments(r.Windows.Worst.Value) },
				Text:  (*Row).WorstText,
			},
			{Name: "worst_unit", Value: func(r *Row) any { return facts.UnitOf(r.Rule.Metric.Kind) }},
			// This and the next ones are in milliseconds since the run's start.
			{Name: "worst_start", Unit: "ms", Value: func(r *Row) any { return r.Windows.Worst.Start }},
			{
				Name: "worst_start", Heading: unit.Heading("AT"),
				Value: func(r *Row) any { return r.when(r.Windows.Worst) },
				Text:  func(r *Row) string { return unit.Time(r.when(r.Windows.Worst), unit.OfDayMS) },
			},
			// The worst value is a lower bound, because it lies in fio's last bin.
			{Name: "worst_open", Value: func(r *Row) any { return r.Windows.Worst.Open }},
		}),
		table.Where(func(r *Row) bool { return r.longest() > 0 }, []table.Column[*Row]{
			{Name: "first_broken_start", Unit: "ms", Value: func(r *Row) any { return r.Windows.First.Start }},
			{Name: "first_broken_start", Value: func(r *Row) any { return r.when(r.Windows.First) }},
			{
				Name: "longest_broken", Unit: "ms", Heading: ">LONGEST",
				Value: func(r *Row) any { return r.longest() },
				Text:  func(r *Row) string { return length(r.longest()) },
			},
			{Name: "longest_broken_start", Unit: "ms", Value: func(r *Row) any { return r.Windows.Longest.Start }},
			{Name: "longest_broken_start", Value: func(r *Row) any { return r.when(r.Windows.Longest) }},
		}),
		[]table.Column[*Row]{{Heading: "NOTE", Text: func(r *Row) string {
			if r.Close && r.Why == "" {
				return closeText
			}
			return r.reason()
		}}},
	)
}

// TestCase returns the verdict as a case of a test report. title names the run.
func (r *Row) TestCase(title string) junit.Case {
	name := r.Rule.String()
	if r.Direction != "" {
		name += ": " + r.Direction
	}
	results := map[State]junit.Result{Met: junit.Passed, Broken: junit.Failed, Unknown: junit.Errored}
	return junit.Case{Class: title, Name: name, Result: results[r.State], Text: r.Message(r.Run)}
}

// InDocuments returns the verdicts that are known, as documents have them: latencies in microseconds.
func InDocuments(all []Verdict) (known []mapping.Verdict) {
	for i := range all {
		v := &all[i]
		if v.State == Unknown {
			continue
		}
		r, of := v.Rule, v.Rule.Kind()
		r.Direction = v.Direction
		known = append(known, mapping.Verdict{
			Rule: r.String(), Holds: v.State == Met, Value: of.InDocuments(v.Value), Limit: of.InDocuments(r.Limit()),
		})
	}
	return known
}

// NumberText returns a value of a stored verdict for people, which is in the unit of documents.
func NumberText(v *mapping.Verdict, value float64) string {
	r, err := Parse(v.Rule)
	if err != nil { // of another version of fio2es
		return unit.Number(value)
	}
	if r.Kind() == expr.Percent {
		return unit.Percent(value, 1e5)
	}
	return facts.KindText(r.Kind(), value, false)
}
