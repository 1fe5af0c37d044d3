package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/fio2es/fio2es/internal/query"
)

// Exit codes, as documented in docs and --help.
const (
	exitFailed  = 1 // nothing could be done, or not all
	exitUsage   = 2 // wrong arguments or settings
	exitLeftOut = 3 // done, but something was left out; stderr says what
	// done, but a gate failed: --fail-if, --fail-on-unclear, --fail-last or an objective; stderr says which
	exitMet = 4
)

// errLeftOut means that a command is done, except for what it reported on stderr.
var errLeftOut = errors.New("something was left out")

// errMet means that a command is done, but a gate failed. Stderr names the gate.
var errMet = errors.New("a gate failed")

// fioError means that the fio of a command failed.
type fioError struct {
	code int // exit code as in a shell
	text string
}

func (e fioError) Error() string { return e.text }

// usageError is a mistake in arguments or settings.
type usageError = query.UsageError

func usagef(format string, args ...any) error { return usageError{Err: fmt.Errorf(format, args...)} }

// partialError means that there is no answer for some runs, while that for the others is complete.
type partialError struct{ error }

func (e partialError) Unwrap() error { return e.error }

// leftOutIf returns err, or, without an error, errLeftOut if something was left out.
func leftOutIf(err error, leftOut bool) error {
	if err == nil && leftOut {
		return errLeftOut
	}
	return err
}

// errorLines returns the texts of joined errors. A line end within one text comes from a name or a server's answer,
// so it does not begin a new line.
func errorLines(err error) []string {
	if mark, ok := err.(interface{ Unwrap() error }); ok && mark.Unwrap() != nil && mark.Unwrap().Error() == err.Error() {
		err = mark.Unwrap()
	}
	if path, ok := err.(*fs.PathError); ok && path.Op == "open" {
		return []string{path.Path + ": " + path.Err.Error()}
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var parts, lines []string
	for _, e := range joined.Unwrap() {
		parts, lines = append(parts, e.Error()), append(lines, errorLines(e)...)
	}
	if strings.Join(parts, "\n") != err.Error() { // err has a text of its own around the joined errors
		return []string{err.Error()}
	}
	return lines
}
