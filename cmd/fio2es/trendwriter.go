package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// trendRow is a change in a series, or a series without changes.
type trendRow struct {
	*workload.Series
	change *workload.Change // nil: none
}

// before and after are the runs around the change, the last one if there is none.
func (r *trendRow) before() *mapping.Run {
	if r.change == nil {
		return nil
	}
	return r.change.Before
}

func (r *trendRow) after() *mapping.Run {
	if r.change == nil {
		return nil
	}
	return r.change.After
}

// level is a value of the series for programs: latencies in microseconds, as in documents.
func (r *trendRow) level(of func(*workload.Change) float64) any {
	if r.change == nil {
		return nil
	}
	return math.Round(of(r.change)*1000) / 1000
}

// text is a value of the series for people.
func (r *trendRow) text(v float64) string {
	switch r.Number.Name {
	case "iops":
		return unit.Rate(v)
	case "bandwidth":
		return unit.Bytes(int64(v)) + "/s"
	}
	return unit.Latency(v)
}

func (r *trendRow) verdict() string {
	switch {
	case r.change == nil:
		return "no change"
	case r.IsWorse(r.change):
		return "worse"
	}
	return "better"
}

// trendColumns are the columns of changes.
var trendColumns = []table.Column[*trendRow]{
	{Name: "workload", Heading: "Workload", Value: func(r *trendRow) any { return r.Title }},
	{Name: "direction", Heading: "Dir", Value: func(r *trendRow) any { return r.Direction }},
	{
		Name: "metric", Heading: "Metric",
		Value: func(r *trendRow) any {
			if r.Number.Name == "iops" || r.Number.Name == "bandwidth" {
				return r.Number.Name
			}
			return r.Number.Name + "_us"
		},
		Text: func(r *trendRow) string { return r.Number.Text },
	},
	{Name: "runs", Heading: ">Runs", Value: func(r *trendRow) any { return len(r.Runs) }},
	{
		Name: "since", Heading: "Since",
		Value: func(r *trendRow) any {
			if r.change == nil {
				return nil
			}
			return r.after().Run.Start
		},
		Text: func(r *trendRow) string {
			if r.change == nil {
				return ""
			}
			return strings.SplitN(facts.Started(r.after()), " ", 2)[0]
		},
	},
	{
		Name: "before_run",
		Value: func(r *trendRow) any {
			if r.change == nil {
				return nil
			}
			return r.before().Run.ID
		},
	},
	{
		Name: "after_run", Heading: "Run",
		Value: func(r *trendRow) any {
			if r.change == nil {
				return nil
			}
			return r.after().Run.ID
		},
		Text: func(r *trendRow) string {
			if r.change == nil {
				return ""
			}
			return facts.ShortID(r.after().Run.ID)
		},
	},
	{
		Name: "before_value", Heading: ">Was",
		Value: func(r *trendRow) any { return r.level(func(c *workload.Change) float64 { return c.Change.Before }) },
		Text: func(r *trendRow) string {
			if r.change == nil {
				return ""
			}
			return r.text(r.change.Change.Before)
		},
	},
	{
		Name: "after_value", Heading: ">Is",
		Value: func(r *trendRow) any { return r.level(func(c *workload.Change) float64 { return c.Change.After }) },
		Text: func(r *trendRow) string {
			if r.change == nil {
				return r.text(r.Values[len(r.Values)-1])
			}
			return r.text(r.change.Change.After)
		},
	},
	{
		Name: "change", Unit: "percent", Heading: ">Change",
		Value: func(r *trendRow) any { return r.level(func(c *workload.Change) float64 { return (c.Ratio - 1) * 100 }) },
		Text: func(r *trendRow) string {
			if r.change == nil {
				return ""
			}
			return signedPercent(r.change.Ratio) + " %"
		},
	},
	{
		Heading: ">99% interval",
		Text: func(r *trendRow) string {
			if r.change == nil {
				return ""
			}
			return signedPercent(r.change.Low) + " … " + signedPercent(r.change.High) + " %"
		},
	},
	{Name: "low", Unit: "percent", Value: func(r *trendRow) any { return r.level(func(c *workload.Change) float64 { return (c.Low - 1) * 100 }) }},
	{Name: "high", Unit: "percent", Value: func(r *trendRow) any { return r.level(func(c *workload.Change) float64 { return (c.High - 1) * 100 }) }},
	{Name: "verdict", Heading: "Verdict", Value: func(r *trendRow) any { return r.verdict() }},
	{
		Name: "differs", Sparse: true,
		Value: func(r *trendRow) any {
			if r.change == nil {
				return nil
			}
			return strings.Join(workload.Differences(r.before(), r.after()), "; ")
		},
	},
}

// signedPercent is a ratio as a change in percent.
func signedPercent(ratio float64) string { return fmt.Sprintf("%+.1f", (ratio-1)*100) }

// trendWriter writes series and their changes, and counts them.
type trendWriter struct {
	*table.Writer[*trendRow]
	w                            io.Writer
	format                       string
	runs, numbers, changes, rows int
	workloads                    map[*workload.Workload]bool
	differs                      []string // what differs where a change is, each once
}

func newTrendWriter(w io.Writer, format string) *trendWriter {
	drop := []string{"RUNS", "99% INTERVAL", "RUN", "WAS"}
	return &trendWriter{
		Writer: table.NewNarrow(w, format, trendColumns, []string{"WORKLOAD"}, drop), w: w, format: format, workloads: map[*workload.Workload]bool{},
	}
}

// series writes the changes of a series, or with all also one without changes.
func (t *trendWriter) series(s *workload.Series, all bool) error {
	if !t.workloads[s.Workload] {
		t.workloads[s.Workload] = true
		t.runs += len(s.Workload.Runs)
	}
	t.numbers++
	t.changes += len(s.Changes)
	for i := range s.Changes {
		t.note(&s.Changes[i])
		if err := t.row(&trendRow{s, &s.Changes[i]}); err != nil {
			return err
		}
	}
	if len(s.Changes) == 0 && all {
		return t.row(&trendRow{s, nil})
	}
	return nil
}

func (t *trendWriter) row(r *trendRow) error {
	t.rows++
	return t.Write(r)
}

// mostDiffer is how many differences a note has.
const mostDiffer = 6

// note notes what differs between the runs around a change.
func (t *trendWriter) note(c *workload.Change) {
	list := workload.Differences(c.Before, c.After)
	if len(list) == 0 {
		return
	}
	text := strings.Join(list[:min(len(list), mostDiffer)], "; ")
	if more := len(list) - mostDiffer; more > 0 {
		text += fmt.Sprintf("; %d more", more)
	}
	text = "since " + strings.SplitN(facts.Started(c.After), " ", 2)[0] + ": " + text
	if !slices.Contains(t.differs, text) {
		t.differs = append(t.differs, text)
	}
}

// end ends the table with what differs and what was looked at.
func (t *trendWriter) end() error {
	summary := fmt.Sprintf("%s of %s in %s: %s", unit.Plural(t.numbers, "number"), unit.Plural(len(t.workloads), "workload"),
		unit.Plural(t.runs, "run"), unit.Plural(t.changes, "change"))
	if t.rows == 0 && t.format == table.Text {
		_, err := fmt.Fprintln(t.w, summary)
		return err
	}
	if err := t.End(append(t.differs, summary)...); err != nil {
		return err
	}
	return t.Flush()
}
