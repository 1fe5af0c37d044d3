package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/sheet"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// percentileLine is a line of percentiles --format json. Latencies are microseconds.
type percentileLine struct {
	Run       string   `json:"run,omitempty"`
	Level     string   `json:"level"` // cluster, host, job; run: the whole run
	Host      string   `json:"host,omitempty"`
	Job       string   `json:"job,omitempty"`
	Direction string   `json:"direction"`
	StartMS   int64    `json:"start_ms"` // since the run's start
	EndMS     int64    `json:"end_ms"`
	Start     string   `json:"start,omitempty"` // where known
	End       string   `json:"end,omitempty"`
	Requests  int64    `json:"requests"`
	IOPS      float64  `json:"iops"`
	Min       *float64 `json:"min"`
	Mean      *float64 `json:"mean"`
	P50       *float64 `json:"p50"`
	P75       *float64 `json:"p75"`
	P90       *float64 `json:"p90"`
	P95       *float64 `json:"p95"`
	P99       *float64 `json:"p99"`
	P999      *float64 `json:"p99_9"`
	P9999     *float64 `json:"p99_99"`
	Max       *float64 `json:"max"`
	Open      []string `json:"open,omitempty"`   // of the latencies, those that are lower bounds: the latency is that or more
	Source    string   `json:"source,omitempty"` // fio: fio computed the latencies of its single job, nothing was merged
}

// mostRows is how many rows of a table are kept to make its columns as wide as they need:
// those of over an hour of a second each, in both directions. A longer table comes in parts.
const mostRows = 10_000

// percentileWriter writes windows as they come, and the run's totals after them.
type percentileWriter struct {
	w              io.Writer
	format, method string
	totalOnly      bool

	run     string
	windows int // of the run
	many    bool
	started bool
	titled  bool // the run's name is written
	table   *term.Table
	byFio   bool // some values of the table
	csv     *sheet.Writer
	json    *json.Encoder
}

func newPercentileWriter(w io.Writer, format, method string, totalOnly bool) *percentileWriter {
	p := &percentileWriter{w: w, format: format, method: method, totalOnly: totalOnly}
	switch format {
	case "csv", sheet.Exact:
		p.csv = sheet.NewWriter(w, format == sheet.Exact)
		p.csv.Write([]string{"run", "level", "host", "job", "direction", "start_ms", "end_ms", "start", "end", "requests", "iops",
			"min_us", "mean_us", "p50_us", "p75_us", "p90_us", "p95_us", "p99_us", "p99_9_us", "p99_99_us", "max_us", "open", "source"})
	case "json":
		p.json = json.NewEncoder(w)
	}
	return p
}

// begin says which run the next windows are of; with several, tables name it.
func (p *percentileWriter) begin(run string, many bool) {
	p.run, p.many, p.titled, p.byFio, p.windows = run, many, false, false, 0
	p.table = term.NewTable(">TIME", "DATE", "HOST", "JOB", "DIR", ">REQUESTS", ">IOPS", ">MEAN", ">P50", ">P75", ">P90", ">P95", ">P99", ">P99.9", ">MAX")
	p.table.Narrow([]string{"HOST", "JOB"}, []string{"P75", "P90", "MEAN", "P95", "DATE", "P50", "MAX"})
}

// wants implements [windowOutput]. Fio's values are not in documents, but in histograms.
func (p *percentileWriter) wants(*mapping.Run) (history.Selection, bool, error) {
	return history.Selection{Light: p.method != "fio"}, !p.totalOnly, nil
}

// interval writes one window.
func (p *percentileWriter) interval(d *mapping.Interval) error {
	if p.totalOnly {
		return nil
	}
	p.windows++
	line := percentileLine{
		Run: d.Run.Name, Level: d.Level.String(), Host: d.Host.Name, Job: d.Fio.Job, Direction: d.Fio.Direction,
		StartMS: d.Time.Sub(d.Run.Start).Milliseconds(), Requests: d.Requests.Completed, IOPS: d.IOPS,
	}
	line.EndMS = line.StartMS + d.Window.MS
	line.setTimes(d.Time, d.Window.End)
	a, err := answersOf(&d.Latency, p.method)
	if err != nil {
		return err
	}
	return p.line(&line, &a, d.Latency.Layout == "")
}

// lacksWindows implements [totalsOutput].
func (p *percentileWriter) lacksWindows() bool { return p.windows == 0 && !p.totalOnly }

// total writes what the whole run comes to, and ends its table.
func (p *percentileWriter) total(r *mapping.Run) error {
	for _, d := range r.ByDirection() {
		line := percentileLine{
			Run: r.Run.Name, Level: "run", Direction: d.Direction, Requests: d.Requests, IOPS: d.IOPS,
			EndMS: r.Run.End.Sub(r.Run.Start).Milliseconds(),
		}
		line.setTimes(r.Run.Start, r.Run.End)
		a, err := answersOfTotal(d.Totals, p.method)
		if err == nil {
			err = p.line(&line, &a, d.Latency.Layout == "")
		}
		if err != nil {
			return err
		}
	}
	if p.format != "table" {
		return nil
	}
	if err := p.writeTable(); err != nil || !p.byFio {
		return err
	}
	_, err := fmt.Fprintln(p.w, fioNote)
	return err
}

// writeTable writes the rows so far, under the run's name where there are several.
func (p *percentileWriter) writeTable() error {
	if p.many && !p.titled {
		if p.started {
			fmt.Fprintln(p.w)
		}
		term.Line(p.w, "%s", p.run)
	}
	p.started, p.titled = true, true
	return p.table.Write(p.w)
}

// setTimes sets absolute times unless the run's start is unknown.
func (l *percentileLine) setTimes(start, end time.Time) {
	if start.Year() < 1970 {
		return
	}
	const layout = "2006-01-02T15:04:05.000Z"
	l.Start, l.End = start.UTC().Format(layout), end.UTC().Format(layout)
}

// line writes a line; isBare is one without a histogram.
func (p *percentileWriter) line(l *percentileLine, a *answers, isBare bool) error {
	values := a.values
	l.Open, l.Source = a.bounds(), a.source()
	switch p.format {
	case "json":
		for i, to := range []**float64{&l.Min, &l.Mean, &l.P50, &l.P75, &l.P90, &l.P95, &l.P99, &l.P999, &l.P9999, &l.Max} {
			if !math.IsNaN(values[i]) {
				*to = &values[i]
			}
		}
		return p.json.Encode(l)
	case "csv", sheet.Exact:
		row := []string{l.Run, l.Level, l.Host, l.Job, l.Direction, strconv.FormatInt(l.StartMS, 10), strconv.FormatInt(l.EndMS, 10),
			l.Start, l.End, strconv.FormatInt(l.Requests, 10), number(l.IOPS)}
		for _, v := range values {
			row = append(row, number(v))
		}
		return p.csv.Write(append(row, strings.Join(l.Open, " "), l.Source))
	}
	at := seconds(l.StartMS) + "-" + seconds(l.EndMS)
	if l.Level == "run" {
		at = "all"
	}
	date := ""
	if len(l.Start) > 19 && l.Level != "run" {
		date = l.Start[11:23]
	}
	requests := unit.Count(l.Requests)
	if isBare && l.Requests == 0 {
		requests = "-" // averages do not say
	}
	p.byFio = p.byFio || a.byFio
	cells := []string{at, date, l.Host, l.Job, l.Direction, requests, unit.Rate(l.IOPS)}
	p.table.Add(append(cells, a.texts("mean", "p50", "p75", "p90", "p95", "p99", "p99_9", "max")...)...)
	if p.table.Rows() >= mostRows {
		return p.writeTable()
	}
	return nil
}

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }

func (p *percentileWriter) flush() error {
	if p.csv != nil {
		p.csv.Flush()
		return p.csv.Error()
	}
	return nil
}
