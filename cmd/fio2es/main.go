// Command fio2es computes percentiles of whole clusters over time from fio's latency histogram logs, with the bounds
// of their error. It answers on the command line, and stores runs in a searchable history. See README.md and fio2es
// --help.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // for --tz where the system has no time zones

	"github.com/spf13/cobra"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		got := <-signals
		signal.Stop(signals) // a second Ctrl-C ends the program at once
		cancel(signalled{got})
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// signalled is the cause of the end of a program that got a signal.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.String() }

// Is makes it the error of a cancelled context, because some packages return the cause in its place.
func (s signalled) Is(target error) bool { return target == context.Canceled }

// run is the whole program, also for tests. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newEnv(stdin, stdout, stderr).run(ctx, args)
}

// run runs the command that args name, and returns the exit code.
func (e *env) run(ctx context.Context, args []string) int {
	root := rootCommand(e)
	root.SetArgs(args)
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, cobra.ShellCompRequestCmd) }) { // a shell asks
		for _, cmd := range root.Commands() {
			e.complete(cmd)
		}
	}
	err := unknownCommand(root, root.ExecuteContext(ctx))
	e.progress.Clear()
	e.handler.Release()
	code := e.conclude(err)
	if by := (signalled{}); code == exitFailed && errors.As(context.Cause(ctx), &by) {
		if number, ok := by.Signal.(syscall.Signal); ok {
			code = 128 + int(number) // as of a shell: 130 or 143
		}
	}
	return code
}
