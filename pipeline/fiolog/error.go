package fiolog

import (
	"errors"
	"fmt"
	"strconv"
)

// The ways in which a whole file can be of no use. Errors that wrap them name the file.
var (
	// ErrNotLog means that nothing that came first was a row: reading has ended.
	ErrNotLog = errors.New("not a log of fio")

	// ErrStoredCompressed means a log that fio wrote with log_store_compressed=1.
	// In a histogram log of that kind fio stores addresses of its memory in place of
	// the counts, so that no program can recover them. A log of completions of that
	// kind is whole, and `fio --inflate-log` makes a text of it.
	ErrStoredCompressed = errors.New("written with log_store_compressed")
)

// SyntaxError is a line, or a JSON document, that had to be left out. What follows it
// can still be read.
type SyntaxError struct {
	File   string // as given to the reader
	Line   int    // 1-based
	Column int    // 1-based, in bytes
	Got    string // a quoted and shortened piece of the file, or words such as "928 bins"
	Want   string // such as "a count"

	// Partial means that the file ends within the row: fio, or a copy of its file,
	// was cut short, and what comes before is as good as ever.
	Partial bool
}

// Error is one line of printable text: `x.log:17:23: got "abc", want a count`.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: got %s, want %s", e.File, e.Line, e.Column, e.Got, e.Want)
}

// maxQuoted is how many bytes of a file an error repeats.
const maxQuoted = 24

// quoted is a piece of the file as an error shows it.
func quoted(b []byte) string {
	if len(b) > maxQuoted {
		return strconv.QuoteToASCII(string(b[:maxQuoted])) + "…"
	}
	return strconv.QuoteToASCII(string(b))
}
