package main

import (
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// slaRow is a verdict on a run.
type slaRow struct {
	of *query.Judgement
	*slo.Verdict
}

func (r *slaRow) note() string {
	if r.Close && r.Why == "" {
		return slo.CloseText
	}
	return r.Why
}

func (r *slaRow) budgetText() string {
	if math.IsNaN(r.Budget) {
		return ""
	}
	return strconv.FormatFloat(r.Budget*100, 'f', 0, 64) + " %"
}

// inUnit converts a number for programs, in the unit of the rule.
func (r *slaRow) inUnit(v float64) float64 { return r.Rule.Unit().ForPrograms(v) }

// worst returns the metric of the worst window for programs.
func (r *slaRow) worst() float64 { return r.Rule.Metric.Unit().ForPrograms(r.Windows.Worst.Value) }

// when returns when a moment began, if that is known.
func (r *slaRow) when(m slo.Moment) time.Time {
	return r.of.Run.Start.Add(time.Duration(m.Start) * time.Millisecond)
}

func (r *slaRow) isInWindows() bool  { return r.Windows.Judged > 0 }
func (r *slaRow) isEverBroken() bool { return r.isInWindows() && r.longest() > 0 }

// longest returns the length in milliseconds of the longest time in which the rule was broken.
func (r *slaRow) longest() int64 { return r.Windows.Longest.End - r.Windows.Longest.Start }

// slaColumns are the columns. Those about windows are empty unless windows were checked, and those about broken
// windows unless there are any.
var slaColumns = slices.Concat(
	facts.RunColumns(func(r *slaRow) *mapping.RunInfo { return &r.of.Run }),
	[]table.Column[*slaRow]{
		{Name: "from", Sparse: true, Value: func(r *slaRow) any { return r.of.Checked.Start }},
		{Name: "to", Sparse: true, Value: func(r *slaRow) any { return r.of.Checked.End }},
		{Name: "rule", Heading: "RULE", Value: func(r *slaRow) any { return r.Rule.String() }},
		// The direction is empty if there are no requests that the rule is about.
		{Name: "direction", Heading: "DIR", Value: func(r *slaRow) any { return r.Direction }},
		{Name: "metric", Value: func(r *slaRow) any { return r.Rule.Metric.String() }},
		{
			Name: "value", Heading: ">VALUE",
			Value: func(r *slaRow) any { return r.inUnit(r.Value) },
			Text:  (*slaRow).ValueText,
		},
		{Name: "low", Value: func(r *slaRow) any { return r.inUnit(r.Low) }}, // error bounds
		{Name: "high", Value: func(r *slaRow) any { return r.inUnit(r.High) }},
		{
			Name: "limit", Heading: ">LIMIT",
			Value: func(r *slaRow) any { return r.inUnit(r.Rule.Limit()) },
			Text:  func(r *slaRow) string { return r.Rule.Target() },
		},
		{Name: "unit", Value: func(r *slaRow) any { return r.Rule.Unit().Name() }}, // of value, low, high and limit
		{Name: "verdict", Heading: "VERDICT", Value: func(r *slaRow) any { return string(r.State) }},
		{Name: "close", Value: func(r *slaRow) any { return r.Close }}, // the limit lies within the error bounds
		{Name: "why", Sparse: true, Value: func(r *slaRow) any { return r.Why }},
		// that the value is computed from
		{Name: "requests", Value: func(r *slaRow) any { return int64(r.Requests) }},
		{
			Name: "budget_used", Heading: ">BUDGET", Sparse: true,
			Value: func(r *slaRow) any { return r.Budget },
			Text:  (*slaRow).budgetText,
		},
	},
	table.Where((*slaRow).isInWindows, []table.Column[*slaRow]{
		{Name: "judged", Unit: "ms", Value: func(r *slaRow) any { return r.Windows.Judged }},
		{Name: "held", Unit: "ms", Value: func(r *slaRow) any { return r.Windows.Held }},
		{
			Name: "worst", Heading: ">WORST",
			Value: func(r *slaRow) any { return r.worst() },
			Text:  (*slaRow).WorstText,
		},
		{Name: "worst_unit", Value: func(r *slaRow) any { return r.Rule.Metric.Unit().Name() }},
		// This and the next ones are in milliseconds since the run's start.
		{Name: "worst_start", Unit: "ms", Value: func(r *slaRow) any { return r.Windows.Worst.Start }},
		{
			Name: "worst_start", Heading: "AT (UTC)",
			Value: func(r *slaRow) any { return r.when(r.Windows.Worst) },
			Text:  func(r *slaRow) string { return slo.Clock(r.when(r.Windows.Worst)) },
		},
		// The worst value is a lower bound, because it lies in fio's last bin.
		{Name: "worst_open", Value: func(r *slaRow) any { return r.Windows.Worst.Open }},
	}),
	table.Where((*slaRow).isEverBroken, []table.Column[*slaRow]{
		{Name: "first_broken_start", Unit: "ms", Value: func(r *slaRow) any { return r.Windows.First.Start }},
		{Name: "first_broken_start", Value: func(r *slaRow) any { return r.when(r.Windows.First) }},
		{
			Name: "longest_broken", Unit: "ms", Heading: ">LONGEST",
			Value: func(r *slaRow) any { return r.longest() },
			Text:  func(r *slaRow) string { return slo.Length(r.longest()) },
		},
		{Name: "longest_broken_start", Unit: "ms", Value: func(r *slaRow) any { return r.Windows.Longest.Start }},
		{Name: "longest_broken_start", Value: func(r *slaRow) any { return r.when(r.Windows.Longest) }},
	}),
	[]table.Column[*slaRow]{{Heading: "NOTE", Text: (*slaRow).note}},
)

func newSLATable(w io.Writer, format string) *table.Writer[*slaRow] {
	return table.NewNarrow(w, format, slaColumns, []string{"NOTE", "RULE"}, []string{"AT (UTC)", "LONGEST", "BUDGET"})
}

// testCase returns the verdict as a case of a test report. title names the run.
func (r *slaRow) testCase(title string) junit.Case {
	name := r.Rule.String()
	if r.Direction != "" {
		name += ": " + r.Direction
	}
	results := map[slo.State]junit.Result{slo.Met: junit.Passed, slo.Broken: junit.Failed, slo.Unknown: junit.Errored}
	return junit.Case{Class: title, Name: name, Result: results[r.State], Text: r.Message(&r.of.Run)}
}
