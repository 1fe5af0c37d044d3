package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/sheet"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
)

// slaRow is a line of sla --format json.
type slaRow struct {
	Run       string `json:"run"` // archive:name
	ID        string `json:"id,omitempty"`
	From      string `json:"from,omitempty"` // what was judged
	To        string `json:"to,omitempty"`
	Rule      string `json:"rule"`
	Direction string `json:"direction"` // empty: there is none that the rule could be about
	Metric    string `json:"metric"`    // p99, within 100ms, iops

	Value   *float64 `json:"value"` // of rules about windows the share of the time in which they hold; null: not known
	Low     *float64 `json:"low"`   // bounds of its error; high is null where there is none
	High    *float64 `json:"high"`
	Limit   float64  `json:"limit"`
	Unit    string   `json:"unit"` // of the four: us, share (0 … 1), per_second, requests
	Verdict string   `json:"verdict"`
	Close   bool     `json:"close"` // the limit lies within the bounds
	Why     string   `json:"why,omitempty"`

	Requests   int64    `json:"requests"`              // that the value rests on
	BudgetUsed *float64 `json:"budget_used,omitempty"` // share of the error budget

	// Of rules about windows, milliseconds since the run's start where not said otherwise.
	JudgedMS       *int64   `json:"judged_ms,omitempty"` // the length of all windows that tell
	HeldMS         *int64   `json:"held_ms,omitempty"`
	Worst          *float64 `json:"worst,omitempty"` // us, share, or per second: what the metric has
	WorstMS        *int64   `json:"worst_start_ms,omitempty"`
	WorstAt        string   `json:"worst_start,omitempty"` // where known
	FirstMS        *int64   `json:"first_broken_start_ms,omitempty"`
	FirstAt        string   `json:"first_broken_start,omitempty"`
	LongestMS      *int64   `json:"longest_broken_ms,omitempty"` // its length
	LongestStartMS *int64   `json:"longest_broken_start_ms,omitempty"`
	LongestAt      string   `json:"longest_broken_start,omitempty"`
	WorstOpen      bool     `json:"worst_open,omitempty"` // the worst is that or more: it lies in fio's last bin
}

var slaColumns = []string{
	"run", "id", "from", "to", "rule", "direction", "metric", "value", "low", "high", "limit", "unit", "verdict", "close", "why", "requests", "budget_used",
	"judged_ms", "held_ms", "worst", "worst_start_ms", "worst_start", "first_broken_start_ms", "first_broken_start",
	"longest_broken_ms", "longest_broken_start_ms", "longest_broken_start", "worst_open",
}

// slaRun is what verdicts are about.
type slaRun struct {
	title, id       string
	start, from, to time.Time // since when windows count; what was judged
}

// at is a time of the run.
func (r *slaRun) at(ms int64) time.Time { return r.start.Add(time.Duration(ms) * time.Millisecond) }

// clock is a time of the run for people, without the date.
func (r *slaRun) clock(ms int64) string {
	if t := r.at(ms); t.Year() >= 1970 {
		return t.UTC().Format("15:04:05.000")
	}
	return moment(r.at(ms))
}

// breach says for people by how much a rule is broken, and when.
func (r *slaRun) breach(v *slo.Verdict) string {
	text := fmt.Sprintf("%s: %s", v.Rule.Metric, slaValue(v))
	if w := &v.Windows; v.Rule.InWindows() {
		text = fmt.Sprintf("%s: held for %s of %s; first broken at %s, longest from %s for %s, worst at %s: %s", v.Rule.Metric, slaValue(v), slaLength(w.Judged),
			moment(r.at(w.First.Start)), r.clock(w.Longest.Start), slaLength(w.Longest.End-w.Longest.Start), r.clock(w.Worst.Start), slaWorst(v))
	}
	if v.Close {
		text += "; " + closeNote
	}
	return text
}

// closeNote is for verdicts that the raw completions might not have led to.
const closeNote = "the limit lies within the error of the bins"

// slaWorst is the metric in the worst window, for people.
func slaWorst(v *slo.Verdict) string {
	w := &v.Windows.Worst
	return orMore(slaText(v.Rule.Metric.Unit(), w.Value, math.NaN(), v.Requests), w.Open)
}

// orMore marks a value that is a lower bound.
func orMore(text string, isBound bool) string {
	if isBound {
		return "≥" + text
	}
	return text
}

// slaLength is so many milliseconds, for people.
func slaLength(ms int64) string { return unit.Elapsed(time.Duration(ms) * time.Millisecond) }

// slaWriter writes verdicts, run by run.
type slaWriter struct {
	w       io.Writer
	started bool
	csv     *sheet.Writer
	json    *json.Encoder
}

func newSLAWriter(w io.Writer, format string) *slaWriter {
	s := &slaWriter{w: w}
	switch format {
	case "csv", sheet.Exact:
		s.csv = sheet.NewWriter(w, format == sheet.Exact)
		s.csv.Write(slaColumns)
	case "json":
		s.json = json.NewEncoder(w)
		s.json.SetEscapeHTML(false) // rules are full of < and >
	}
	return s
}

// run writes the verdicts on a run.
func (s *slaWriter) run(run *slaRun, verdicts []slo.Verdict) error {
	if s.csv == nil && s.json == nil {
		return s.table(run, verdicts)
	}
	for i := range verdicts {
		row := newSLARow(run, &verdicts[i])
		err := error(nil)
		if s.json != nil {
			err = s.json.Encode(row)
		} else {
			err = s.csv.Write(row.cells())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *slaWriter) table(run *slaRun, verdicts []slo.Verdict) error {
	if s.started {
		fmt.Fprintln(s.w)
	}
	s.started = true
	heading := run.title
	if !run.to.IsZero() {
		heading += ", " + moment(run.from) + " to " + moment(run.to)
	}
	term.Line(s.w, "%s", heading)
	table := term.NewTable("RULE", "DIR", ">VALUE", ">LIMIT", "VERDICT", ">BUDGET", ">WORST", "AT", ">LONGEST", "NOTE")
	table.Narrow([]string{"NOTE", "RULE"}, []string{"AT", "LONGEST", "BUDGET"})
	for i := range verdicts {
		v := &verdicts[i]
		budget, note := "", v.Why
		if !math.IsNaN(v.Budget) {
			budget = strconv.FormatFloat(v.Budget*100, 'f', 0, 64) + " %"
		}
		if v.Close && note == "" {
			note = closeNote
		}
		cells := []string{v.Rule.String(), v.Direction, slaValue(v), v.Rule.Target(), string(v.State), budget}
		worst, at, longest := "", "", ""
		if w := &v.Windows; w.Judged > 0 {
			worst, at = slaWorst(v), run.clock(w.Worst.Start)
			if !w.Longest.IsZero() {
				longest = slaLength(w.Longest.End - w.Longest.Start)
			}
		}
		table.Add(append(cells, worst, at, longest, note)...)
	}
	return table.Write(s.w)
}

func (s *slaWriter) flush() error {
	if s.csv != nil {
		s.csv.Flush()
		return s.csv.Error()
	}
	return nil
}

func newSLARow(run *slaRun, v *slo.Verdict) *slaRow {
	r, u := &v.Rule, v.Rule.Unit()
	row := &slaRow{
		Run: run.title, ID: run.id, From: slaTime(run.from), To: slaTime(run.to), Rule: r.String(), Direction: v.Direction, Metric: r.Metric.String(),
		Value: some(forMachines(u, v.Value)), Low: some(forMachines(u, v.Low)), High: some(forMachines(u, v.High)), Limit: forMachines(u, r.Limit()), Unit: slaUnits[u],
		Verdict: string(v.State), Close: v.Close, Why: v.Why, Requests: int64(v.Requests), BudgetUsed: some(v.Budget),
	}
	w := &v.Windows
	if w.Judged == 0 {
		return row
	}
	row.JudgedMS, row.HeldMS = &w.Judged, &w.Held
	row.WorstOpen = w.Worst.Open
	row.Worst, row.WorstMS, row.WorstAt = some(forMachines(r.Metric.Unit(), w.Worst.Value)), &w.Worst.Start, slaTime(run.at(w.Worst.Start))
	if longest := w.Longest.End - w.Longest.Start; longest > 0 {
		row.FirstMS, row.FirstAt = &w.First.Start, slaTime(run.at(w.First.Start))
		row.LongestMS, row.LongestStartMS, row.LongestAt = &longest, &w.Longest.Start, slaTime(run.at(w.Longest.Start))
	}
	return row
}

// cells are those of CSV, as slaColumns name them.
func (r *slaRow) cells() []string {
	float := func(x *float64) string {
		if x == nil {
			return ""
		}
		return number(*x)
	}
	whole := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	return []string{
		r.Run, r.ID, r.From, r.To, r.Rule, r.Direction, r.Metric, float(r.Value), float(r.Low), float(r.High), number(r.Limit), r.Unit,
		r.Verdict, strconv.FormatBool(r.Close), r.Why, strconv.FormatInt(r.Requests, 10), float(r.BudgetUsed),
		whole(r.JudgedMS), whole(r.HeldMS), float(r.Worst), whole(r.WorstMS), r.WorstAt, whole(r.FirstMS), r.FirstAt,
		whole(r.LongestMS), whole(r.LongestStartMS), r.LongestAt, strconv.FormatBool(r.WorstOpen),
	}
}

// slaUnits are units as CSV and JSON name them.
var slaUnits = map[slo.Unit]string{slo.Nanoseconds: "us", slo.Share: "share", slo.PerSecond: "per_second", slo.Requests: "requests"}

// forMachines is a value as CSV and JSON have it: latencies are microseconds.
func forMachines(u slo.Unit, v float64) float64 {
	if u == slo.Nanoseconds {
		return v / 1000
	}
	return v
}

// slaValue is what a verdict rests on, for people.
func slaValue(v *slo.Verdict) string {
	of := v.Requests
	if v.Rule.InWindows() {
		of = float64(v.Windows.Judged) / 1000 // seconds
	}
	return orMore(slaText(v.Rule.Unit(), v.Value, v.Rule.Limit(), of), math.IsInf(v.High, 1))
}

// slaText is a value for people, with all its digits where fewer would pass for the limit;
// of is how many a share is a share of.
func slaText(u slo.Unit, value, limit, of float64) string {
	text := func(x float64) string {
		switch u {
		case slo.Nanoseconds:
			return unit.Latency(x / 1000)
		case slo.Share:
			return percent(x, of)
		case slo.PerSecond:
			return unit.Rate(x)
		}
		return unit.Count(int64(x))
	}
	switch short := text(value); {
	case math.IsNaN(value):
		return "-"
	case value == limit || short != text(limit):
		return short
	}
	switch u {
	case slo.Nanoseconds:
		return number(value/1000) + "µs"
	case slo.Share:
		return number(value*100) + " %"
	}
	return number(value)
}

// slaTime is a time for machines, empty where it is not known.
func slaTime(t time.Time) string {
	if t.Year() < 1970 {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
