package fiolog

import (
	"bytes"
	"encoding/json"

	"github.com/fio2es/fio2es/hist"
)

// decoder reads a text that is known to be JSON in one pass. encoding/json makes one more pass over each value whose
// type has its own decoder, and most of a json+ report are such values. Keys and raw values refer to the text.
type decoder struct {
	doc  []byte
	at   int       // index of the next byte
	left int       // bytes of memory that further jobs may use
	unit hist.Unit // of the job's latencies
	err  error     // why the report cannot be used
}

// peek returns the first byte of the next token, or 0 at the end.
func (d *decoder) peek() byte {
	for ; d.at < len(d.doc); d.at++ {
		if c := d.doc[d.at]; c > ' ' {
			return c
		}
	}
	return 0
}

// raw reads the next value and returns its text.
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

// endsLiteral has the bytes that may follow a number, true, false or null.
var endsLiteral = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, '}': true, ']': true}

// object calls member with the key of each member. member must read the value. If the next value is not an object, it
// is skipped.
func (d *decoder) object(member func(key []byte)) {
	if d.peek() != '{' {
		d.raw()
		return
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
}

// array calls element for each element. element must read it. If the next value is not an array, it is skipped and
// array returns false.
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

// isNull reads the next value if it is null.
func (d *decoder) isNull() bool {
	if d.peek() != 'n' {
		return false
	}
	d.raw()
	return true
}

// stringEnd returns the index of the closing quote of the string that begins with the quote at index quote.
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

// nestedEnd returns the index of the closing brace or bracket of the object or array that begins at begin.
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

// unquote returns the text of a JSON string without its quotes.
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
