package fiolog

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// The types of this file take whatever JSON there is: versions of fio, and tools that
// rewrite its output, differ in what they put into quotes. None of their UnmarshalJSON
// fails, because that would lose the rest of the document.

// number is a JSON number, or a string that holds one; anything else is 0.
type number struct {
	float   float64
	count   uint64 // the exact value, if isCount
	isCount bool   // a whole number that is not negative
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *number) UnmarshalJSON(b []byte) error {
	*n = number{}
	b = bytes.TrimSpace(bytes.Trim(b, `"`))
	if u, ok := parseNumber(b); ok {
		*n = number{float: float64(u), count: u, isCount: true}
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	n.float = f
	if f >= 0 && f < 1<<63 {
		n.count, n.isCount = uint64(f), f == math.Trunc(f)
	}
	return nil
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

// text is a JSON string, or the text of anything else.
type text string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	} else {
		*t = text(b)
	}
	return nil
}

// texts is a JSON object of strings; anything else is none.
type texts struct {
	of      map[string]string
	tooMany bool
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *texts) UnmarshalJSON(b []byte) error {
	*t = texts{tooMany: members(b, maxOptions) > maxOptions}
	if t.tooMany {
		return nil
	}
	var m map[string]text
	if json.Unmarshal(b, &m) != nil || m == nil {
		return nil
	}
	t.of = make(map[string]string, len(m))
	for k, v := range m {
		t.of[k] = string(v)
	}
	return nil
}

// pairs is a JSON object of numbers, in its own order; anything else is none. Reports
// with bins are made of little else, hence no decoder of its own for each.
type pairs []pair

type pair struct {
	key   string
	value number
}

// UnmarshalJSON implements [json.Unmarshaler]. b is known to be JSON.
func (p *pairs) UnmarshalJSON(b []byte) error {
	*p = nil
	b, isObject := bytes.CutPrefix(bytes.TrimSpace(b), []byte("{"))
	if !isObject {
		return nil
	}
	n := bytes.Count(b, []byte{':'})
	if n > maxPairs {
		*p = make(pairs, maxPairs+1) // which is an error where it is used
		return nil
	}
	out := make(pairs, 0, n)
	for {
		_, rest, ok := bytes.Cut(b, []byte{'"'})
		if !ok {
			*p = out
			return nil
		}
		key, rest, _ := bytes.Cut(rest, []byte{'"'})
		_, rest, ok = bytes.Cut(rest, []byte{':'})
		end := bytes.IndexAny(rest, ",}")
		if !ok || end < 0 || bytes.ContainsAny(rest[:end], "{[") || bytes.IndexByte(key, '\\') >= 0 {
			return nil
		}
		one := pair{key: string(key)}
		if err := one.value.UnmarshalJSON(bytes.TrimSpace(rest[:end])); err != nil {
			return nil
		}
		out = append(out, one)
		b = rest[end:]
	}
}
