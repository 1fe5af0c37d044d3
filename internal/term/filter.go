package term

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// ownLines are what texts of several lines may have.
const ownLines = "\n\t"

// Line writes a line of text. All of it is cleaned, with the names that are put into it.
func Line(w io.Writer, format string, args ...any) error {
	_, err := io.WriteString(w, Clean(fmt.Sprintf(format, args...))+"\n")
	return err
}

// Filter is a writer to a terminal that cleans what passes but for ends of lines and tabs.
// It is the last guard for texts whose parts were not cleaned one by one.
type Filter struct {
	w    io.Writer
	rest []byte // the begin of a character that the next Write ends
}

// NewFilter filters what is written to w.
func NewFilter(w io.Writer) *Filter { return &Filter{w: w} }

// Write implements [io.Writer].
func (f *Filter) Write(p []byte) (int, error) {
	text := append(f.rest, p...)
	whole := len(text)
	for i := max(0, whole-utf8.UTFMax+1); i < whole; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			whole = i
			break
		}
	}
	f.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(f.w, clean(string(text[:whole]), ownLines)); err != nil {
		return 0, err
	}
	return len(p), nil
}
