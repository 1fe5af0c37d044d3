package where

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind says what the values of a field are.
type Kind uint8

// The kinds of values, with the types that [Field.Values] returns.
const (
	Text      Kind = iota // string
	Number                // float64: a number without a unit
	Size                  // float64: bytes
	KiB                   // float64: KiB, also for a number without a unit
	Rate                  // float64: a number per second
	Bandwidth             // float64: bytes per second
	Latency               // float64: microseconds, or AtLeast
	Duration              // float64: seconds
	Time                  // time.Time
	Flag                  // bool
)

// kinds describes the kinds, in their order.
var kinds = [...]struct{ name, unit, want string }{
	{"text", "", "a text"},
	{"number", "", "a number such as 16"},
	{"size", "bytes", "a size such as 4k or 1MiB"},
	{"size", "KiB", "a size such as 4M, or 4096 in KiB"},
	{"rate", "per second", "a rate such as 500 or 20k"},
	{"bandwidth", "bytes per second", "a bandwidth such as 100MiB/s"},
	{"latency", "microseconds", "a latency with its unit, such as 300us or 5ms"},
	{"duration", "seconds", "a duration such as 90s, 10m or 2h"},
	{"time", "", "a time such as 2026-10-01, 2026-10, 2026-10-01T09:12:00Z, yesterday or 7d (ago)"},
	{"flag", "", "yes or no"},
}

// String returns the name of the kind.
func (k Kind) String() string { return kinds[k].name }

// Unit returns the unit of the kind's numbers in documents, or "".
func (k Kind) Unit() string { return kinds[k].unit }

// errNoOrder means that a kind does not allow this operator.
var errNoOrder = errors.New("use =, != or ~: it has no order")

// comparison returns the test of a value with an operator (=, ~, <, <=, > or >=) and a text.
func (k Kind) comparison(op, text string, now time.Time) (func(any) verdict, error) {
	if op == "~" {
		return contains(k, text)
	}
	switch k {
	case Text:
		return compareText(op, text)
	case Flag:
		want, ok := map[string]bool{"yes": true, "true": true, "no": false, "false": false}[strings.ToLower(text)]
		if !ok || op != "=" {
			return nil, k.want(text)
		}
		return always(func(v any) bool { return v == want }), nil
	case Time:
		from, to, ok := period(text, now)
		if !ok {
			return nil, k.want(text)
		}
		return always(func(v any) bool { return inPeriod(v.(time.Time), op, from, to) }), nil
	}
	want, ok := k.number(text)
	if !ok {
		return nil, k.want(text)
	}
	return func(v any) verdict { return order(v, op, want) }, nil
}

// want returns the error of a text that is not a value of the kind.
func (k Kind) want(text string) error { return fmt.Errorf("%q: want %s", text, kinds[k].want) }

// inOrder reports whether order, a result of cmp.Compare, is what an operator wants.
func inOrder(order int, op string) bool {
	switch op {
	case "=":
		return order == 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// inPeriod compares a time with the period [from, to), and reports whether the result is what an operator wants.
func inPeriod(t time.Time, op string, from, to time.Time) bool {
	switch {
	case t.Before(from):
		return inOrder(-1, op)
	case t.Before(to):
		return inOrder(0, op)
	}
	return inOrder(1, op)
}

func contains(k Kind, text string) (func(any) verdict, error) {
	if k != Text {
		return nil, fmt.Errorf("~ is for texts, and this is a %s", k)
	}
	want := strings.ToLower(text)
	return always(func(v any) bool { return strings.Contains(strings.ToLower(v.(string)), want) }), nil
}

// maxExact is 2^53, the first integer whose successor a float64 cannot represent.
const maxExact = 1 << 53

// compareText compares texts. Options and configurations are texts even if they are numbers or sizes. So 4k equals
// 4096, and numbers have an order. Numbers with more digits than a float64 has, such as a seed or the id of a build,
// are equal only as texts.
func compareText(op, text string) (func(any) verdict, error) {
	number, isNumber := Size.number(text)
	if !isNumber && op != "=" {
		return nil, fmt.Errorf("%s is for numbers, and %q is none: %w", op, text, errNoOrder)
	}
	return always(func(v any) bool {
		if op == "=" && (v == text || math.Abs(number) >= maxExact) {
			return v == text
		}
		n, ok := Size.number(v.(string))
		return ok && isNumber && inOrder(cmp.Compare(n, number), op)
	}), nil
}

// factors are the units of kinds of numbers.
var factors = map[Kind]map[string]float64{
	Number:    {"": 1, "%": 1},
	Size:      binary,
	KiB:       inKiB(binary),
	Rate:      {"": 1, "k": 1e3, "m": 1e6, "/s": 1, "k/s": 1e3, "m/s": 1e6},
	Bandwidth: perSecond(binary),
	Latency:   {"ns": 1e-3, "us": 1, "µs": 1, "μs": 1, "ms": 1e3, "s": 1e6},
	Duration:  {"ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400},
}

// binary are the units of sizes. As in fio, k is 1024.
var binary = map[string]float64{
	"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// inKiB returns units of sizes in KiB, with which a number without a unit is in KiB.
func inKiB(units map[string]float64) map[string]float64 {
	all := map[string]float64{}
	for name, factor := range units {
		all[name] = factor / 1024
	}
	all[""] = 1
	return all
}

func perSecond(units map[string]float64) map[string]float64 {
	all := map[string]float64{}
	for name, factor := range units {
		all[name], all[name+"/s"] = factor, factor
	}
	return all
}

// number parses a number with a unit of the kind. A duration may have several units, such as 1h30m.
func (k Kind) number(text string) (float64, bool) {
	if k == Duration {
		if d, err := time.ParseDuration(text); err == nil {
			return d.Seconds(), true
		}
	}
	digits := strings.TrimLeft(text, "0123456789.-+")
	n, err := strconv.ParseFloat(text[:len(text)-len(digits)], 64)
	factor, ok := factors[k][strings.ToLower(strings.TrimSpace(digits))]
	return n * factor, err == nil && ok && !math.IsInf(n*factor, 0)
}

// periods are the forms of times, and the length of each.
var periods = []struct {
	layout string
	length func(time.Time) time.Time
}{
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
	{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	{"2006-01-02", nextDay},
	{"2006-01-02 15:04", nextMinute},
	{"2006-01-02T15:04", nextMinute},
	{"2006-01-02 15:04:05", nextSecond},
	{"2006-01-02T15:04:05", nextSecond},
	{time.RFC3339, nextSecond},
}

func nextDay(t time.Time) time.Time    { return t.AddDate(0, 0, 1) }
func nextMinute(t time.Time) time.Time { return t.Add(time.Minute) }
func nextSecond(t time.Time) time.Time { return t.Add(time.Second) }

// period returns the begin and the end of what a text means: a moment, a day, a month. Days are in UTC.
func period(text string, now time.Time) (from, to time.Time, ok bool) {
	now = now.UTC()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	switch strings.ToLower(text) {
	case "now":
		return now, now, true
	case "today":
		return today, nextDay(today), true
	case "yesterday":
		return today.AddDate(0, 0, -1), today, true
	}
	for _, p := range periods {
		switch t, err := time.Parse(p.layout, text); {
		case err == nil && strings.Contains(text, "."):
			return t, t.Add(time.Millisecond), true // documents have milliseconds, so a moment lasts one
		case err == nil:
			return t, p.length(t), true
		}
	}
	t, ok := ago(text, now)
	return t, t, ok
}

// Moment returns the beginning of the time that a text means, such as 2026-10-01 or 7d (ago). ok is false for the zero
// time, which callers would take for no bound.
func Moment(text string, now time.Time) (at time.Time, ok bool) {
	at, _, ok = period(text, now)
	return at, ok && !at.IsZero()
}

// ago returns the time that lies this long before now: 90s, 10m, 2h, 7d, 2w, 3mo, 1y.
func ago(text string, now time.Time) (time.Time, bool) {
	unit := strings.TrimLeft(text, "0123456789")
	n, err := strconv.Atoi(text[:len(text)-len(unit)])
	if err != nil || n > 1_000_000 {
		return now, false
	}
	switch strings.ToLower(unit) {
	case "s":
		return now.Add(-time.Duration(n) * time.Second), true
	case "m":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "h":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "d":
		return now.AddDate(0, 0, -n), true
	case "w":
		return now.AddDate(0, 0, -7*n), true
	case "mo":
		return now.AddDate(0, -n, 0), true
	case "y":
		return now.AddDate(-n, 0, 0), true
	}
	return now, false
}
