package fiolog

import (
	"bytes"
	"math"
	"strconv"
)

// These functions accept any JSON value, because versions of fio differ in what they quote, and so do tools that
// rewrite its output. None of them fails on a wrong type, because then the rest of the document would be lost.

// number is a JSON number, or a string of one. Anything else is 0.
type number struct {
	float   float64
	count   uint64 // the exact value, if isCount
	isCount bool   // a whole number that is not negative
}

// number reads the next value.
func (d *decoder) number() number {
	b := bytes.TrimSpace(bytes.Trim(d.raw(), `"`))
	if u, ok := parseNumber(b); ok {
		return number{float: float64(u), count: u, isCount: true}
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return number{}
	}
	n := number{float: f}
	if f >= 0 && f < 1<<63 {
		n.count, n.isCount = uint64(f), f == math.Trunc(f)
	}
	return n
}

// whole returns the number rounded towards 0, within 64 bits.
func (n number) whole() int64 {
	switch {
	case n.count > math.MaxInt64:
		return math.MaxInt64
	case n.count > 0:
		return int64(n.count)
	case n.float >= math.MinInt64 && n.float < 0:
		return int64(n.float)
	}
	return 0
}

// text reads the next value. It returns a string without quotes, "" for null, or the text of any other value.
func (d *decoder) text() string {
	if d.isNull() {
		return ""
	}
	b := d.raw()
	if b[0] == '"' {
		return unquote(b[1 : len(b)-1])
	}
	return string(b)
}

// scaled returns a latency in nanoseconds. unit is the number of nanoseconds in the unit of n.
func (n number) scaled(unit int64) int64 {
	v := n.whole()
	if v > math.MaxInt64/unit {
		return math.MaxInt64
	}
	return v * unit
}

// options reads the next value, an object of strings. For anything else it returns no options.
func (d *decoder) options() map[string]string {
	if d.peek() != '{' {
		d.raw()
		return nil
	}
	n, of := 0, map[string]string{}
	d.object(func(key []byte) {
		if n++; n > maxOptions {
			d.fail(errTooManyOptions)
			d.raw()
			return
		}
		of[unquote(key)] = d.text()
	})
	return of
}

// pair is a member of an object of numbers.
type pair struct {
	key   []byte // part of the document
	value number
}

// pairs reads the next value, an object of numbers, and keeps the order. For anything else it returns no pairs.
func (d *decoder) pairs() []pair {
	const usual = 64 // bins that a job uses
	var out []pair
	nested := false
	d.object(func(key []byte) {
		c := d.peek()
		nested = nested || c == '{' || c == '['
		switch {
		case nested:
			d.raw()
			return
		case len(out) == maxPairs:
			d.fail(errTooManyPairs)
			d.raw()
			return
		case out == nil:
			out = make([]pair, 0, usual)
		}
		out = append(out, pair{key, d.number()})
	})
	if nested {
		return nil
	}
	return out
}
