package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

const (
	overRunsTop    = 20
	overRunsHeight = 220
	mostDots       = 400 // a line over more runs has no dots, because they would hide one another
)

// OverRuns draws numbers of one direction of a workload over its runs, by start. There is a line for each series,
// and a mark for each change, with a link to the first run after it. The series are all latencies, or all of one
// rate. With fewer than two runs it is empty.
func OverRuns(series []*workload.Series, link func(*mapping.Run) string) (f Figure) {
	low, high, open := math.Inf(1), 0.0, math.Inf(1)
	var span window.Span
	for _, s := range series {
		for i, run := range s.Runs {
			low, high = min(low, s.Values[i].Middle()), max(high, s.Values[i].Middle())
			if math.IsInf(s.Values[i].High, 1) {
				open = min(open, s.Values[i].Low)
			}
			span.Join(window.Span{Start: run.Run.Start, End: run.Run.Start})
		}
	}
	if span.Length() <= 0 {
		return f
	}
	c := &chart.Canvas{}
	axis := chart.LatencyAxis(low, high, overRunsTop, overRunsHeight)
	if series[0].Number.LessIsBad() {
		axis = chart.RateAxis(high, overRunsTop, overRunsHeight, 6)
	}
	times := &chart.TimeAxis{From: span.Start, Until: span.End}
	for _, s := range series {
		c.Key("line "+classOf(s), nameOf(s))
	}
	if !math.IsInf(open, 1) {
		c.Text(chart.Left, overRunsTop-6, "soft", "at the top "+unit.Latency(open)+" or more: fio's last bin has no upper end")
	}
	ticks := times.Ticks()
	c.Axes(axis, ticks)
	for _, s := range series {
		var points []chart.Point
		for i, run := range s.Runs {
			points = append(points, chart.Point{
				X: times.X(run.Run.Start), Y: axis.Y(s.Values[i].Middle()), Link: link(run),
				Title: fmt.Sprintf("%s, %s: %s %s", facts.ShortID(run.Run.ID), facts.Started(run), s.Number.Text(), s.TextOf(s.Values[i])),
			})
		}
		panel := panelData{Name: nameOf(s)}
		for i, p := range points { // it is shown where it is the nearest
			before, after := points[max(i-1, 0)], points[min(i+1, len(points)-1)]
			panel.Rows = append(panel.Rows, []any{(before.X + p.X) / 2, (after.X + p.X) / 2, facts.ShortID(s.Runs[i].Run.ID) + " " + facts.Started(s.Runs[i]), s.TextOf(s.Values[i])})
		}
		f.Data.Panels = append(f.Data.Panels, panel)
		if c.Line(classOf(s), nameOf(s), points); len(points) <= mostDots {
			c.Dots(classOf(s), points)
		}
	}
	// each run at which a level changed has one mark
	var changed []*mapping.Run
	texts, isWorse := map[*mapping.Run][]string{}, map[*mapping.Run]bool{}
	for _, s := range series {
		for i := range s.Changes {
			ch := &s.Changes[i]
			if !slices.Contains(changed, ch.After) {
				changed = append(changed, ch.After)
			}
			texts[ch.After] = append(texts[ch.After], s.Number.Text()+" "+ch.Text())
			isWorse[ch.After] = isWorse[ch.After] || s.IsWorse(ch)
		}
	}
	for _, run := range changed {
		class := map[bool]string{true: "mark worse", false: "mark better"}[isWorse[run]]
		c.Printf(`<a href="%s"><path class="%s" d="M%s %dv%d"><title>%s</title></path></a>`+"\n", chart.Escape(link(run)), class,
			chart.Number(times.X(run.Run.Start)), overRunsTop, overRunsHeight, chart.Escape(facts.Started(run)+": "+strings.Join(texts[run], ", ")))
	}
	c.Below(ticks, overRunsTop+overRunsHeight, "start of the runs, "+times.Name()+" to "+unit.Time(span.End, unit.Day))
	label := fmt.Sprintf("%s of %s over %d runs", series[0].Number.Text(), mapping.Plural(series[0].Direction), len(series[0].Runs))
	f.SVG, f.Data.Times = picture(c, "time", overRunsTop+overRunsHeight+chart.BelowHeight, label), timesOf(times)
	return f
}

func nameOf(s *workload.Series) string { return s.Number.Text() + " of " + mapping.Plural(s.Direction) }

func classOf(s *workload.Series) string {
	switch name := strings.ReplaceAll(s.Number.Name, "_", ""); name {
	case "p50", "p95", "p99", "p999", "max":
		return name
	}
	return s.Direction
}
