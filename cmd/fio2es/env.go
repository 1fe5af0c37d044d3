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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// env is what all commands have in common: streams, messages and settings.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer     // stdout is a [term.Screen] where it is a terminal, or colours are forced
	written        *answerWriter // what stdout writes to in the end
	errors         io.Writer     // what stderr writes to
	progress       *term.Progress
	log            *slog.Logger

	cfg   config.Config
	flags *pflag.FlagSet // of the command that runs

	dial func(ctx context.Context, network, address string) (net.Conn, error) // in place of TCP, for tests; else nil
}

func newEnv(stdin io.Reader, stdout, stderr io.Writer) *env {
	e := &env{stdin: stdin, stderr: term.NewFilter(stderr), errors: stderr, written: &answerWriter{w: stdout}}
	e.stdout = e.written
	if f, ok := stdout.(*os.File); ok && (term.IsTerminal(f) || term.ForcesColour()) {
		e.stdout = term.NewScreen(f, e.written)
	}
	e.progress = term.NewProgress(e.terminal())
	e.setLog(slog.LevelInfo)
	return e
}

// terminal is stderr if it is a terminal, else nil.
func (e *env) terminal() *os.File { return terminalOf(e.errors) }

func terminalOf(stream any) *os.File {
	if f, ok := stream.(*os.File); ok && term.IsTerminal(f) {
		return f
	}
	return nil
}

func (e *env) setLog(level slog.Level) {
	e.log = slog.New(term.NewLogHandler(e.stderr, level, e.progress))
}

// run runs the command that args name. The result is the exit code.
func (e *env) run(ctx context.Context, args []string) int {
	root := rootCommand(e, args...)
	root.SetArgs(args)
	err := unknownCommand(root, root.ExecuteContext(ctx))
	e.progress.Clear()
	return e.conclude(err)
}

// load reads the settings before any command that has some.
func (e *env) load(cmd *cobra.Command, _ []string) (err error) {
	e.flags = cmd.Flags()
	if verbose, _ := e.flags.GetBool("verbose"); verbose {
		e.setLog(slog.LevelDebug)
	}
	isShell := cmd.Name() == "completion" || cmd.HasParent() && cmd.Parent().Name() == "completion"
	if isShell || cmd.Name() == "version" || cmd.Name() == "help" || strings.HasPrefix(cmd.Name(), "__") {
		return nil
	}
	file, _ := e.flags.GetString("config")
	if e.cfg, err = config.Load(file, e.flags); err != nil {
		return usageError{Err: err}
	}
	if err := e.noBlanks(); err != nil {
		return err
	}
	set := map[string][]string{}
	for name, where := range e.cfg.Origins {
		set[where] = append(set[where], name)
	}
	for _, where := range slices.Sorted(maps.Keys(set)) {
		e.log.Debug("settings of " + where + ": " + strings.Join(slices.Sorted(slices.Values(set[where])), ", "))
	}
	isDry, _ := e.flags.GetBool("dry-run")
	if e.flags.Lookup("elasticsearch") != nil && cmd.Name() != "setup" && !isDry { // it uses the history
		return e.finishInterrupted(cmd.Context())
	}
	return nil
}

// noBlanks fails if a flag has an empty value, as from a variable of a script that is not set: --where "" would choose all
// runs. Flags of settings may be empty, in place of what a file sets.
func (e *env) noBlanks() error {
	settings := slices.Collect(maps.Values(e.cfg.Origins))
	var faults []error
	isBlank := func(value string) bool { return strings.TrimSpace(value) == "" }
	e.flags.Visit(func(f *pflag.Flag) {
		blank := isBlank(f.Value.String())
		if list, ok := f.Value.(pflag.SliceValue); ok {
			blank = len(list.GetSlice()) == 0 || slices.ContainsFunc(list.GetSlice(), isBlank)
		}
		if blank && !slices.Contains(settings, "--"+f.Name) {
			faults = append(faults, usagef("--%s: an empty value: give one, or leave the flag out", f.Name))
		}
	})
	return errors.Join(faults...)
}

// rules are the SLA rules of the settings, any number.
func (e *env) rules() (rules []slo.Rule, err error) {
	source := "sla:"
	if e.flags.Changed("rule") {
		source = "--rule"
	}
	var faults []error
	for _, text := range e.cfg.SLA {
		r, err := slo.Parse(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %w", source, err))
		}
		rules = append(rules, r)
	}
	if len(faults) > 0 {
		return nil, usageError{Err: errors.Join(faults...)}
	}
	return rules, nil
}

// liveRules are the rules of the settings for runs that are followed.
func (e *env) liveRules() ([]slo.Rule, error) {
	rules, err := e.rules()
	if len(rules) > 0 && !slices.Contains(e.options().Levels, mapping.Cluster) {
		err = usagef("--levels: rules are checked against documents of level cluster: add it")
	}
	return rules, err
}

// shortHome writes a path with ~ for the user's home, so that help is the same for all.
func shortHome(path string) string {
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, home+string(os.PathSeparator)) {
		return "~" + strings.TrimPrefix(path, home)
	}
	return path
}

// options are the settings as the pipeline takes them. load has checked them.
func (e *env) options() pipeline.Options {
	opt, _ := e.cfg.Options()
	opt.Program = thisBuild().version
	return opt
}
