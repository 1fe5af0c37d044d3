// Package query finds runs and reads their windows, from files or from the history. All commands that answer
// questions take [window.Window] values from here, so files and the history give the same answers. A [Query] says
// which windows of a run are wanted.
//
//	files, archives --Open---+
//	                         +--> Run --Read--> windows, and the run document
//	the history --Lookup-----+
//
// The package prints nothing. After Read, a [Run] has the messages for the user, for example about skipped files or
// missing documents.
package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Query says which windows of a run are wanted. The zero value wants all windows of level Cluster.
type Query struct {
	// From and To bound the middle of a window. They are as the user wrote them: 09:12, 2026-01-31T09:12:00Z, or +90s
	// since the run's start. Empty means no bound.
	From, To    string
	Directions  []string // of [mapping.Directions]; empty means all
	Hosts, Jobs []string // names; empty means all
	// Levels are the wanted levels. Empty means the level that Hosts and Jobs imply: see [Query.Level].
	Levels []mapping.Level
	// Totals wants the totals of the run instead of windows: see [Query.WantsAll].
	Totals bool
	// Light leaves out histograms if the history can do so. Percentiles stay.
	Light bool
}

// UsageError is a mistake in arguments or settings, and not in files or in the history.
type UsageError struct{ Err error }

// Error implements error.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e UsageError) Unwrap() error { return e.Err }

// RunError means that one run has nothing of what is wanted, or that it cannot be read in the wanted way.
type RunError struct{ Err error }

// Error implements error.
func (e RunError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e RunError) Unwrap() error { return e.Err }

// IsOfRun reports whether an error is about one run, so that others can be read nevertheless.
func IsOfRun(err error) bool {
	return errors.As(err, new(RunError)) || errors.As(err, new(UsageError)) || errors.Is(err, history.ErrNotFound)
}

func usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Check returns a [UsageError] if the query is wrong.
func (q *Query) Check() error {
	for _, d := range q.Directions {
		if !slices.Contains(mapping.Directions[:], d) {
			return usagef("--direction %s: want read, write, trim or sync", d)
		}
	}
	for _, bound := range []struct{ flag, text string }{{"from", q.From}, {"to", q.To}} {
		if _, err := timeOfRun(bound.flag, bound.text, time.Unix(0, 0)); err != nil {
			return err
		}
	}
	return nil
}

// Level returns the first wanted level. Without Levels, it is the highest level that has the wanted hosts and jobs
// as separate series.
func (q *Query) Level() mapping.Level {
	switch {
	case len(q.Levels) > 0:
		return q.Levels[0]
	case len(q.Jobs) > 0:
		return mapping.Job
	case len(q.Hosts) > 0:
		return mapping.Host
	}
	return mapping.Cluster
}

// WantsAll reports whether all requests of the run are wanted, or all of some directions. Then the totals in the run
// document are the answer, and windows are not needed.
func (q *Query) WantsAll() bool {
	return q.From == "" && q.To == "" && len(q.Hosts) == 0 && len(q.Jobs) == 0
}

// Times returns the time bounds as the user wrote them, or "".
func (q *Query) Times() string {
	var parts []string
	if q.From != "" {
		parts = append(parts, "from "+q.From)
	}
	if q.To != "" {
		parts = append(parts, "to "+q.To)
	}
	return strings.Join(parts, " ")
}

// String returns the query as flags, each after a space.
func (q *Query) String() string {
	text := ""
	for _, f := range []struct{ name, values string }{
		{"from", q.From}, {"to", q.To},
		{"direction", strings.Join(q.Directions, ",")}, {"host", strings.Join(q.Hosts, ",")}, {"job", strings.Join(q.Jobs, ",")},
	} {
		if f.values != "" {
			text += " --" + f.name + " " + f.values
		}
	}
	return text
}

// levels returns the levels of the wanted windows.
func (q *Query) levels() []mapping.Level {
	if len(q.Levels) == 0 {
		return []mapping.Level{q.Level()}
	}
	return q.Levels
}

// bounds returns the times between which the middle of a window must lie, for a run that began at start. A zero time
// is no bound.
func (q *Query) bounds(run string, start time.Time) (from, to time.Time, err error) {
	needsStart := func(text string) bool { return text != "" && !strings.HasPrefix(text, "+") }
	if start.Year() < 1970 && (needsStart(q.From) || needsStart(q.To)) {
		return from, to, RunError{fmt.Errorf("%s: its files do not say when it started: "+
			"count from its start (--from +90s), or set the start (FIO2ES_START=TIME)", run)}
	}
	if from, err = timeOfRun("from", q.From, start); err != nil {
		return from, to, err
	}
	to, err = timeOfRun("to", q.To, start)
	return from, to, err
}

// Wants reports whether a list wants a name. An empty list means all names.
func Wants(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// timeOfRun parses a time for a run that began at start. The forms are: time since the start (+90s), time of day,
// date, or date and time. Times are in [unit.Zone] unless they name another. A time of day is on the day of the start, or on
// the next day if it would be over half a day before the start. The empty text is the zero time. flag is named in
// the error, a [UsageError].
func timeOfRun(flag, text string, start time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if since, ok := strings.CutPrefix(text, "+"); ok {
		d, ok := expr.ParseDuration(since)
		if !ok {
			return time.Time{}, usagef("--%s %s: want a time such as +90s or +1h30m", flag, text)
		}
		return start.Add(d), nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		year, month, day := start.In(unit.Zone()).Date()
		at := time.Date(year, month, day, clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), unit.Zone())
		if start.Sub(at) > 12*time.Hour {
			at = at.AddDate(0, 0, 1)
		}
		return at, nil
	}
	if at, ok := expr.Moment(text, time.Now().In(unit.Zone())); ok {
		return at, nil
	}
	return time.Time{}, usagef("--%s %s: want a time such as 09:12, 2026-01-31T09:12:00Z or +90s", flag, text)
}
