package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/sheet"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
)

// compareRow is a line of compare --format json.
type compareRow struct {
	Base       string   `json:"base"` // as the user named the side
	Other      string   `json:"other"`
	BaseRun    string   `json:"base_run"` // archive:name; joined by commas where several are pooled
	OtherRun   string   `json:"other_run"`
	Direction  string   `json:"direction"`
	Metric     string   `json:"metric"`     // iops: per second; mean_us, p99_us, p99_9_us: microseconds
	BaseValue  *float64 `json:"base_value"` // null where it is not known
	OtherValue *float64 `json:"other_value"`
	Change     *float64 `json:"change_percent"`
	Low        *float64 `json:"low_percent"` // of the confidence interval; null without one
	High       *float64 `json:"high_percent"`
	Confidence float64  `json:"confidence"`     // such as 0.95
	Verdict    string   `json:"verdict"`        // worse, better, same, unknown
	Open       []string `json:"open,omitempty"` // of base_value and other_value, those that are lower bounds: that or more
}

// compareWriter writes the comparisons of two sides, one after the other.
type compareWriter struct {
	w          io.Writer
	format     string
	confidence float64
	started    bool
	csv        *sheet.Writer
	json       *json.Encoder
}

func newCompareWriter(w io.Writer, format string, confidence float64) *compareWriter {
	c := &compareWriter{w: w, format: format, confidence: confidence}
	switch format {
	case "csv", sheet.Exact:
		c.csv = sheet.NewWriter(w, format == sheet.Exact)
		c.csv.Write([]string{"base", "other", "base_run", "other_run", "direction", "metric", "base_value", "other_value",
			"change_percent", "low_percent", "high_percent", "confidence", "verdict", "open"})
	case "json":
		c.json = json.NewEncoder(w)
	}
	return c
}

// pair writes how other differs from base.
func (c *compareWriter) pair(base, other *compareSide, lines []compareLine) error {
	if c.format == "table" {
		return c.table(base, other, lines)
	}
	for _, l := range lines {
		r := compareRow{
			Base: base.arg, Other: other.arg, BaseRun: base.title(), OtherRun: other.title(),
			Direction: l.direction, Metric: fieldName(l.Metric), Confidence: c.confidence, Verdict: string(l.Verdict),
			BaseValue: some(machine(l.Metric, l.Base)), OtherValue: some(machine(l.Metric, l.Other)),
			Change: some(inPercent(l.Change.Change)), Low: some(inPercent(l.Low)), High: some(inPercent(l.High)), Open: openSides(&l.Change),
		}
		if err := c.row(&r); err != nil {
			return err
		}
	}
	return nil
}

func (c *compareWriter) row(r *compareRow) error {
	if c.json != nil {
		return c.json.Encode(r)
	}
	row := []string{r.Base, r.Other, r.BaseRun, r.OtherRun, r.Direction, r.Metric}
	for _, v := range []*float64{r.BaseValue, r.OtherValue, r.Change, r.Low, r.High} {
		if v == nil {
			row = append(row, "")
		} else {
			row = append(row, number(*v))
		}
	}
	return c.csv.Write(append(row, number(r.Confidence), r.Verdict, strings.Join(r.Open, " ")))
}

func (c *compareWriter) table(base, other *compareSide, lines []compareLine) error {
	if c.started {
		fmt.Fprintln(c.w)
	}
	c.started = true
	c.heading("base", base)
	c.heading("other", other)
	table := term.NewTable("DIR", "METRIC", ">BASE", ">OTHER", ">CHANGE", fmt.Sprintf(">%s%% INTERVAL", number(c.confidence*100)), "VERDICT")
	table.Narrow([]string{"VERDICT"}, nil)
	for _, l := range lines {
		table.Add(l.direction, l.Metric.String(), baseText(&l.Change), otherText(&l.Change),
			changeText(&l.Change), interval(&l.Change), string(l.Verdict))
	}
	return table.Write(c.w)
}

// heading names a side's runs, a line each.
func (c *compareWriter) heading(label string, side *compareSide) {
	width := 0
	for _, r := range side.runs {
		width = max(width, utf8.RuneCountInString(term.Clean(r.name)))
	}
	for _, r := range side.runs {
		term.Line(c.w, "%-5s  %-*s  %s", label, width, term.Clean(r.name), describe(r.Run))
		label = ""
	}
}

func (c *compareWriter) flush() error {
	if c.csv != nil {
		c.csv.Flush()
		return c.csv.Error()
	}
	return nil
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
func baseText(c *compare.Change) string  { return orMore(forPeople(c.Metric, c.Base), c.BaseOpen) }
func otherText(c *compare.Change) string { return orMore(forPeople(c.Metric, c.Other), c.OtherOpen) }

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

// some is a number, or nil for none.
func some(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

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
