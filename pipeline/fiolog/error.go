package fiolog

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Errors that make a file useless. Errors that wrap them name the file.
var (
	// ErrNotLog means that the first lines of a file are not rows.
	ErrNotLog = errors.New("not a log of fio")

	// ErrStoredCompressed means that fio wrote the log with log_store_compressed=1. In such a histogram log fio writes
	// memory addresses in place of the counts, so the counts are lost. A log of completions is complete: `fio
	// --inflate-log` converts it to text.
	ErrStoredCompressed = errors.New("written with log_store_compressed")
)

// SyntaxError is a line or a JSON document that is skipped. Reading continues after it.
type SyntaxError struct {
	File   string // as given to the reader
	Line   int    // 1-based
	Column int    // 1-based, in bytes
	Got    string // a quoted and shortened piece of the file, or words such as "928 bins"
	Want   string // such as "a count"

	// Partial means that the file ends within the row, because fio was stopped or a copy was cut short. All rows before
	// are good.
	Partial bool

	// Repeated means that the line is the same as the row before. So nothing is missing without it.
	Repeated bool
}

// Error returns one line of printable text: `x.log:17:23: got "abc", want a count`.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: got %s, want %s", e.File, e.Line, e.Column, e.Got, e.Want)
}

// zeroBytes stand for text that a system did not write or a copy lacks.
var zeroBytes = []byte{0, 0, 0, 0}

// maxQuoted is the number of bytes of a file that an error quotes.
const maxQuoted = 24

// quoted returns a piece of the file in the form for errors.
func quoted(b []byte) string {
	if bytes.HasPrefix(b, zeroBytes) {
		return "zero bytes, as after a crash or in an incomplete copy"
	}
	if len(b) > maxQuoted {
		return strconv.QuoteToASCII(string(b[:maxQuoted])) + "…"
	}
	return strconv.QuoteToASCII(string(b))
}
