package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/late"
)

// Kind says what a value is: of a field in a condition, of a number of a run, of a limit. It decides what a unit means:
// k is 1024 in sizes, as in fio, and 1000 in counts and rates.
//
// The sizes in options of fio are not of this language: to fio 4k is 4096 and 4KiB is 4000 (fiolog, ParseSize).
type Kind uint8

// The kinds: three that are no quantities, and quantities with the unit of their values here.
const (
	Text Kind = iota
	Flag
	Time
	Number    // a number without a unit
	Count     // a number of things
	Rate      // per second
	Size      // bytes
	KiB       // KiB, also for a number without a unit
	Bandwidth // bytes per second
	Percent   // a share: 1 is 100 %
	Latency   // nanoseconds
	Duration  // nanoseconds
)

// unit is what a unit multiplies numbers by: a power of ten, exactly, and a factor.
type unit struct {
	power  int
	factor float64
}

var kinds = [...]struct {
	name, unit string // for people: of the kind, and of its numbers in documents
	want       string
	units      map[string]unit
}{
	Text:      {"text", "", "a text", nil},
	Flag:      {"flag", "", "yes or no", nil},
	Time:      {"time", "", "a time such as 2026-10-01, 2026-10, 2026-10-01T09:12:00Z, yesterday or 7d (ago)", nil},
	Number:    {"number", "", "a number such as 16 or 1e6", map[string]unit{"": {0, 1}, "%": {0, 1}}},
	Count:     {"number", "", "a number such as 5000, 5k or 1e6", thousands},
	Rate:      {"rate", "per second", "a rate such as 500 or 20k", thousands},
	Size:      {"size", "bytes", "a size such as 4k or 1MiB", sizes(1)},
	KiB:       {"size", "KiB", "a size such as 4M, or 4096 in KiB", sizes(1024)},
	Bandwidth: {"bandwidth", "bytes per second", "a bandwidth such as 100MiB/s", sizes(1)},
	Percent:   {"share", "", "a share such as 99.9%", map[string]unit{"%": {-2, 1}}},
	Latency:   {"latency", "microseconds", "a latency with its unit, such as 300us or 5ms", times},
	Duration:  {"duration", "seconds", "a time such as 90s, 10m, 2h or 30 days", times},
}

// String returns the name of the kind.
func (k Kind) String() string { return kinds[k].name }

// Unit returns the unit of the kind's numbers in documents, or "".
func (k Kind) Unit() string { return kinds[k].unit }

// InDocuments converts a quantity to the unit of documents, CSV and JSON: microseconds, seconds.
func (k Kind) InDocuments(value float64) float64 {
	switch k {
	case Latency:
		return value / 1e3
	case Duration:
		return value / 1e9
	}
	return value
}

var thousands = map[string]unit{"": {0, 1}, "k": {3, 1}, "m": {6, 1}, "g": {9, 1}}

// sizes returns the units of sizes; a number without a unit has this many bytes. k and KiB are 1024, as in fio's options.
// KB is 1000, as in fio's output.
func sizes(one float64) map[string]unit {
	all := map[string]unit{"": {0, 1}, "b": {0, 1 / one}}
	for i, prefix := range []string{"k", "m", "g", "t", "p"} {
		factor := math.Pow(1024, float64(i+1)) / one
		all[prefix], all[prefix+"ib"], all[prefix+"b"] = unit{0, factor}, unit{0, factor}, unit{3 * (i + 1), 1 / one}
	}
	return all
}

// times are in nanoseconds. Days have 24 hours.
var times = func() map[string]unit {
	all := map[string]unit{"ns": {0, 1}, "us": {3, 1}, "µs": {3, 1}, "μs": {3, 1}, "ms": {6, 1}} // micro sign and Greek mu
	for name, one := range ago {
		if lasts := time.Duration(one.d)*24*time.Hour + one.time; lasts > 0 { // not months and years, which differ
			all[name] = unit{9, lasts.Seconds()}
		}
	}
	return all
}()

// Want says what a value of the kind looks like.
func (k Kind) Want() string { return kinds[k].want }

// Parse parses a text as a quantity of the kind.
func (k Kind) Parse(text string) (value float64, ok bool) {
	text = strings.TrimSpace(text)
	value, n := k.scan(text)
	return value, n == len(text) && n > 0
}

var (
	numberForm = late.Regexp(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?`)
	unitForm   = late.Regexp(`^[ \t]*(?:%|\pL*(?:/s)?)`)
)

// scan reads the quantity that a text begins with, and returns how many bytes it has: none if there is no quantity. A
// time may have several parts: 1h30m.
func (k Kind) scan(text string) (value float64, n int) {
	units := kinds[k].units
	for isFirst := true; isFirst || k >= Latency && n < len(text) && '0' <= text[n] && text[n] <= '9'; isFirst = false {
		number := numberForm().FindString(text[n:])
		if n += len(number); number == "" {
			return 0, 0
		}
		name := unitForm().FindString(text[n:])
		key := strings.ToLower(strings.TrimSpace(name))
		if k == Rate || k == Bandwidth {
			key = strings.TrimSuffix(key, "/s")
		}
		u, ok := units[key]
		if !ok && name != strings.TrimSpace(name) { // the next word is no unit: 5 in every window
			name = ""
			u, ok = units[name]
		}
		n += len(name)
		mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
		power, _ := strconv.Atoi(exponent)
		v, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(power+u.power), 64) // not 99.9/100, which is not exactly 0.999
		if v == 0 && name == "" {                                                  // 0 needs no unit
			ok = k != Percent
		}
		if !isFirst && text[0] == '-' {
			v = -v
		}
		if value += v * u.factor; !ok || err != nil || math.IsInf(value, 0) {
			return 0, 0
		}
	}
	return value, n
}

// ParseDuration parses a time such as 90s, 1h30m or 2 days.
func ParseDuration(text string) (time.Duration, bool) { return Duration.duration(text) }

// ParseLatency parses a latency such as 300us, to the nanosecond.
func ParseLatency(text string) (time.Duration, bool) { return Latency.duration(text) }

func (k Kind) duration(text string) (time.Duration, bool) {
	ns, ok := k.Parse(text)
	return time.Duration(math.Round(ns)), ok && math.Abs(ns) < math.MaxInt64
}

// Text returns a quantity in one form, so that equal texts mean equal rules: without spaces, units as in 5us, 1.5M.
func (k Kind) Text(quantity string) string {
	text := strings.ToLower(strings.Join(strings.Fields(quantity), ""))
	text = strings.NewReplacer("µ", "u", "μ", "u", "e+", "e").Replace(text)
	if count, ok := strings.CutSuffix(text, "m"); ok && k < Size {
		return count + "M"
	}
	return text
}

// DurationFlag is a [time.Duration] as the value of a flag.
type DurationFlag time.Duration

// String returns the time as in [time.Duration.String], and 0 as "0", for which help shows no default.
func (d *DurationFlag) String() string {
	if *d == 0 {
		return "0"
	}
	return time.Duration(*d).String()
}

// Set parses a time.
func (d *DurationFlag) Set(text string) error {
	v, ok := ParseDuration(text)
	if !ok {
		return fmt.Errorf("want %s", Duration.Want())
	}
	*d = DurationFlag(v)
	return nil
}

// Type names the type of the flag's value.
func (d *DurationFlag) Type() string { return "duration" }

// PercentFlag is a share as the value of a flag: 10 and 10% are both 0.1.
type PercentFlag float64

// String returns the number of percent.
func (p *PercentFlag) String() string {
	return strconv.FormatFloat(math.Round(float64(*p)*1e8)/1e6, 'f', -1, 64)
}

// Set parses a number of percent.
func (p *PercentFlag) Set(text string) error {
	v, ok := Percent.Parse(strings.TrimSuffix(strings.TrimSpace(text), "%") + "%")
	if !ok {
		return fmt.Errorf("want %s", Percent.Want())
	}
	*p = PercentFlag(v)
	return nil
}

// Type names the type of the flag's value.
func (p *PercentFlag) Type() string { return "percent" }
