// Package unit writes numbers for people: latencies, counts, rates and sizes, each with three significant digits and
// a suitable unit. It also orders names as people do. Documents and output for programs do not use its texts.
package unit

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Latency returns the text of a latency in microseconds, such as "39.3µs" or "1.04s".
func Latency(us float64) string { return LatencyIn(us, 0) }

// LatencyIn returns the text of a latency that is known in steps of some microseconds, without digits that are not known:
// "40µs" or "<1µs". A step of 0 is none.
func LatencyIn(us, step float64) string {
	const most = 2 // decimals
	in := func(unit float64, name string) string {
		decimals := most
		if step > 0 {
			decimals = min(max(int(math.Floor(math.Log10(unit/step))), 0), most)
		}
		return digitsTo(us/unit, decimals) + name
	}
	switch {
	case math.IsNaN(us) || us < 0:
		return "-"
	case us < step:
		return "<" + LatencyIn(step, step)
	case us < 0.9995:
		return in(1e-3, "ns")
	case us < 999.5:
		return in(1, "µs")
	case us < 999.5e3:
		return in(1e3, "ms")
	}
	return in(1e6, "s")
}

// OrMore marks the text of a value that is only a lower bound, as in fio's last bin, which has no upper end: "≥17.0s".
func OrMore(text string, isBound bool) string {
	if isBound {
		return "≥" + text
	}
	return text
}

// Count returns a whole number with its digits in groups of three.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// OrNothing returns a number as text. If it is 0, it is not known, and the text is empty.
func OrNothing[N int | int64](n N) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// Rate returns the text of a number per second, such as "998" or "12.4k".
func Rate(perSecond float64) string {
	switch {
	case math.IsNaN(perSecond):
		return "-"
	case perSecond < 9999.5:
		return strconv.FormatFloat(perSecond, 'f', 0, 64)
	case perSecond < 999.5e3:
		return digits(perSecond/1e3) + "k"
	}
	return digits(perSecond/1e6) + "M"
}

// Bytes returns the text of a size in powers of 1024, such as "4.00KiB".
func Bytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return strconv.FormatInt(n, 10) + "B"
	}
	x, i := float64(n)/1024, 0
	for x >= 1023.5 && i < len(units)-1 {
		x /= 1024
		i++
	}
	return digits(x) + units[i:i+1] + "iB"
}

// WholeBytes returns a size as people set it: "4KiB", "64KiB".
func WholeBytes(n int64) string {
	text := Bytes(n)
	digits := strings.TrimRight(text, "KMGTPEiB")
	if !strings.Contains(digits, ".") {
		return text
	}
	return strings.TrimRight(strings.TrimRight(digits, "0"), ".") + text[len(digits):]
}

// Bandwidth returns the text of a number of bytes per second, or "-" if it is not known.
func Bandwidth(perSecond float64) string {
	if !(perSecond > 0) {
		return "-"
	}
	return Bytes(int64(math.Round(perSecond))) + "/s"
}

// Elapsed returns the text of a duration, such as "0.25s" or "1m23s".
func Elapsed(d time.Duration) string {
	if d < time.Minute {
		return digits(d.Seconds()) + "s"
	}
	return d.Round(time.Second).String()
}

// Short returns a duration as in flags, without zeros at its end: "1m", "1m30s".
func Short(d time.Duration) string {
	text := d.String()
	if rest, ok := strings.CutSuffix(text, "m0s"); ok {
		text = rest + "m"
	}
	if rest, ok := strings.CutSuffix(text, "h0m"); ok {
		text = rest + "h"
	}
	return text
}

// digits returns x with three significant digits, or as many as its whole part has, and without an exponent.
func digits(x float64) string { return digitsTo(x, 2) }

// digitsTo is like digits, with at most so many decimals.
func digitsTo(x float64, most int) string {
	places := 0
	switch {
	case x < 9.995:
		places = 2
	case x < 99.95:
		places = 1
	}
	return strconv.FormatFloat(x, 'f', min(places, most), 64)
}

// Number returns a number with all its digits, or "" for NaN.
func Number(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Percent returns a share of requests, with enough digits to show one request, up to six: all but one of a million
// are "99.9999 %". Only all of them are "100 %".
func Percent(share, requests float64) string {
	digits := min(max(int(math.Ceil(math.Log10(requests)))-2, 1), 6)
	text := strconv.FormatFloat(share*100, 'f', digits, 64)
	if share < 1 && strings.HasPrefix(text, "100") {
		text = "99." + strings.Repeat("9", digits)
	}
	return text + " %"
}

// Plural returns a number of things, such as "1 run" or "1,200 runs".
func Plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return Count(int64(n)) + " " + what
}

// List joins the first most texts with a separator, and says how many more there are.
func List(texts []string, most int, separator string) string {
	if len(texts) <= most {
		return strings.Join(texts, separator)
	}
	return strings.Join(texts[:most], separator) + " and " + Count(int64(len(texts)-most)) + " more"
}

// Shorten cuts out the middle of a text with more than most characters.
func Shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	r := []rune(text)
	tail := (most - 1) / 2
	return string(r[:most-1-tail]) + "…" + string(r[len(r)-tail:])
}
