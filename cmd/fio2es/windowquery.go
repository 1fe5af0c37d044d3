package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// windowQuery is which windows are asked for: those that lie between two times, and of
// some directions, hosts or jobs alone.
type windowQuery struct {
	from, to          string // as the user wrote them; empty is no bound
	directions, hosts []string
	jobs              []string
}

// addFlags adds the flags that choose windows.
func (q *windowQuery) addFlags(fl *pflag.FlagSet) {
	fl.StringVar(&q.from, "from", "", "the first time: 09:12, 2026-01-31T09:12:00Z or +90s")
	fl.StringVar(&q.to, "to", "", "the time after the last")
	fl.StringSliceVar(&q.directions, "direction", nil, "read, write or trim alone")
	fl.StringSliceVar(&q.hosts, "host", nil, "these hosts alone")
	fl.StringSliceVar(&q.jobs, "job", nil, "these jobs alone: documents of jobs must be there (--levels job at ingest)")
}

// check finds what is wrong with the choice of windows.
func (q *windowQuery) check() error {
	for _, d := range q.directions {
		if !slices.Contains(mapping.Directions[:], d) {
			return usagef("--direction %s: want read, write or trim", d)
		}
	}
	for flag, text := range map[string]string{"from": q.from, "to": q.to} {
		if _, err := runTime(flag, text, time.Unix(0, 0)); err != nil {
			return err
		}
	}
	return nil
}

// level is the highest one whose documents tell.
func (q *windowQuery) level() mapping.Level {
	switch {
	case len(q.jobs) > 0:
		return mapping.Job
	case len(q.hosts) > 0:
		return mapping.Host
	}
	return mapping.Cluster
}

// whole reports whether the run's own document tells, without any windows.
func (q *windowQuery) whole() bool {
	return q.from == "" && q.to == "" && q.level() == mapping.Cluster
}

// wants is the selection of [windowOutput], or an error where a run in the history has no
// documents that tell.
func (q *windowQuery) wants(run *mapping.Run) (history.Selection, bool, error) {
	if err := needsLevel(run, q.level()); err != nil {
		return history.Selection{}, false, err
	}
	sel, err := q.selection(run)
	return sel, true, err
}

// needsLevel is an error where a run in the history has no documents of a level.
func needsLevel(run *mapping.Run, level mapping.Level) error {
	if slices.Contains(run.Levels, level) {
		return nil
	}
	if run.NoWindows != "" {
		return fmt.Errorf("%s: no windows: %s", run.Run.Name, noWindows(run))
	}
	levels := "cluster,host"
	if level == mapping.Job {
		levels += ",job"
	}
	return fmt.Errorf("run %s has no documents of level %s: ingest it with --levels %s", run.Run.Name, level, levels)
}

// selection is what of a run's documents in the history has a part in the answer. It may
// be a little more than that: the bounds are for the middles of windows.
func (q *windowQuery) selection(run *mapping.Run) (history.Selection, error) {
	sel := history.Selection{Directions: q.directions, Hosts: q.hosts, Jobs: q.jobs}
	from, to, err := q.bounds(run.Run.Name, run.Run.Start)
	if !from.IsZero() {
		const half = 150 // intervals of the longest window that can have been joined
		sel.From = from.Add(-half * time.Duration(run.IntervalMS) * time.Millisecond)
	}
	sel.To = to
	return sel, err
}

// bounds are the times between which windows count, of a run that began at start; a zero
// time is no bound.
func (q *windowQuery) bounds(run string, start time.Time) (from, to time.Time, err error) {
	known := func(text string) bool { return text == "" || strings.HasPrefix(text, "+") }
	if start.Year() < 1970 && !(known(q.from) && known(q.to)) {
		return from, to, fmt.Errorf("%s: when it started is not known: count from its start (--from +90s), or say when that was (--start)", run)
	}
	if from, err = runTime("from", q.from, start); err != nil {
		return from, to, err
	}
	to, err = runTime("to", q.to, start)
	return from, to, err
}

// runTime reads a time of a run that began at start: since its start (+90s), of day (that
// of the start, or the next one where it would be over half a day before the start), or
// with its date. The empty text is the zero time.
func runTime(flag, text string, start time.Time) (time.Time, error) {
	if since, ok := strings.CutPrefix(text, "+"); ok {
		d, err := time.ParseDuration(since)
		if err != nil {
			return time.Time{}, usagef("--%s %s: want a time such as +90s or +1h30m", flag, text)
		}
		return start.Add(d), nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		day := start.UTC().Truncate(24 * time.Hour)
		at := day.Add(time.Duration(clock.Hour())*time.Hour + time.Duration(clock.Minute())*time.Minute + time.Duration(clock.Second())*time.Second)
		if start.Sub(at) > 12*time.Hour {
			at = at.Add(24 * time.Hour)
		}
		return at, nil
	}
	at, err := parseTime(flag, text)
	if err != nil {
		err = usagef("--%s %s: want a time such as 09:12, 2026-01-31T09:12:00Z or +90s", flag, text)
	}
	return at, err
}

// choice picks the windows of one run that a query asks for.
type choice struct {
	query    *windowQuery
	known    bool      // what from and to are, once there is a window
	from, to time.Time // zero is no bound

	windows int             // with histograms, of any kind
	jobs    map[string]bool // their names, where --job was given
}

// mostJobs is how many names of jobs are worth keeping.
const mostJobs = 1000

// sees notes a window.
func (c *choice) sees(d *mapping.Interval) {
	if d.Latency.Layout != "" {
		c.windows++
	}
	if len(c.query.jobs) == 0 || d.Level != mapping.Job || len(c.jobs) == mostJobs {
		return
	}
	if c.jobs == nil {
		c.jobs = map[string]bool{}
	}
	c.jobs[d.Fio.Job] = true
}

// takes tells whether a window has a part in the answer.
func (c *choice) takes(d *mapping.Interval) (bool, error) {
	c.sees(d)
	if !c.known {
		var err error
		if c.from, c.to, err = c.query.bounds(d.Run.Name, d.Run.Start); err != nil {
			return false, err
		}
		c.known = true
	}
	q, middle := c.query, d.Time.Add(time.Duration(d.Window.MS)*time.Millisecond/2)
	return d.Level == q.level() && (c.from.IsZero() || !middle.Before(c.from)) && (c.to.IsZero() || middle.Before(c.to)) &&
		isWanted(q.directions, d.Fio.Direction) && isWanted(q.hosts, d.Host.Name) && isWanted(q.jobs, d.Fio.Job), nil
}

// isWanted tells whether a name is one of those that are wanted; none at all are all.
func isWanted(wanted []string, name string) bool {
	return len(wanted) == 0 || slices.Contains(wanted, name)
}
