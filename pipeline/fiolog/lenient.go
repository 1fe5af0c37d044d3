package fiolog

import (
	"bytes"
	"math"
	"strconv"
)

// What is taken here may be any JSON value: versions of fio, and tools that rewrite its
// output, differ in what they put into quotes. None of it fails, because that would lose
// the rest of the document.

// number is a JSON number, or a string that is one; anything else is 0.
type number struct {
	float   float64
	count   uint64 // the exact value, if isCount
	isCount bool   // a whole number that is not negative
}

// number takes the next value.
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

// optional takes the next value; nil if it is null.
func (d *decoder) optional() *number {
	if d.isNull() {
		return nil
	}
	n := d.number()
	return &n
}

// whole is the number as a whole one, towards 0 and within 64 bits.
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

// text takes the next value: a string, "" for null, or the text of anything else.
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

// texts is a JSON object of strings; anything else is none.
type texts struct {
	of      map[string]string
	tooMany bool
}

// texts takes the next value.
func (d *decoder) texts() (t texts) {
	n, of := 0, map[string]string{}
	isObject := d.object(func(key []byte) {
		if n++; n > maxOptions {
			t.tooMany = true
			d.raw()
			return
		}
		of[unquote(key)] = d.text()
	})
	if isObject && !t.tooMany {
		t.of = of
	}
	return t
}

// pairs is a JSON object of numbers, in its own order; anything else is none.
type pairs []pair

type pair struct {
	key   []byte // part of the document
	value number
}

// pairs takes the next value. Of more than maxPairs, one more is there.
func (d *decoder) pairs() pairs {
	const usual = 64 // bins that a job uses
	var out pairs
	nested := false
	d.object(func(key []byte) {
		if c := d.peek(); c == '{' || c == '[' || len(out) > maxPairs {
			nested = nested || c == '{' || c == '['
			d.raw()
			return
		}
		if out == nil {
			out = make(pairs, 0, usual)
		}
		out = append(out, pair{key, d.number()})
	})
	if nested && len(out) <= maxPairs {
		return nil
	}
	return out
}
