// Command fio2es computes percentiles of whole clusters over time from fio's latency histogram logs, with the bounds
// of their error. It answers on the command line, and stores runs in a searchable history. See README.md and fio2es
// --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program, also for tests. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newEnv(stdin, stdout, stderr).run(ctx, args)
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

// run runs the command that args name, and returns the exit code.
func (e *env) run(ctx context.Context, args []string) int {
	root := rootCommand(e, args...)
	root.SetArgs(args)
	err := unknownCommand(root, root.ExecuteContext(ctx))
	e.progress.Clear()
	e.logRest()
	return e.conclude(err)
}
