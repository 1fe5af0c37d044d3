package term

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// ownLines are the control characters that texts of several lines may have.
const ownLines = "\n\t"

// Line writes a line of text, and cleans all of it.
func Line(w io.Writer, format string, args ...any) error {
	_, err := io.WriteString(w, Clean(fmt.Sprintf(format, args...))+"\n")
	return err
}

// Filter is a writer to a terminal that cleans its text, except newlines and tabs. It is the last protection for
// texts with parts that were not cleaned.
type Filter struct {
	w    io.Writer
	rest []byte // first bytes of a character that the next Write completes
}

// NewFilter returns a filter of what is written to w.
func NewFilter(w io.Writer) *Filter { return &Filter{w: w} }

// Write implements [io.Writer].
func (f *Filter) Write(p []byte) (int, error) {
	text := append(f.rest, p...)
	end := len(text)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
			break
		}
	}
	f.rest = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(f.w, clean(string(text[:end]), ownLines)); err != nil {
		return 0, err
	}
	return len(p), nil
}
