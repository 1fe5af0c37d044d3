package slo

import (
	"fmt"
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

// State is how a rule stands.
type State string

// The states.
const (
	Met     State = "met"
	Broken  State = "broken"
	Unknown State = "unknown" // there are no requests to check, or the answer has no upper bound
)

// Verdict is the verdict on a rule in one direction.
type Verdict struct {
	Rule      Rule
	Direction string // empty: there is none that the rule could be about
	State     State
	Why       string // the state is Unknown
	Close     bool   // the limit lies within the bounds of the value's error

	// Value is compared with the rule's limit. Low and High are the bounds of its error. All are
	// in [Rule.Unit], and NaN where they are not known. High is infinite where a latency in the
	// last bin has no upper bound.
	hist.Answer
	Requests float64 // that it rests on
	Budget   float64 // share of the error budget that is used; above 1, the rule is broken; NaN without one
	Windows  Windows // of rules about windows; else zero
}

// Windows is when a rule was met and when it was broken.
type Windows struct {
	Judged, Held int64 // milliseconds: of all windows that count, and of those in which the rule is met
	Worst        Moment
	First        Moment // the first that broke it; zero: none
	Longest      Moment // the longest stretch of broken windows; Value is the worst of it
}

// Moment is a stretch of time and the metric's value in it, in the metric's unit.
type Moment struct {
	Start, End int64 // milliseconds since the run's start
	Value      float64
	Open       bool // Value is a lower bound: the latency lies in the last bin
}

// IsZero reports whether there is no moment.
func (m Moment) IsZero() bool { return m == Moment{} }

// outcome is what a value says about a rule.
type outcome struct {
	hist.Answer
	met           bool // by the value
	surely, maybe bool // at all bounds of its error; at one of them at least
	isUnknown     bool // an upper bound that is not there would decide
}

// judge compares an answer with the limit; a latency in whole nanoseconds, as it is printed.
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

// exact is the outcome of a value without error.
func (r *Rule) exact(value float64) outcome {
	return r.judge(hist.Answer{Value: value, Low: value, High: value})
}

// set takes over what a value says about a rule without windows.
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

// setWindows takes over what windows say.
func (v *Verdict) setWindows(t *tally, gap int64) {
	judged := float64(t.judged)
	v.Value, v.Low, v.High = float64(t.held)/judged, float64(t.surely)/judged, float64(t.maybe)/judged
	limit := v.Rule.share.value
	v.State, v.Close = Broken, (v.Low >= limit) != (v.High >= limit)
	switch {
	case v.Value >= limit:
		v.State = Met
	case float64(t.held+t.open)/judged >= limit:
		v.unknown(fmt.Sprintf("for %v s it lies in fio's last bin, which has no end", float64(t.open)/1000))
	}
	v.Budget = used(float64(t.judged-t.held-t.open)/judged, 1-limit)
	v.Windows = Windows{Judged: t.judged, Held: t.held, Worst: t.worst}
	v.Windows.First, v.Windows.Longest = t.stretches(gap, v.Rule.isUpper())
}

// used is the share of the budget that is used.
func used(broken, budget float64) float64 {
	if budget <= 0 {
		return math.NaN()
	}
	return broken / budget
}

func (v *Verdict) unknown(why string) { v.State, v.Why = Unknown, why }
