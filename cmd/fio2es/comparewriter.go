package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
)

// compareRow is how a metric of a direction differs.
type compareRow struct {
	base, other *compareSide
	compareLine
}

// compareColumns are those of a comparison whose intervals have so much confidence, from 0 to 1.
func compareColumns(confidence float64) []table.Column[*compareRow] {
	return slices.Concat(
		sideColumns("base", func(r *compareRow) *compareSide { return r.base }),
		sideColumns("other", func(r *compareRow) *compareSide { return r.other }),
		[]table.Column[*compareRow]{
			{Name: "direction", Heading: "DIR", Value: func(r *compareRow) any { return r.direction }},
			{
				Name: "metric", Heading: "METRIC",
				Value: func(r *compareRow) any { return fieldName(r.Metric) },
				Text:  func(r *compareRow) string { return r.Metric.String() },
			},
			{
				Name: "base_value", Heading: ">BASE",
				Value: func(r *compareRow) any { return machine(r.Metric, r.Base) },
				Text:  func(r *compareRow) string { return baseText(&r.Change) },
			},
			{
				Name: "other_value", Heading: ">OTHER",
				Value: func(r *compareRow) any { return machine(r.Metric, r.Other) },
				Text:  func(r *compareRow) string { return otherText(&r.Change) },
			},
			{
				Name: "change", Unit: "percent", Heading: ">CHANGE",
				Value: func(r *compareRow) any { return inPercent(r.Change.Change) },
				Text:  func(r *compareRow) string { return changeText(&r.Change) },
			},
			{
				Heading: fmt.Sprintf(">%s%% INTERVAL", unit.Number(confidence*100)),
				Text:    func(r *compareRow) string { return interval(&r.Change) },
			},
			{Name: "low", Unit: "percent", Value: func(r *compareRow) any { return inPercent(r.Low) }},
			{Name: "high", Unit: "percent", Value: func(r *compareRow) any { return inPercent(r.High) }},
			{Name: "confidence", Value: func(*compareRow) any { return confidence }},
			{Name: "verdict", Heading: "VERDICT", Value: func(r *compareRow) any { return string(r.Verdict) }},
			{Name: "open", Sparse: true, Value: func(r *compareRow) any { return openSides(&r.Change) }},
		})
}

// sideColumns say for programs what a side is: as the user named it, and its runs, joined by
// commas where several are pooled.
func sideColumns(name string, of func(*compareRow) *compareSide) []table.Column[*compareRow] {
	return []table.Column[*compareRow]{
		{Name: name, Value: func(r *compareRow) any { return of(r).arg }},
		{Name: name + "_run", Sparse: true, Value: func(r *compareRow) any { return of(r).ids() }},
		{Name: name + "_name", Value: func(r *compareRow) any { return of(r).title() }},
	}
}

// compareWriter writes the comparisons of two sides, one after the other.
type compareWriter struct{ *table.Writer[*compareRow] }

func newCompareWriter(w io.Writer, format string, confidence float64) *compareWriter {
	return &compareWriter{table.NewNarrow(w, format, compareColumns(confidence), []string{"VERDICT"}, nil)}
}

// pair writes how other differs from base.
func (c *compareWriter) pair(base, other *compareSide, lines []compareLine) error {
	c.Begin(append(heading("base", base), heading("other", other)...)...)
	for _, l := range lines {
		if err := c.Write(&compareRow{base, other, l}); err != nil {
			return err
		}
	}
	return c.End()
}

// heading names a side's runs, a line each.
func heading(label string, side *compareSide) (lines []string) {
	width := 0
	for _, r := range side.runs {
		width = max(width, utf8.RuneCountInString(term.Clean(r.name)))
	}
	for _, r := range side.runs {
		lines = append(lines, fmt.Sprintf("%-5s  %-*s  %s", label, width, term.Clean(r.name), facts.Title(r.Run)))
		label = ""
	}
	return lines
}

// fieldName is a metric as columns of other commands name it: "p99_9_us".
func fieldName(m compare.Metric) string {
	if !m.IsLatency() {
		return m.String()
	}
	return strings.ReplaceAll(m.String(), ".", "_") + "_us"
}

// machine is a metric's value with the digits that documents have: latencies are whole
// nanoseconds, in microseconds.
func machine(m compare.Metric, v float64) float64 {
	if m.IsLatency() {
		return math.Round(v) / 1000
	}
	return math.Round(v*1000) / 1000
}

func forPeople(m compare.Metric, v float64) string {
	switch {
	case m.IsLatency():
		return unit.Latency(v / 1000)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	}
	return unit.Rate(v)
}

// baseText and otherText are the two values for people, a lower bound with its mark.
func baseText(c *compare.Change) string { return unit.OrMore(forPeople(c.Metric, c.Base), c.BaseOpen) }
func otherText(c *compare.Change) string {
	return unit.OrMore(forPeople(c.Metric, c.Other), c.OtherOpen)
}

// changeText is the change for people. Where both values are lower bounds, there is none.
func changeText(c *compare.Change) string {
	if c.Bound() == "?" && c.Metric != compare.Mean {
		return "-"
	}
	return strings.Replace(c.Bound(), "?", "", 1) + signed(c.Change)
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

// inPercent is a share in percent, with four decimals.
func inPercent(share float64) float64 { return math.Round(share*1e6) / 1e4 }

// signed is a change for people: "+3.1 %".
func signed(share float64) string {
	if math.IsNaN(share) {
		return "-"
	}
	return signedNumber(share) + " %"
}

func signedNumber(share float64) string {
	x := math.Round(share*1000) / 10
	switch {
	case x == 0:
		return "0.0"
	case math.Abs(x) >= 100:
		return fmt.Sprintf("%+.0f", x)
	}
	return fmt.Sprintf("%+.1f", x)
}

// interval is a change's confidence interval for people: "-1.2 … +3.1 %".
func interval(c *compare.Change) string {
	if c.Verdict == compare.Unknown {
		return "-"
	}
	return signedNumber(c.Low) + " … " + signedNumber(c.High) + " %"
}
