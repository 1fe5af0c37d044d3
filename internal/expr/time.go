package expr

import (
	"strconv"
	"strings"
	"time"
)

// span is how long something lasts: years, months and days of the calendar, or a time.
type span struct {
	y, m, d int
	time    time.Duration
}

// after returns the moment that is n spans after t, or before it if n is negative.
func (s span) after(t time.Time, n int) time.Time {
	if s.time > 0 {
		return t.Add(time.Duration(n) * s.time)
	}
	return t.AddDate(n*s.y, n*s.m, n*s.d)
}

// ago are the units of times by all their names.
var ago = func() map[string]span {
	all := map[string]span{}
	for names, one := range map[string]span{
		"s second seconds": {time: time.Second}, "m min minute minutes": {time: time.Minute}, "h hour hours": {time: time.Hour},
		"d day days": {d: 1}, "w week weeks": {d: 7}, "mo month months": {m: 1}, "y year years": {y: 1},
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = one
		}
	}
	return all
}()

// periods are the forms of times, and how long each lasts.
var periods = []struct {
	layout string
	span
}{
	{"2006", span{y: 1}}, {"2006-01", span{m: 1}}, {"2006-01-02", span{d: 1}},
	{"2006-01-02 15:04", span{time: time.Minute}}, {"2006-01-02T15:04", span{time: time.Minute}},
	{"2006-01-02 15:04:05", span{time: time.Second}}, {"2006-01-02T15:04:05", span{time: time.Second}}, {time.RFC3339, span{time: time.Second}},
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
			return t, p.after(t, 1), true
		}
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	n, err := strconv.Atoi(digits)
	unit, isUnit := ago[strings.ToLower(strings.TrimSpace(text[len(digits):]))]
	if err != nil || !isUnit || n < 0 || n > 1_000_000 {
		return now, now, false
	}
	at := unit.after(now, -n)
	return at, at, true
}

// Moment returns the beginning of the time that a text means, such as 2026-10-01 or 7d (ago). ok is false for the zero
// time, which callers would take for no bound.
func Moment(text string, now time.Time) (at time.Time, ok bool) {
	at, _, ok = Period(text, now)
	return at, ok && !at.IsZero()
}
