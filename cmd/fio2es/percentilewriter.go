package main

import (
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// percentileRow is a window, or the whole run.
type percentileRow struct {
	run            mapping.RunInfo
	level          string // cluster, host, job; run: the whole run
	host, job      string
	direction      string
	startMS, endMS int64 // since the run's start
	start, end     time.Time
	requests       int64
	iops           float64
	latency        facts.Latencies
	isBare         bool // has no histogram
}

// isWhole reports whether the row is of the whole run.
func (r *percentileRow) isWhole() bool { return r.level == wholeRun }

// wholeRun is the level of what a whole run came to.
const wholeRun = "run"

// at is when the window was, since the run's start in seconds.
func (r *percentileRow) at() string {
	if r.isWhole() {
		return "all"
	}
	return seconds(r.startMS) + "-" + seconds(r.endMS)
}

// clock is the time of day at which the window began, where it is known.
func (r *percentileRow) clock() string {
	if r.isWhole() || r.start.Year() < 1970 {
		return ""
	}
	return r.start.UTC().Format("15:04:05.000")
}

// requestsText is how many requests there were, where it is known: averages do not say.
func (r *percentileRow) requestsText() string {
	if r.isBare && r.requests == 0 {
		return "-"
	}
	return unit.Count(r.requests)
}

var percentileColumns = slices.Concat(
	facts.RunColumns(func(r *percentileRow) *mapping.RunInfo { return &r.run }),
	[]table.Column[*percentileRow]{
		{Heading: ">TIME", Text: (*percentileRow).at},
		{Heading: "DATE", Text: (*percentileRow).clock},
		{Name: "level", Value: func(r *percentileRow) any { return r.level }},
		{Name: "host", Heading: "HOST", Sparse: true, Value: func(r *percentileRow) any { return r.host }},
		{Name: "job", Heading: "JOB", Sparse: true, Value: func(r *percentileRow) any { return r.job }},
		{Name: "direction", Heading: "DIR", Value: func(r *percentileRow) any { return r.direction }},
		{Name: "start", Unit: "ms", Value: func(r *percentileRow) any { return r.startMS }},
		{Name: "end", Unit: "ms", Value: func(r *percentileRow) any { return r.endMS }},
		{Name: "start", Sparse: true, Value: func(r *percentileRow) any { return r.start }},
		{Name: "end", Sparse: true, Value: func(r *percentileRow) any { return r.end }},
		{
			Name: "requests", Heading: ">REQUESTS",
			Value: func(r *percentileRow) any { return r.requests },
			Text:  (*percentileRow).requestsText,
		},
		{
			Name: "iops", Heading: ">IOPS",
			Value: func(r *percentileRow) any { return r.iops },
			Text:  func(r *percentileRow) string { return unit.Rate(r.iops) },
		},
	},
	table.Hide(facts.LatencyColumns(func(r *percentileRow) *facts.Latencies { return &r.latency }), "min", "p99_99"),
)

// percentileWriter writes windows as they come, and the run's totals after them.
type percentileWriter struct {
	to     *table.Writer[*percentileRow]
	method string

	windows int  // of the run
	byFio   bool // fio computed some values of the table
}

func newPercentileWriter(w io.Writer, format, method string) *percentileWriter {
	cut, drop := []string{"HOST", "JOB"}, []string{"P75", "P90", "MEAN", "P95", "DATE", "P50", "MAX"}
	return &percentileWriter{to: table.NewNarrow(w, format, percentileColumns, cut, drop), method: method}
}

// begin says which run the next windows are of; with several, tables name it.
func (p *percentileWriter) begin(run string, many bool) {
	p.byFio, p.windows = false, 0
	if many {
		p.to.Begin(run)
	} else {
		p.to.Begin()
	}
}

// window writes one window.
func (p *percentileWriter) window(w *window.Window) error {
	p.windows++
	return p.write(&w.Latency, &percentileRow{
		run:   mapping.RunInfo{ID: w.Run.ID, Archive: w.Run.Archive, Name: w.Run.Name},
		level: w.Level.String(), host: w.Host, job: w.Job, direction: w.Direction,
		startMS: w.StartMS(), endMS: w.EndMS(), start: w.Start, end: w.End,
		requests: w.Completed, iops: w.IOPS, latency: facts.LatenciesOf(&w.Latency), isBare: !w.Latency.HasPercentiles(),
	})
}

func (p *percentileWriter) write(l *mapping.Latency, r *percentileRow) error {
	p.byFio = p.byFio || r.latency.ByFio
	if p.method == "fio" {
		if err := r.latency.UseFioMethod(l); err != nil {
			return err
		}
	}
	return p.to.Write(r)
}

// total writes the totals of the run, and ends its table.
func (p *percentileWriter) total(run *mapping.Run) error {
	for _, d := range run.ByDirection() {
		if err := p.write(&d.Latency, &percentileRow{
			run: run.Run, level: wholeRun, direction: d.Direction, endMS: run.Run.End.Sub(run.Run.Start).Milliseconds(),
			start: run.Run.Start, end: run.Run.End, requests: d.Requests, iops: d.IOPS,
			latency: facts.LatenciesOfTotals(d.Totals), isBare: !d.Latency.HasPercentiles(),
		}); err != nil {
			return err
		}
	}
	return p.to.End(facts.Notes(p.byFio)...)
}

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
