package mapping

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// timeLayout is RFC 3339 with exactly three decimals, so that times sort as text.
const timeLayout = "2006-01-02T15:04:05.000Z"

func appendTime(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), timeLayout), '"')
}

// appendFloat appends f exactly, without an exponent unless f is very large or small. JSON has no NaN and no infinity:
// they become null, and Check finds them.
func appendFloat(b []byte, f float64) []byte {
	switch size := math.Abs(f); {
	case size == 0:
		return append(b, '0') // also of -0
	case !(size <= math.MaxFloat64):
		return append(b, "null"...)
	case size < 1e-6 || size >= 1e21:
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

// appendString appends s as JSON text. Bytes that are not UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return appendEscaped(append(b, s[:i]...), s[i:])
		}
	}
	return append(append(b, s...), '"')
}

// appendEscaped does the rest of appendString.
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
