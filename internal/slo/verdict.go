package slo

import (
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/fio2es/fio2es/hist"
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
	Close     bool   // the limit lies within the error bounds of the value

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

// outcome is the result of comparing a value with the limit.
type outcome struct {
	hist.Answer
	met           bool // the value meets the rule
	surely, maybe bool // all values within the error bounds meet it; at least one does
	isUnknown     bool // an upper bound would be needed to decide
}

// judge compares a value with the limit. A latency is rounded to whole nanoseconds, as it is printed.
func (r *Rule) judge(a hist.Answer) outcome {
	if r.Metric.Unit() == window.Nanoseconds {
		a.Value = math.Round(a.Value)
	}
	a.Low, a.High = min(a.Low, a.Value), max(a.High, a.Value)
	if a.Open && r.Metric.Unit() == window.Nanoseconds {
		a.High = math.Inf(1)
	}
	o := outcome{Answer: a, met: r.met(a.Value), surely: r.met(a.Low), maybe: r.met(a.High)}
	if r.isUpper() {
		o.surely, o.maybe = o.maybe, o.surely
	}
	if a.Open && r.Metric != window.Mean && o.surely != o.maybe {
		o.isUnknown, o.met = true, false
	}
	return o
}

// exact returns the outcome of a value without error.
func (r *Rule) exact(value float64) outcome {
	return r.judge(hist.Answer{Value: value, Low: value, High: value})
}

// set sets the result of a rule without windows.
func (v *Verdict) set(o outcome) {
	v.Answer, v.Close = o.Answer, o.surely != o.maybe
	switch {
	case o.isUnknown:
		v.State, v.Why = Unknown, "it lies in fio's last bin, which has no end"
	case o.met:
		v.State = Met
	default:
		v.State = Broken
	}
	if v.Rule.Metric.Unit() == window.Share && !v.Rule.isUpper() {
		v.Budget = used(1-o.Value, 1-v.Rule.limit.value)
	}
}

// setWindows sets the result of a rule about windows. gap is that of [series.gap]. isEven says that the windows should
// have the same length.
func (v *Verdict) setWindows(t *tally, gap int64, isEven bool) {
	judged, longer := float64(t.judged), int64(0)
	if isEven && gap < math.MaxInt64/2 {
		longer = t.longer(gap * 4 / 3)
	}
	v.Value, v.Low, v.High = float64(t.held)/judged, float64(t.surely)/judged, float64(t.maybe)/judged
	limit := v.Rule.share.value
	v.State, v.Close = Broken, (v.Low >= limit) != (v.High >= limit)
	switch {
	case float64(t.held-longer)/judged >= limit:
		v.State = Met
	case v.Value >= limit:
		v.unknown(fmt.Sprintf("for %v s fio's reports came late, and it may be broken in a part of that time", float64(longer)/1000))
	case float64(t.held+t.open)/judged >= limit:
		v.unknown(fmt.Sprintf("for %v s it lies in fio's last bin, which has no end", float64(t.open)/1000))
	}
	v.Budget = used(float64(t.judged-t.held-t.open)/judged, 1-limit)
	v.Windows = Windows{Judged: t.judged, Held: t.held, Worst: t.worst}
	v.Windows.First, v.Windows.Longest = t.stretches(gap, v.Rule.isUpper())
}

// used returns the used share of the error budget.
func used(broken, budget float64) float64 {
	if budget <= 0 {
		return math.NaN()
	}
	return broken / budget
}

func (v *Verdict) unknown(why string) { v.State, v.Why = Unknown, why }

// CloseText is the note on a verdict that is [Verdict.Close].
const CloseText = "the limit lies within the error of the bins"

// ValueText returns the value for people.
func (v *Verdict) ValueText() string {
	of := v.Requests
	if v.Rule.InWindows() {
		of = float64(v.Windows.Judged) / 1000 // in seconds
	}
	return unit.OrMore(v.Rule.Unit().Text(v.Value, v.Rule.Limit(), of), math.IsInf(v.High, 1))
}

// WorstText returns the metric of the worst window for people.
func (v *Verdict) WorstText() string {
	w := &v.Windows.Worst
	return unit.OrMore(v.Rule.Metric.Unit().Text(w.Value, math.NaN(), v.Requests), w.Open)
}

// Message says for people whether a run meets a rule. If not, it says by how much and when, or why the verdict is
// unknown.
func (v *Verdict) Message(run *mapping.RunInfo) string {
	title := run.Name
	if run.Archive != "" {
		title = run.Archive + ":" + title
	}
	if v.State == Unknown {
		return fmt.Sprintf("sla %s: %s: unknown: %s", v.Rule, title, v.Why)
	}
	return fmt.Sprintf("sla %s: %s: %s %s", v.Rule, title, v.Direction, v.numbersText(run.Start))
}

// numbersText returns the value, and when the rule was broken. start is the start of the run.
func (v *Verdict) numbersText(start time.Time) string {
	text := fmt.Sprintf("%s: %s", v.Rule.Metric, v.ValueText())
	if w := &v.Windows; v.Rule.InWindows() {
		at := func(ms int64) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
		text = fmt.Sprintf("%s: met for %s of %s", v.Rule.Metric, v.ValueText(), Length(w.Judged))
		if !w.First.IsZero() {
			text += fmt.Sprintf("; first broken at %s, longest from %s for %s", unit.Moment(at(w.First.Start)),
				Clock(at(w.Longest.Start)), Length(w.Longest.End-w.Longest.Start))
		}
		text += fmt.Sprintf(", worst at %s: %s", Clock(at(w.Worst.Start)), v.WorstText())
	}
	if v.Close {
		text += "; " + CloseText
	}
	return text
}

// Clock returns a time of day for people, or the time since the run's start if its date is not known.
func Clock(t time.Time) string {
	if unit.IsKnown(t) {
		return t.UTC().Format("15:04:05.000")
	}
	return unit.Moment(t)
}

// Length returns milliseconds for people.
func Length(ms int64) string { return unit.Elapsed(time.Duration(ms) * time.Millisecond) }

// Text returns the value for people.
func (b *Breach) Text() string {
	return unit.OrMore(b.Rule.Metric.Unit().Text(b.Value, math.NaN(), b.requests), b.Open)
}

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
