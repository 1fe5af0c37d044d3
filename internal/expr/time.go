package expr

import (
	"strconv"
	"strings"
	"time"
)

// agoUnits has the units of times by all their names.
var agoUnits = func() map[string]string {
	all := map[string]string{}
	for _, names := range []string{"s second seconds", "m min minute minutes", "h hour hours", "d day days", "w week weeks", "mo month months", "y year years"} {
		list := strings.Fields(names)
		for _, name := range list {
			all[name] = list[0]
		}
	}
	return all
}()

// periods are the forms of times, and how long each lasts: years, months, days, and a part of a day.
var periods = []struct {
	layout     string
	y, m, d    int
	partOfADay time.Duration
}{
	{"2006", 1, 0, 0, 0}, {"2006-01", 0, 1, 0, 0}, {"2006-01-02", 0, 0, 1, 0},
	{"2006-01-02 15:04", 0, 0, 0, time.Minute}, {"2006-01-02T15:04", 0, 0, 0, time.Minute},
	{"2006-01-02 15:04:05", 0, 0, 0, time.Second}, {"2006-01-02T15:04:05", 0, 0, 0, time.Second}, {time.RFC3339, 0, 0, 0, time.Second},
}

// Period returns the begin and the end of what a text means: a moment, a day, a month. A time without a zone is in that
// of now. 7d is seven days before now.
func Period(text string, now time.Time) (from, to time.Time, ok bool) {
	year, month, day := now.Date()
	today := time.Date(year, month, day, 0, 0, 0, 0, now.Location())
	switch strings.ToLower(text) {
	case "now":
		return now, now, true
	case "today":
		return today, today.AddDate(0, 0, 1), true
	case "yesterday":
		return today.AddDate(0, 0, -1), today, true
	}
	for _, p := range periods {
		switch t, err := time.ParseInLocation(p.layout, text, now.Location()); {
		case err == nil && strings.Contains(text, "."):
			return t, t.Add(time.Millisecond), true // documents have milliseconds, so a moment lasts one
		case err == nil:
			return t, t.AddDate(p.y, p.m, p.d).Add(p.partOfADay), true
		}
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > 1_000_000 {
		return now, now, false
	}
	at := now
	switch agoUnits[strings.ToLower(strings.TrimSpace(text[len(digits):]))] {
	case "s":
		at = now.Add(-time.Duration(n) * time.Second)
	case "m":
		at = now.Add(-time.Duration(n) * time.Minute)
	case "h":
		at = now.Add(-time.Duration(n) * time.Hour)
	case "d":
		at = now.AddDate(0, 0, -n)
	case "w":
		at = now.AddDate(0, 0, -7*n)
	case "mo":
		at = now.AddDate(0, -n, 0)
	case "y":
		at = now.AddDate(-n, 0, 0)
	default:
		return now, now, false
	}
	return at, at, true
}

// Moment returns the beginning of the time that a text means, such as 2026-10-01 or 7d (ago). ok is false for the zero
// time, which callers would take for no bound.
func Moment(text string, now time.Time) (at time.Time, ok bool) {
	at, _, ok = Period(text, now)
	return at, ok && !at.IsZero()
}
