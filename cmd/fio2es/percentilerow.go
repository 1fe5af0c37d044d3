package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// percentileRow is a window, the totals of a run, or a sum of windows.
type percentileRow struct {
	*window.Window
	latency facts.Latencies
	isSum   bool // the sum of the chosen windows
}

// isTotal reports whether the row is about the whole run.
func (r *percentileRow) isTotal() bool { return r.Level == 0 && !r.isSum }

func (r *percentileRow) level() string {
	switch {
	case r.isTotal():
		return "run"
	case r.isSum:
		return "chosen"
	}
	return r.Level.String()
}

// at returns when the window was, in seconds since the run's start.
func (r *percentileRow) at() string {
	if r.isTotal() {
		return "all"
	}
	return seconds(r.StartMS()) + "-" + seconds(r.EndMS())
}

// clock returns the time of day at which the window began, if it is known.
func (r *percentileRow) clock() string {
	if r.isTotal() || !unit.IsKnown(r.Start) {
		return ""
	}
	return r.Start.UTC().Format("15:04:05.000")
}

func (r *percentileRow) of() *mapping.RunInfo { return r.Run }

var percentileColumns = slices.Concat(
	facts.RunColumns((*percentileRow).of),
	[]table.Column[*percentileRow]{
		{Heading: ">SECONDS", Text: (*percentileRow).at},
		{Heading: "UTC", Text: (*percentileRow).clock},
		{Name: "level", Value: func(r *percentileRow) any { return r.level() }},
		{Name: "host", Heading: "HOST", Sparse: true, Value: func(r *percentileRow) any { return r.Host }},
		{Name: "job", Heading: "JOB", Sparse: true, Value: func(r *percentileRow) any { return r.Job }},
		{Name: "direction", Heading: "DIR", Value: func(r *percentileRow) any { return r.Direction }},
	},
	facts.TimeColumns((*percentileRow).of, func(r *percentileRow) time.Time { return r.Start }, func(r *percentileRow) time.Time { return r.End }),
	[]table.Column[*percentileRow]{
		{
			Name: "requests", Heading: ">REQUESTS",
			Value: func(r *percentileRow) any { return r.Completed },
			Text:  func(r *percentileRow) string { return facts.Requests(&r.Latency, r.Completed) },
		},
		{
			Name: "iops", Heading: ">IOPS",
			Value: func(r *percentileRow) any { return r.KnownIOPS() },
			Text:  func(r *percentileRow) string { return unit.Rate(r.KnownIOPS()) },
		},
	},
	table.Hide(facts.LatencyColumns(func(r *percentileRow) *facts.Latencies { return &r.latency }), "min", "p99_99"),
)

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
