package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/trend"
	"github.com/fio2es/fio2es/internal/unit"
)

// Row is a line of a list of changes: a change in a series, or a series without changes.
type Row struct {
	*Series
	Change *Change // nil if the series has no change
}

// Rows returns a row for each change of a series, or one row without a change.
func (s *Series) Rows() (list []*Row) {
	for i := range s.Changes {
		list = append(list, &Row{s, &s.Changes[i]})
	}
	if len(list) == 0 {
		list = append(list, &Row{s, nil})
	}
	return list
}

// HasChange reports whether the row is a change.
func (r *Row) HasChange() bool { return r.Change != nil }

// Verdict returns the change as one word. It is unknown if both levels are only lower bounds.
func (r *Row) Verdict() string {
	switch {
	case r.Change == nil && r.Median.IsBound:
		return "unknown"
	case r.Change == nil:
		return "no change"
	case r.IsWorse(r.Change):
		return "worse"
	}
	return "better"
}

// mostDiffer is how many differences a text lists.
const mostDiffer = 6

// Circumstances says on which day the change was, and how the runs before and after it differ. It is empty if they do
// not differ.
func (r *Row) Circumstances() string {
	if r.Change == nil {
		return ""
	}
	list := Differences(r.Change.Before, r.Change.After)
	if len(list) == 0 {
		return ""
	}
	return "since " + Day(r.Change.After) + ": " + unit.List(list, mostDiffer, "; ")
}

// level returns the level after the change, or the median of a series without changes.
func (r *Row) level() trend.Value {
	if r.Change == nil {
		return r.Median
	}
	return r.Change.Level.After
}

// open returns the names of the columns whose values are only bounds.
func (r *Row) open() (list []string) {
	if r.Change != nil && r.Change.Level.Before.IsBound {
		list = append(list, "before_value")
	}
	if r.level().IsBound {
		list = append(list, "after_value")
	}
	if r.Change != nil && r.Change.Level.Ratio.IsBound {
		list = append(list, "change_percent")
	}
	return list
}

// digits rounds a value as in documents: latencies in microseconds to the nanosecond.
func digits(v float64) float64 { return math.Round(v*1000) / 1000 }

func percent(ratio float64) float64 { return digits((ratio - 1) * 100) }

func percentText(ratio float64) string { return fmt.Sprintf("%+.1f", (ratio-1)*100) }

// Columns are the columns of lists of changes.
var Columns = slices.Concat(
	[]table.Column[*Row]{
		{Name: "workload", Heading: "Workload", Value: func(r *Row) any { return r.Title }},
		{Name: "direction", Heading: "Dir", Value: func(r *Row) any { return r.Direction }},
		{
			Name: "metric", Heading: "Metric",
			Value: func(r *Row) any {
				if r.Number.LessIsBad {
					return r.Number.Name
				}
				return r.Number.Name + "_us"
			},
			Text: func(r *Row) string { return r.Number.Text },
		},
		{Name: "runs", Heading: ">Runs", Value: func(r *Row) any { return len(r.Runs) }},
	},
	table.Where((*Row).HasChange, []table.Column[*Row]{
		{
			Name: "since", Heading: "Since",
			Value: func(r *Row) any { return r.Change.After.Run.Start },
			Text:  func(r *Row) string { return Day(r.Change.After) },
		},
		{Name: "before_run", Value: func(r *Row) any { return r.Change.Before.Run.ID }},
		{
			Name: "after_run", Heading: "Run",
			Value: func(r *Row) any { return r.Change.After.Run.ID },
			Text:  func(r *Row) string { return facts.ShortID(r.Change.After.Run.ID) },
		},
		{
			Name: "before_value", Heading: ">Was",
			Value: func(r *Row) any { return digits(r.Change.Level.Before.N) },
			Text:  func(r *Row) string { return r.Number.TextOf(r.Change.Level.Before) },
		},
	}),
	[]table.Column[*Row]{
		{
			Name: "after_value", Heading: ">Is",
			Value: func(r *Row) any { return digits(r.level().N) },
			Text:  func(r *Row) string { return r.Number.TextOf(r.level()) },
		},
	},
	table.Where((*Row).HasChange, []table.Column[*Row]{
		{
			Name: "change", Unit: "percent", Heading: ">Change",
			Value: func(r *Row) any { return percent(r.Change.Level.Ratio.N) },
			Text:  func(r *Row) string { return r.Change.Text() },
		},
		{
			Heading: ">99% interval",
			Text:    func(r *Row) string { return r.Change.interval() },
		},
		{Name: "low", Unit: "percent", Value: func(r *Row) any { return percent(r.Change.Level.Low) }},
		{Name: "high", Unit: "percent", Value: func(r *Row) any { return percent(r.Change.Level.High) }},
	}),
	[]table.Column[*Row]{{Name: "verdict", Heading: "Verdict", Value: func(r *Row) any { return r.Verdict() }}},
	table.Where((*Row).HasChange, []table.Column[*Row]{
		{Name: "differs", Value: func(r *Row) any { return strings.Join(Differences(r.Change.Before, r.Change.After), "; ") }},
	}),
	[]table.Column[*Row]{{Name: "open", Sparse: true, Value: func(r *Row) any { return r.open() }}},
)
