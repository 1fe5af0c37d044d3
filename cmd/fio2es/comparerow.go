package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// compareRow says how a metric of a direction differs.
type compareRow struct {
	workload    string // title of the workload, if there are several
	base, other *compare.Side
	compare.Line
}

// compareColumns returns the columns of a comparison. confidence is that of its intervals, 0 … 1.
func compareColumns(confidence float64) []table.Column[*compareRow] {
	return slices.Concat(
		sideColumns("base", func(r *compareRow) *compare.Side { return r.base }),
		sideColumns("other", func(r *compareRow) *compare.Side { return r.other }),
		[]table.Column[*compareRow]{
			{Name: "direction", Heading: "DIR", Value: func(r *compareRow) any { return r.Direction }},
			{
				Name: "metric", Heading: "METRIC",
				Value: func(r *compareRow) any { return r.Metric.Column() },
				Text:  func(r *compareRow) string { return r.Metric.String() },
			},
			{
				Name: "base_value", Heading: ">BASE",
				Value: func(r *compareRow) any { return machine(r.Metric, r.Base) },
				Text:  (*compareRow).BaseText,
			},
			{
				Name: "other_value", Heading: ">OTHER",
				Value: func(r *compareRow) any { return machine(r.Metric, r.Other) },
				Text:  (*compareRow).OtherText,
			},
			{
				Name: "change", Unit: "percent", Heading: ">CHANGE",
				Value: func(r *compareRow) any { return inPercent(r.Change.Change) },
				Text:  (*compareRow).Text,
			},
			{
				Heading: fmt.Sprintf(">%s%% INTERVAL", unit.Number(confidence*100)),
				Text:    (*compareRow).IntervalText,
			},
			{Name: "low", Unit: "percent", Value: func(r *compareRow) any { return inPercent(r.Low) }},
			{Name: "high", Unit: "percent", Value: func(r *compareRow) any { return inPercent(r.High) }},
			{Name: "confidence", Value: func(*compareRow) any { return confidence }},
			{
				Name: "verdict", Heading: "VERDICT",
				Value: func(r *compareRow) any { return string(r.Verdict) },
				Text:  (*compareRow).VerdictText,
			},
			{Name: "open", Sparse: true, Value: func(r *compareRow) any { return openSides(&r.Change) }},
			{Name: "workload", Sparse: true, Value: func(r *compareRow) any { return r.workload }},
		})
}

// sideColumns returns the columns for programs that identify a side: its name as the user wrote it, and its runs,
// joined by commas.
func sideColumns(name string, of func(*compareRow) *compare.Side) []table.Column[*compareRow] {
	return []table.Column[*compareRow]{
		{Name: name, Value: func(r *compareRow) any { return of(r).Name }},
		{Name: name + "_run", Sparse: true, Value: func(r *compareRow) any { return joined(of(r), idOf) }},
		{Name: name + "_name", Value: func(r *compareRow) any { return joined(of(r), titleOf) }},
	}
}

// mostNamed is how many runs of a side a heading names.
const mostNamed = 4

// heading names the runs of a side, one on each line. If there are many, it says how many, and names the first and
// the last.
func heading(label string, side *compare.Side) (lines []string) {
	if n := len(side.Runs); n > mostNamed {
		first, last := side.Runs[0], side.Runs[n-1]
		return []string{fmt.Sprintf("%-5s  %s: %s, %s (%s) to %s (%s)", label, term.Clean(side.Name), unit.Plural(n, "run"),
			term.Clean(first.Name), facts.StartedUTC(first.Document), term.Clean(last.Name), facts.StartedUTC(last.Document))}
	}
	width := 0
	for _, r := range side.Runs {
		width = max(width, utf8.RuneCountInString(term.Clean(r.Name)))
	}
	for _, r := range side.Runs {
		title := facts.Title(r.Document)
		if title == r.Name {
			title = ""
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-5s  %-*s  %s", label, width, term.Clean(r.Name), title), " "))
		label = ""
	}
	return lines
}

// machine returns a metric's value with the digits of documents: latencies are in microseconds, rounded to the
// nanosecond.
func machine(m window.Metric, v float64) float64 {
	if m.Unit() == window.Nanoseconds {
		return math.Round(v) / 1000
	}
	return math.Round(v*1000) / 1000
}

// openSides names the values that are lower bounds.
func openSides(c *compare.Change) (names []string) {
	if c.BaseOpen {
		names = append(names, "base_value")
	}
	if c.OtherOpen {
		names = append(names, "other_value")
	}
	return names
}

// inPercent returns a share in percent, with four decimals.
func inPercent(share float64) float64 { return math.Round(share*1e6) / 1e4 }

// idOf and titleOf return what columns show of a run. Runs in files have no id.
func idOf(r *mapping.Run) string    { return r.Run.ID }
func titleOf(r *mapping.Run) string { return r.Run.Archive + ":" + r.Run.Name }

// joined joins what of returns for the runs of a side.
func joined(s *compare.Side, of func(*mapping.Run) string) string {
	var texts []string
	for _, r := range s.Runs {
		if text := of(r.Document); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ",")
}
