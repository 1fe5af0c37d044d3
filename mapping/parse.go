package mapping

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (p *parser) skip(text string) bool {
	if len(p.text) < len(text) || string(p.text[:len(text)]) != text {
		return false
	}
	p.text = p.text[len(text):]
	return true
}

// list reads items that are separated by commas.
func (p *parser) list(open, end byte, item func() bool) bool {
	if len(p.text) < 2 || p.text[0] != open {
		return false
	}
	p.text = p.text[1:]
	if p.text[0] == end {
		p.text = p.text[1:]
		return true
	}
	for item() && len(p.text) > 0 {
		c := p.text[0]
		p.text = p.text[1:]
		if c == end {
			return true
		}
		if c != ',' {
			return false
		}
	}
	return false
}

// object reads an object and calls value for each member.
func (p *parser) object(value func(name string) bool) bool {
	return p.list('{', '}', func() bool {
		name, ok := p.string()
		return ok && p.skip(":") && value(name)
	})
}

// string reads a text.
func (p *parser) string() (string, bool) {
	if len(p.text) < 2 || p.text[0] != '"' {
		return "", false
	}
	isASCII := true
	for i, c := range p.text[1:] {
		switch {
		case c == '"':
			text := p.text[1 : i+1]
			p.text = p.text[i+2:]
			return string(text), isASCII || utf8.Valid(text)
		case c == '\\':
			return p.escaped()
		case c < 0x20:
			return "", false
		case c >= utf8.RuneSelf:
			isASCII = false
		}
	}
	return "", false
}

// escaped reads a text with escapes.
func (p *parser) escaped() (s string, ok bool) {
	raw := p.raw()
	return s, raw != nil && json.Unmarshal(raw, &s) == nil
}

// raw returns the text of a string, a list or an object.
func (p *parser) raw() []byte {
	depth, inText := 0, false
	for i := 0; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case inText && c == '\\':
			i++
			continue
		case c == '"':
			inText = !inText
		case inText:
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		default:
			continue
		}
		if depth <= 0 && !inText {
			raw := p.text[:i+1]
			p.text = p.text[i+1:]
			return raw
		}
	}
	return nil
}

// skipValue skips a value. In lists and objects it searches only for the end.
func (p *parser) skipValue() bool {
	if len(p.text) > 0 && (p.text[0] == '{' || p.text[0] == '[') {
		return p.raw() != nil
	}
	_, ok := p.any()
	return ok
}

// number returns the text of a number, or "" if there is none.
func (p *parser) number() string {
	n := 0
	for n < len(p.text) && strings.IndexByte("+-.0123456789Ee", p.text[n]) >= 0 {
		n++
	}
	text := p.text[:n]
	if !json.Valid(text) {
		return ""
	}
	p.text = p.text[n:]
	return string(text)
}

func (p *parser) float() (float64, bool) {
	if whole, scale, size := readDecimal(p.text); size > 0 && isPlain(p.text[:size], p.text[size:]) {
		p.text = p.text[size:]
		return float64(whole) / scale, true
	}
	f, err := strconv.ParseFloat(p.number(), 64)
	return f, err == nil
}

func (p *parser) int() (int64, bool) {
	if whole, scale, size := readDecimal(p.text); size > 0 && scale == 1 && isPlain(p.text[:size], p.text[size:]) {
		p.text = p.text[size:]
		return whole, true
	}
	n, err := strconv.ParseInt(p.number(), 10, 64)
	return n, err == nil
}

// readDecimal reads a number such as 1003.5195 as 10035195 and the scale 10000. Both are exact as float64, so their
// quotient is the float64 nearest to the number. size is the number of bytes that were read. It is 0 if the number is too
// long for that. readDecimal stops before a sign or an exponent.
func readDecimal(text []byte) (whole int64, scale float64, size int) {
	const maxDigits = 15
	scale = 1
	point := false
	for size < len(text) && size <= maxDigits {
		switch c := text[size]; {
		case c >= '0' && c <= '9':
			whole = whole*10 + int64(c-'0')
			if point {
				scale *= 10
			}
		case c == '.' && !point:
			point = true
		default:
			return whole, scale, size
		}
		size++
	}
	return 0, 1, 0
}

// isPlain reports whether readDecimal has read a whole number in JSON's form.
func isPlain(number, rest []byte) bool {
	return number[0] != '.' && number[len(number)-1] != '.' && (number[0] != '0' || len(number) == 1 || number[1] == '.') &&
		len(rest) > 0 && (rest[0] == ',' || rest[0] == '}' || rest[0] == ']')
}

// any reads a value of a configuration.
func (p *parser) any() (v any, ok bool) {
	const deepest = 1000
	if len(p.text) == 0 || p.depth == deepest {
		return nil, false
	}
	p.depth++
	defer func() { p.depth-- }()
	switch p.text[0] {
	case '"':
		return p.string()
	case '{':
		m := map[string]any{}
		return m, p.object(func(name string) (ok bool) {
			m[name], ok = p.any()
			return ok
		})
	case '[':
		list := []any{}
		ok = p.list('[', ']', func() bool {
			item, ok := p.any()
			list = append(list, item)
			return ok
		})
		return list, ok
	case 't':
		return true, p.skip("true")
	case 'f':
		return false, p.skip("false")
	case 'n':
		return nil, p.skip("null")
	}
	return p.float()
}
