package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/term"
)

// Exit codes, as docs and --help have them.
const (
	exitFailed  = 1 // nothing, or not all, could be done
	exitUsage   = 2 // wrong arguments or settings
	exitLeftOut = 3 // done, but something was left out; stderr says what
	exitMet     = 4 // done, but a condition of --fail-if was met or an objective is broken; stderr says which
)

// errLeftOut ends a command that was done, except for what it reported on stderr.
var errLeftOut = errors.New("something was left out")

// errMet ends a command that was done, but whose gate failed: a condition of --fail-if, or an
// SLA rule. Stderr names it.
var errMet = errors.New("a gate failed")

// usageError is a mistake in arguments or settings.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// app is what all commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	written        *answerWriter // what stdout writes to in the end
	screen         *os.File      // what stdout is, unfiltered, where it is a terminal; else nil
	progress       *term.Progress
	log            *slog.Logger

	file    string // --config
	verbose bool
	cfg     config.Config
	flags   *pflag.FlagSet // of the command that runs

	dial func(ctx context.Context, network, address string) (net.Conn, error) // in place of TCP, for tests; else nil
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{stdin: stdin, stderr: term.NewFilter(stderr), written: &answerWriter{w: stdout}}
	a.stdout = a.written
	if f, ok := stdout.(*os.File); ok && term.IsTerminal(f) {
		a.screen, a.stdout = f, term.NewScreen(f, a.written)
	}
	f, _ := stderr.(*os.File)
	a.progress = term.NewProgress(f)
	a.log = slog.New(term.NewLogHandler(a.stderr, slog.LevelInfo, a.progress))
	return a
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "fio2es",
		Short: "Latency percentiles you can trust, from fio's histogram logs",
		Long: `fio2es reads the latency histogram logs that fio writes on many hosts and in many
jobs, aligns and merges them, and answers with exact percentiles over time. It
keeps a searchable history of all runs.

Exit codes: 0 all well; 1 failed; 2 wrong usage; 3 done, but something was left
out (stderr says what); 4 done, but a condition of compare --fail-if was met, or an
objective of sla or follow is broken.

On a terminal a table that is too wide has shorter texts and fewer columns, and the
line below it says which; "| cat" shows all.

Settings: a flag, else FIO2ES_* in the environment, else fio2es.yaml, else the
default. "fio2es config" shows them, and "fio2es config --help" says which files.`,
		Example: `  fio2es ingest results/                     store all runs of a CBT archive
  fio2es follow /data/cbt                    store runs while tests run
  fio2es runs                                list them
  fio2es percentiles latest                  percentiles of the newest run, per second
  fio2es percentiles *_clat_hist.*.log       of logs, without storing anything`,
		SilenceUsage: true, SilenceErrors: true,
		PersistentPreRunE: a.load,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	p := root.PersistentFlags()
	p.StringVar(&a.file, "config", "", "settings file (default fio2es.yaml in the user's configuration folder, and for analysis the one here)")
	p.String("history", "", "file of the embedded history (default "+shortHome(config.Default().History)+")")
	p.BoolVarP(&a.verbose, "verbose", "v", false, "say more on stderr")
	root.AddCommand(a.ingestCommand(), a.followCommand(), a.percentilesCommand(), a.rankCommand(), a.compareCommand(), a.slaCommand(), a.heatmapCommand(), a.reportCommand(), a.exportCommand(), a.serveCommand(), a.runsCommand(), a.trendCommand(), a.checkCommand(),
		a.setupCommand(), a.pushCommand(), a.kibanaCommand(), a.configCommand(), a.versionCommand(), a.generateCommand(), fieldsTopic())
	for _, c := range root.Commands() {
		c.Args = usageArgs(c.Args)
	}
	return root
}

// usageArgs makes wrong arguments an error of usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, args); err != nil {
			return usageError{fmt.Errorf("%w; see fio2es %s --help", err, cmd.Name())}
		}
		return nil
	}
}

// load reads the settings before any command that has some.
func (a *app) load(cmd *cobra.Command, _ []string) error {
	level := slog.LevelInfo
	if a.verbose {
		level = slog.LevelDebug
	}
	a.log = slog.New(term.NewLogHandler(a.stderr, level, a.progress))
	if cmd.Name() == "version" || cmd.Name() == "completion" || cmd.HasParent() && cmd.Parent().Name() == "completion" || strings.HasPrefix(cmd.Name(), "__") {
		return nil
	}
	cfg, err := config.Load(a.file, cmd.Flags())
	if err != nil {
		return usageError{err}
	}
	a.cfg, a.flags = cfg, cmd.Flags()
	a.logOrigins()
	return nil
}

// logOrigins says with -v which settings each file, variable and flag set.
func (a *app) logOrigins() {
	set := map[string][]string{}
	for name, where := range a.cfg.Origins {
		set[where] = append(set[where], name)
	}
	for _, where := range slices.Sorted(maps.Keys(set)) {
		a.log.Debug("settings of " + where + ": " + strings.Join(slices.Sorted(slices.Values(set[where])), ", "))
	}
}

// conclude prints an error and returns the exit code.
func (a *app) conclude(err error) int {
	var usage usageError
	if failed := a.written.err; failed != nil && !errors.Is(err, failed) && (err == nil || !errors.Is(failed, syscall.EPIPE)) {
		err = errors.Join(err, fmt.Errorf("write to stdout: %w", failed))
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EPIPE):
		return 0 // whoever reads has enough
	case errors.Is(err, errMet):
		return exitMet
	case errors.Is(err, errLeftOut):
		return exitLeftOut
	case errors.Is(err, context.Canceled):
		a.log.Error("interrupted")
		return exitFailed
	}
	code := exitFailed
	if errors.As(err, &usage) || errors.As(err, new(query.UsageError)) || strings.HasPrefix(err.Error(), "unknown command") {
		code = exitUsage
	}
	for _, line := range errorLines(err) {
		a.log.Error(line)
	}
	return code
}

// errorLines are the texts of errors that were joined. A line end within one of them comes from
// a name or a server's answer, so it does not begin a new line.
func errorLines(err error) []string {
	switch usage := err.(type) {
	case usageError:
		err = usage.error
	case query.UsageError:
		err = usage.Err
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var parts, lines []string
	for _, e := range joined.Unwrap() {
		parts, lines = append(parts, e.Error()), append(lines, errorLines(e)...)
	}
	if strings.Join(parts, "\n") != err.Error() { // one text of several errors
		return []string{err.Error()}
	}
	return lines
}

// shortHome writes a path with ~ for the user's home, so that help is the same for all.
func shortHome(path string) string {
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, home+string(os.PathSeparator)) {
		return "~" + strings.TrimPrefix(path, home)
	}
	return path
}
