package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/sheet"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// rankLine is a line of rank --format json.
type rankLine struct {
	Run       string   `json:"run,omitempty"`
	Direction string   `json:"direction"`      // all: of those that were asked for
	From      string   `json:"from,omitempty"` // what the windows really span
	To        string   `json:"to,omitempty"`
	WithinUS  float64  `json:"within_us"`
	Requests  int64    `json:"requests"`
	Served    int64    `json:"served"`         // within the latency
	AtLeast   int64    `json:"at_least"`       // without those of the bin that the latency falls into
	AtMost    int64    `json:"at_most"`        // with all of these
	Share     *float64 `json:"share"`          // 0 … 1; null without requests
	Open      []string `json:"open,omitempty"` // lower bounds: the latency lies in fio's last bin, which has no end
}

// rankWriter adds up the windows that are asked for, and answers at the end of each run.
type rankWriter struct {
	w      io.Writer
	format string
	query  *rankQuery
	csv    *sheet.Writer
	json   *json.Encoder

	run      string
	started  bool
	sums     map[string]*hist.Histogram // by direction
	windows  int
	from, to time.Time // what they span
	choice   choice
	empty    []error // runs of which there was nothing
}

func newRankWriter(w io.Writer, format string, q *rankQuery) *rankWriter {
	r := &rankWriter{w: w, format: format, query: q}
	switch format {
	case "csv", sheet.Exact:
		r.csv = sheet.NewWriter(w, format == sheet.Exact)
		r.csv.Write([]string{"run", "direction", "from", "to", "within_us", "requests", "served", "at_least", "at_most", "share", "open"})
	case "json":
		r.json = json.NewEncoder(w)
	}
	return r
}

func (r *rankWriter) begin(run string, _ bool) {
	r.run, r.sums, r.windows, r.choice = run, map[string]*hist.Histogram{}, 0, choice{query: &r.query.windowQuery}
	r.from, r.to = time.Time{}, time.Time{}
}

// wants implements [windowOutput].
func (r *rankWriter) wants(run *mapping.Run) (history.Selection, bool, error) {
	if r.query.whole() {
		return history.Selection{}, false, nil
	}
	if err := r.query.needs(run); err != nil {
		return history.Selection{}, false, err
	}
	sel, err := r.query.selection(run)
	return sel, true, err
}

func (r *rankWriter) interval(d *mapping.Interval) error {
	if r.query.whole() || d.Latency.Layout == "" { // of averages: no histogram
		return nil
	}
	if takes, err := r.choice.takes(d); err != nil || !takes {
		return err
	}
	if r.windows == 0 || d.Time.Before(r.from) {
		r.from = d.Time
	}
	if r.windows == 0 || d.Window.End.After(r.to) {
		r.to = d.Window.End
	}
	r.windows++
	return r.add(d.Fio.Direction, &d.Latency)
}

func (r *rankWriter) add(direction string, l *mapping.Latency) error {
	h, err := l.Hist()
	if err != nil {
		return err
	}
	for _, name := range []string{direction, "all"} {
		if r.sums[name] == nil {
			r.sums[name] = &hist.Histogram{}
		}
		r.sums[name].Merge(h)
	}
	return nil
}

// total answers for a run.
func (r *rankWriter) total(run *mapping.Run) error {
	if r.query.whole() {
		r.from, r.to = run.Run.Start, run.Run.End
		for _, d := range run.ByDirection() {
			if !isWanted(r.query.directions, d.Direction) || d.Latency.Layout == "" {
				continue
			}
			if err := r.add(d.Direction, &d.Latency); err != nil {
				return err
			}
		}
	}
	if len(r.sums) == 0 {
		r.empty = append(r.empty, r.choice.empty(run))
		return nil
	}
	requests := r.sums["all"].Total()
	if len(r.sums) == 2 { // a direction alone is all
		delete(r.sums, "all")
	}
	table := term.NewTable(">WITHIN", "DIR", ">REQUESTS", ">SERVED", ">SHARE", ">AT LEAST", ">AT MOST")
	for _, within := range r.query.within {
		for _, direction := range append(mapping.Directions[:], "all") {
			h := r.sums[direction]
			if h == nil {
				continue
			}
			if err := r.line(table, within, direction, h, requests); err != nil {
				return err
			}
		}
	}
	if r.format != "table" {
		return nil
	}
	if r.started {
		fmt.Fprintln(r.w)
	}
	r.started = true
	term.Line(r.w, "%s, %s to %s", r.run, moment(r.from), moment(r.to))
	return table.Write(r.w)
}

// line answers for a direction; all is how many requests all directions have.
func (r *rankWriter) line(table *term.Table, within time.Duration, direction string, h *hist.Histogram, all float64) error {
	count, low, high := h.CountWithin(float64(within))
	l := rankLine{
		Run: r.run, Direction: direction, WithinUS: float64(within) / 1000, Requests: int64(math.Round(h.Total())),
		Served: int64(math.Round(count)), AtLeast: int64(math.Round(low)), AtMost: int64(math.Round(high)),
	}
	if r.from.Year() >= 1970 {
		l.From, l.To = r.from.UTC().Format(time.RFC3339Nano), r.to.UTC().Format(time.RFC3339Nano)
	}
	isBound := high > low && h.Layout().Open(h.Layout().Index(int64(within)))
	if isBound {
		l.Open = []string{"served", "share"}
	}
	share := "-"
	if h.Total() > 0 {
		s := count / h.Total()
		l.Share, share = &s, percent(s, all)
	}
	switch r.format {
	case "json":
		return r.json.Encode(l)
	case "csv", sheet.Exact:
		exact := ""
		if l.Share != nil {
			exact = number(*l.Share)
		}
		return r.csv.Write([]string{l.Run, l.Direction, l.From, l.To, number(l.WithinUS), strconv.FormatInt(l.Requests, 10),
			strconv.FormatInt(l.Served, 10), strconv.FormatInt(l.AtLeast, 10), strconv.FormatInt(l.AtMost, 10), exact, strings.Join(l.Open, " ")})
	}
	table.Add(unit.Latency(l.WithinUS), direction, unit.Count(l.Requests), orMore(unit.Count(l.Served), isBound), orMore(share, isBound), unit.Count(l.AtLeast), unit.Count(l.AtMost))
	return nil
}

// percent has as many digits as so many requests allow to tell apart, up to six: all but
// one of a million are 99.9999 %. Only all of them are 100 %.
func percent(share, requests float64) string {
	digits := min(max(int(math.Ceil(math.Log10(requests)))-2, 1), 6)
	text := strconv.FormatFloat(share*100, 'f', digits, 64)
	if share < 1 && strings.HasPrefix(text, "100") {
		text = "99." + strings.Repeat("9", digits)
	}
	return text + " %"
}

// moment is a time for people, or how long after the run's start where that is unknown.
func moment(t time.Time) string {
	if t.Year() < 1970 {
		return "+" + t.Sub(time.Time{}).String()
	}
	return t.UTC().Format("2006-01-02 15:04:05.000")
}

func (r *rankWriter) flush() error {
	if r.csv != nil {
		r.csv.Flush()
		r.empty = append(r.empty, r.csv.Error())
	}
	return errors.Join(r.empty...)
}
