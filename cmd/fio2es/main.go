// Command fio2es computes percentiles of whole clusters over time from fio's latency histogram logs, with the bounds
// of their error. It answers on the command line, and stores runs in a searchable history. See README.md and fio2es
// --help.
package main

import (
	"context"
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
	return e.conclude(err)
}
