package es

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Values reads a JSON answer value by value, so that the whole answer need not fit into memory. It only finds where
// values end. Whoever decodes a value checks it. Errors are [ErrAnswer] for unexpected text, io.ErrUnexpectedEOF for
// a text that ends too early, or errors of the reader.
type Values struct {
	r      io.Reader
	text   []byte // read, but not yet consumed
	buffer []byte // text is a slice of it
	bytes  int
	failed error
}

// NewValues returns the values that r contains.
func NewValues(r io.Reader) *Values { return &Values{r: r} }

// Bytes returns the number of bytes read.
func (v *Values) Bytes() int { return v.bytes }

// Failed returns the error of the reader; nil for io.EOF.
func (v *Values) Failed() error { return v.failed }

// Object reads an object. It calls member with each name, and member must consume the value.
func (v *Values) Object(member func(name string) error) error {
	return v.list('{', '}', func() error {
		name, err := v.Take()
		if err != nil {
			return err
		}
		if name[0] != '"' {
			return fmt.Errorf("%w: %.20s instead of a name", ErrAnswer, name)
		}
		text := string(name[1 : len(name)-1]) // escapes stay: names that fio2es reads have none
		if err := v.skip(':'); err != nil {
			return err
		}
		return member(text)
	})
}

// Array reads an array. It calls element for each value, which element must consume.
func (v *Values) Array(element func() error) error { return v.list('[', ']', element) }

func (v *Values) list(open, end byte, item func() error) error {
	if err := v.skip(open); err != nil {
		return err
	}
	for isFirst := true; ; isFirst = false {
		c, err := v.next()
		switch {
		case err != nil:
			return err
		case c == end:
			return v.skip(end)
		case !isFirst:
			if err := v.skip(','); err != nil {
				return err
			}
		}
		if err := item(); err != nil {
			return err
		}
	}
}

// Decode decodes the next value.
func (v *Values) Decode(into any) error {
	text, err := v.Take()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Take returns the text of the next value. The text is valid until the next call of a method.
func (v *Values) Take() ([]byte, error) {
	if _, err := v.next(); err != nil {
		return nil, err
	}
	for at, depth, inText := 0, 0, false; ; {
		for at < len(v.text) {
			c := v.text[at]
			switch {
			case inText:
				if n := bytes.IndexByte(v.text[at:], '"'); n < 0 {
					at = len(v.text)
					continue
				} else {
					at += n
				}
				inText = isEscaped(v.text[:at])
			case c == '"':
				inText = true
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']' || c == ',' || c == ':' || c <= ' ':
				if depth == 0 { // the end of the enclosing list ends this value
					return v.take(at)
				}
				if c == '}' || c == ']' {
					depth--
				}
			default:
				at++
				continue
			}
			if at++; depth == 0 && !inText {
				return v.take(at)
			}
		}
		if err := v.fill(); err != nil {
			return nil, err
		}
	}
}

// isEscaped reports whether a text ends with an odd number of backslashes: then the next character is escaped.
func isEscaped(text []byte) bool {
	n := len(text) - len(bytes.TrimRight(text, `\`))
	return n%2 == 1
}

// take consumes the n bytes of a value and returns them.
func (v *Values) take(n int) ([]byte, error) {
	if n == 0 {
		return nil, fmt.Errorf("%w: %q instead of a value", ErrAnswer, v.text[0])
	}
	taken := v.text[:n:n]
	v.text = v.text[n:]
	return taken, nil
}

// next returns the first byte that is not white space, without consuming it.
func (v *Values) next() (byte, error) {
	for {
		if v.text = bytes.TrimLeft(v.text, " \t\r\n"); len(v.text) > 0 {
			return v.text[0], nil
		}
		if err := v.fill(); err != nil {
			return 0, err
		}
	}
}

// skip consumes the next byte, which must be want.
func (v *Values) skip(want byte) error {
	c, err := v.next()
	if err != nil {
		return err
	}
	if c != want {
		return fmt.Errorf("%w: %q instead of %q", ErrAnswer, c, want)
	}
	v.text = v.text[1:]
	return nil
}

// fill reads more text into the buffer.
func (v *Values) fill() error {
	const least = 64 << 10
	have := len(v.text)
	if have > len(v.buffer)/2 || v.buffer == nil {
		v.buffer = append(make([]byte, 0, max(least, 2*len(v.buffer))), v.text...)
		v.buffer = v.buffer[:cap(v.buffer)]
	} else {
		copy(v.buffer, v.text)
	}
	n, err := v.r.Read(v.buffer[have:])
	v.text, v.bytes = v.buffer[:have+n], v.bytes+n
	switch {
	case n > 0 || err == nil:
		return nil // the next Read returns the same error
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	v.failed = err
	return err
}
