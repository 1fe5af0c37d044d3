package mapping

import (
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// timeLayout is RFC 3339 with exactly three decimals, so that times sort as text.
const timeLayout = "2006-01-02T15:04:05.000Z"

// encoder appends the members of JSON objects to a buffer, a comma after each, which
// the end of the object takes the place of. It cannot fail: what JSON cannot say (NaN,
// infinity) becomes null, and Check finds it.
type encoder struct{ b []byte }

// key begins a member.
func (e *encoder) key(name string) {
	n := len(e.b)
	b := slices.Grow(e.b, len(name)+3)[:n+len(name)+3]
	b[n] = '"'
	copy(b[n+1:], name)
	b[len(b)-2], b[len(b)-1] = '"', ':'
	e.b = b
}

// comma ends a member.
func (e *encoder) comma() { e.b = append(e.b, ',') }

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
	e.end()
	e.comma()
}

// end ends an object that has members.
func (e *encoder) end() { e.b[len(e.b)-1] = '}' }

func (e *encoder) text(name, s string) {
	e.key(name)
	e.b = appendString(e.b, s)
	e.comma()
}

func (e *encoder) whole(name string, n int64) {
	e.key(name)
	e.b = smallNumbers().append(e.b, n)
}

func (e *encoder) number(name string, f float64) {
	e.key(name)
	e.b = appendFloat(e.b, f)
	e.comma()
}

func (e *encoder) truth(name string, v bool) {
	e.key(name)
	e.b = strconv.AppendBool(e.b, v)
	e.comma()
}

func (e *encoder) time(name string, t time.Time) {
	e.key(name)
	e.b = append(appendTime(append(e.b, '"'), t.UTC()), '"', ',')
}

// appendTime is AppendFormat of timeLayout, several times faster.
func appendTime(b []byte, t time.Time) []byte {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, timeLayout)
	}
	hour, minute, second := t.Clock()
	ms := t.Nanosecond() / int(time.Millisecond)
	const size = len("2006-01-02T15:04:05.000Z")
	n := len(b)
	b = slices.Grow(b, size)[:n+size]
	text := (*[size]byte)(b[n:])
	*text = [size]byte([]byte("0000-00-00T00:00:00.000Z"))
	for _, part := range [...]struct{ at, n int }{
		{0, year / 100}, {2, year % 100}, {5, int(month)}, {8, day}, {11, hour}, {14, minute}, {17, second}, {20, ms / 10},
	} {
		text[part.at] += byte(part.n / 10)
		text[part.at+1] += byte(part.n % 10)
	}
	text[22] += byte(ms % 10)
	return b
}

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
	for _, f := range fs {
		b = append(appendFloat(b, f), ',')
	}
	return closeList(b)
}

// appendFloat writes f exactly, without exponent where a person would. Almost every
// number of a document has at most four decimals; those are written as whole numbers
// of ten-thousandths, several times faster than the shortest form is found. It is
// exact: the division gives f back, and so does reading the same decimal number.
func appendFloat(b []byte, f float64) []byte {
	const unit, limit = 10000, 1 << 53
	scaled := math.RoundToEven(f * unit) // one instruction
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
	small := smallNumbers()
	b = small.append(b, n/10000)
	fraction := n % 10000
	if fraction == 0 {
		return b[:len(b)-1]
	}
	b[len(b)-1] = '.'
	b = small.appendPadded(b, fraction/10)
	if fraction%10 > 0 {
		return append(b, byte('0'+fraction%10))
	}
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

// appendString writes s as JSON text; bytes that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return appendEscaped(append(b, s[:i]...), s[i:])
		}
	}
	return append(append(b, s...), '"')
}

// appendEscaped is the rest of appendString.
func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
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
