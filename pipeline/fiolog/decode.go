package fiolog

import (
	"bytes"
	"encoding/json"
)

// decoder goes once over a text that is known to be JSON. encoding/json goes over each
// part of it once more for every type that has a decoder of its own, and a report of
// json+ is made of little else. Keys and raw values are parts of the text.
type decoder struct {
	doc []byte
	at  int // what comes next
}

// peek is the first byte of what comes next, 0 at the end.
func (d *decoder) peek() byte {
	for ; d.at < len(d.doc); d.at++ {
		if c := d.doc[d.at]; c > ' ' {
			return c
		}
	}
	return 0
}

// raw is the next value as it is written.
func (d *decoder) raw() []byte {
	first := d.peek()
	from := d.at
	switch first {
	case '"':
		d.at = stringEnd(d.doc, from) + 1
	case '{', '[':
		d.at = nestedEnd(d.doc, from) + 1
	default:
		for d.at < len(d.doc) && !endsLiteral[d.doc[d.at]] {
			d.at++
		}
	}
	return d.doc[from:d.at]
}

// endsLiteral says what comes behind a number, true, false or null.
var endsLiteral = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, '}': true, ']': true}

// object calls member with the key of each member, whose value it then must take. A
// value that is no object is skipped, and the result is false.
func (d *decoder) object(member func(key []byte)) bool {
	if d.peek() != '{' {
		d.raw()
		return false
	}
	for d.at++; d.peek() == '"'; {
		key := d.raw()
		d.peek() // the colon
		d.at++
		member(key[1 : len(key)-1])
		if d.peek() == ',' {
			d.at++
		}
	}
	d.at++
	return true
}

// array calls element for each element, which then must take it. A value that is no
// array is skipped, and the result is false.
func (d *decoder) array(element func()) bool {
	if d.peek() != '[' {
		d.raw()
		return false
	}
	for d.at++; d.peek() != ']' && d.at < len(d.doc); {
		element()
		if d.peek() == ',' {
			d.at++
		}
	}
	d.at++
	return true
}

// isNull takes the next value if it is null.
func (d *decoder) isNull() bool {
	if d.peek() != 'n' {
		return false
	}
	d.raw()
	return true
}

// stringEnd is where the string ends that begins at a quote: at its other quote.
func stringEnd(b []byte, quote int) int {
	for i := quote + 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b) - 1
}

// nestedEnd is where the object or array ends that begins at a brace or bracket.
func nestedEnd(b []byte, begin int) int {
	depth := 0
	for i := begin; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(b) - 1
}

// unquote is the text of a JSON string without its quotes.
func unquote(b []byte) string {
	for _, c := range b {
		if c == '\\' || c >= 0x80 {
			var s string
			_ = json.Unmarshal(bytes.Join([][]byte{{'"'}, b, {'"'}}, nil), &s) // it is JSON
			return s
		}
	}
	return string(b)
}
