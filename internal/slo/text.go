package slo

import (
	"fmt"
	"math"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

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
