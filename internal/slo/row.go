package slo

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Row is a verdict on a run. It is a row of a table.
type Row struct {
	Run     *mapping.RunInfo
	Checked window.Span // the time of the checked requests; zero if there are none
	*Verdict
}

// when returns when a moment began, if that is known.
func (r *Row) when(m Moment) time.Time {
	return r.Run.Start.Add(time.Duration(m.Start) * time.Millisecond)
}

// inUnit converts a number for programs, in the unit of the rule.
func (r *Row) inUnit(v float64) float64 { return r.Rule.Kind().InDocuments(v) }

// longest returns the length in milliseconds of the longest time in which the rule was broken.
func (r *Row) longest() int64 { return r.Windows.Longest.End - r.Windows.Longest.Start }

// Columns are the columns of verdicts for tables. Those about windows are empty unless windows were checked, and those about broken
// windows unless there are any.
var Columns = slices.Concat(
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
		{Name: "unit", Value: func(r *Row) any { return window.UnitOf(r.Rule.Kind()) }}, // of value, low, high and limit
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
			Value: func(r *Row) any { return r.Rule.Metric.Kind().InDocuments(r.Windows.Worst.Value) },
			Text:  (*Row).WorstText,
		},
		{Name: "worst_unit", Value: func(r *Row) any { return window.UnitOf(r.Rule.Metric.Kind()) }},
		// This and the next ones are in milliseconds since the run's start.
		{Name: "worst_start", Unit: "ms", Value: func(r *Row) any { return r.Windows.Worst.Start }},
		{
			Name: "worst_start", Heading: "AT (UTC)",
			Value: func(r *Row) any { return r.when(r.Windows.Worst) },
			Text:  func(r *Row) string { return clock(r.when(r.Windows.Worst)) },
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
		return r.Why
	}}},
)

// TestCase returns the verdict as a case of a test report. title names the run.
func (r *Row) TestCase(title string) junit.Case {
	name := r.Rule.String()
	if r.Direction != "" {
		name += ": " + r.Direction
	}
	results := map[State]junit.Result{Met: junit.Passed, Broken: junit.Failed, Unknown: junit.Errored}
	return junit.Case{Class: title, Name: name, Result: results[r.State], Text: r.Message(r.Run)}
}
