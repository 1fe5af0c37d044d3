package mapping

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// timeLayout is RFC 3339 with exactly three decimals, so that times sort as text.
const timeLayout = "2006-01-02T15:04:05.000Z"

// encoder appends the members of JSON objects to a buffer. It cannot fail: what JSON
// cannot say (NaN, infinity) becomes null, and Check finds it.
type encoder struct{ b []byte }

// key begins a member.
func (e *encoder) key(name string) {
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = append(e.b, '"')
	e.b = append(e.b, name...)
	e.b = append(e.b, '"', ':')
}

// object appends an object whose members are appended by fill. One that stays empty
// is left out.
func (e *encoder) object(name string, fill func(*encoder)) {
	before := len(e.b)
	e.key(name)
	e.b = append(e.b, '{')
	empty := len(e.b)
	fill(e)
	if len(e.b) == empty {
		e.b = e.b[:before]
		return
	}
	e.b = append(e.b, '}')
}

func (e *encoder) text(name, s string) {
	e.key(name)
	e.b = appendString(e.b, s)
}

func (e *encoder) whole(name string, n int64) {
	e.key(name)
	e.b = strconv.AppendInt(e.b, n, 10)
}

func (e *encoder) number(name string, f float64) {
	e.key(name)
	e.b = appendFloat(e.b, f)
}

func (e *encoder) truth(name string, v bool) {
	e.key(name)
	e.b = strconv.AppendBool(e.b, v)
}

func (e *encoder) time(name string, t time.Time) {
	e.key(name)
	e.b = append(e.b, '"')
	e.b = appendTime(e.b, t.UTC())
	e.b = append(e.b, '"')
}

// appendTime is AppendFormat of timeLayout, several times faster.
func appendTime(b []byte, t time.Time) []byte {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, timeLayout)
	}
	hour, minute, second := t.Clock()
	b = appendTwo(appendTwo(b, year/100), year%100)
	b = appendTwo(append(b, '-'), int(month))
	b = appendTwo(append(b, '-'), day)
	b = appendTwo(append(b, 'T'), hour)
	b = appendTwo(append(b, ':'), minute)
	b = appendTwo(append(b, ':'), second)
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(appendTwo(append(b, '.'), ms/10), byte('0'+ms%10), 'Z')
}

func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// The ones that leave out what is zero.

func (e *encoder) textOpt(name, s string) {
	if s != "" {
		e.text(name, s)
	}
}

func (e *encoder) wholeOpt(name string, n int64) {
	if n != 0 {
		e.whole(name, n)
	}
}

func (e *encoder) numberOpt(name string, f float64) {
	if f != 0 {
		e.number(name, f)
	}
}

func (e *encoder) timeOpt(name string, t time.Time) {
	if !t.IsZero() {
		e.time(name, t)
	}
}

func appendFloats(b []byte, fs []float64) []byte {
	b = append(b, '[')
	for i, f := range fs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendFloat(b, f)
	}
	return append(b, ']')
}

// appendFloat writes f exactly, without exponent where a person would. Almost every
// number of a document has at most four decimals; those are written as whole numbers
// of ten-thousandths, several times faster than the shortest form is found. It is
// exact: the division gives f back, and so does reading the same decimal number.
func appendFloat(b []byte, f float64) []byte {
	const unit, limit = 10000, 1 << 53
	scaled := math.Round(f * unit)
	if math.Abs(scaled) < limit && scaled/unit == f {
		return appendTenThousandths(b, int64(scaled))
	}
	switch size := math.Abs(f); {
	case !(size <= math.MaxFloat64):
		return append(b, "null"...)
	case size < 1e-6 || size >= 1e21:
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

func appendTenThousandths(b []byte, n int64) []byte {
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, n/10000, 10)
	fraction := n % 10000
	if fraction == 0 {
		return b
	}
	b = append(b, '.', byte('0'+fraction/1000), byte('0'+fraction/100%10), byte('0'+fraction/10%10), byte('0'+fraction%10))
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

// appendString writes s as JSON text; bytes that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}
