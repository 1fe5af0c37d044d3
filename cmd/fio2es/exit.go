package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

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

// conclude prints an error and returns the exit code.
func (e *env) conclude(err error) int {
	switch failed := e.written.err; {
	case failed == nil:
	case errors.Is(failed, syscall.EPIPE): // the reader has closed the pipe, because it has read enough
		err = besides(err, failed)
	case !errors.Is(err, failed):
		err = errors.Join(err, fmt.Errorf("write to stdout: %w", failed))
	}
	code := exitFailed
	var fio fioError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &fio):
		code = fio.code
	case errors.Is(err, errMet):
		return exitMet
	case errors.Is(err, errLeftOut):
		return exitLeftOut
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	case errors.As(err, new(usageError)) && !errors.As(err, new(partialError)):
		code = exitUsage
	}
	for _, line := range errorLines(err) {
		e.log.Error(line)
	}
	return code
}

// besides returns an error without the one that is no failure. Any other broken pipe is one, such as that of a
// connection.
func besides(err, harmless error) error {
	if err == harmless { //nolint:errorlint // what it wraps may be a failure elsewhere
		return nil
	}
	if !errors.Is(err, harmless) {
		return err
	}
	switch wrapped := err.(type) { //nolint:errorlint // the layers are taken off one by one
	case interface{ Unwrap() []error }:
		var rest []error
		for _, one := range wrapped.Unwrap() {
			rest = append(rest, besides(one, harmless))
		}
		return errors.Join(rest...)
	case interface{ Unwrap() error }:
		if besides(wrapped.Unwrap(), harmless) == nil {
			return nil
		}
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
