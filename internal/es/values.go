package es

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Values reads the JSON of an answer value by value, so that it need not fit into memory. It looks only for the ends of
// values: who decodes a value checks it. Errors are [ErrAnswer] if the text is not as expected, io.ErrUnexpectedEOF if
// it ends too early, and else those of the reader.
type Values struct {
	r      io.Reader
	text   []byte // read and not taken yet
	buffer []byte // text is a part of it
	bytes  int
	failed error
}

// NewValues reads from r.
func NewValues(r io.Reader) *Values { return &Values{r: r} }

// Bytes is how many bytes were read.
func (v *Values) Bytes() int { return v.bytes }

// Failed is the error of the reader, if it is not io.EOF.
func (v *Values) Failed() error { return v.failed }

// Object reads an object member by member. member takes the value of each.
func (v *Values) Object(member func(name string) error) error {
	return v.list('{', '}', func() error {
		name, err := v.Take()
		if err != nil {
			return err
		}
		if name[0] != '"' {
			return fmt.Errorf("%w: %.20s instead of a name", ErrAnswer, name)
		}
		text := string(name[1 : len(name)-1]) // with its escapes: no name that matters has any
		if err := v.skip(':'); err != nil {
			return err
		}
		return member(text)
	})
}

// Array reads an array. element takes each value.
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

// Take returns the text of the next value, until the next call of any method.
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
				if depth == 0 { // the value ended before
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

// isEscaped reports whether a text ends with an odd number of backslashes.
func isEscaped(text []byte) bool {
	n := len(text) - len(bytes.TrimRight(text, `\`))
	return n%2 == 1
}

// take takes a value of n bytes.
func (v *Values) take(n int) ([]byte, error) {
	if n == 0 {
		return nil, fmt.Errorf("%w: %q instead of a value", ErrAnswer, v.text[0])
	}
	taken := v.text[:n:n]
	v.text = v.text[n:]
	return taken, nil
}

// next is the first byte that is no space.
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

// skip skips a byte that is next.
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

// fill reads more text.
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
		return nil // an error comes again
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	v.failed = err
	return err
}
