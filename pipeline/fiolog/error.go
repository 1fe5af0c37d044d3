package fiolog

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Errors that make a file useless. Errors that wrap them name the file.
var (
	// ErrNotLog is a file whose first lines are no rows.
	ErrNotLog = errors.New("not a log of fio")

	// ErrStoredCompressed is a log that fio wrote with log_store_compressed=1. In such a
	// histogram log fio stores addresses of its memory in place of the counts, so no
	// program can recover them. Such a log of completions is complete, and
	// `fio --inflate-log` makes a text of it.
	ErrStoredCompressed = errors.New("written with log_store_compressed")
)

// SyntaxError is a line or a JSON document that is skipped. Reading continues after it.
type SyntaxError struct {
	File   string // as given to the reader
	Line   int    // 1-based
	Column int    // 1-based, in bytes
	Got    string // a quoted and shortened piece of the file, or words such as "928 bins"
	Want   string // such as "a count"

	// Partial means that the file ends within the row: fio or a copy of its file was cut
	// short, and all rows before are good.
	Partial bool

	// Repeated means that the line is the same row as the one before, so that nothing is missing without it.
	Repeated bool
}

// Error is one line of printable text: `x.log:17:23: got "abc", want a count`.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: got %s, want %s", e.File, e.Line, e.Column, e.Got, e.Want)
}

// zeroBytes are in place of a text that a system did not write, or a copy does not have.
var zeroBytes = []byte{0, 0, 0, 0}

// maxQuoted is how many bytes of a file an error repeats.
const maxQuoted = 24

// quoted returns a piece of the file as an error shows it.
func quoted(b []byte) string {
	if bytes.HasPrefix(b, zeroBytes) {
		return "zero bytes, as after a crash or in an incomplete copy"
	}
	if len(b) > maxQuoted {
		return strconv.QuoteToASCII(string(b[:maxQuoted])) + "…"
	}
	return strconv.QuoteToASCII(string(b))
}
