package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/alert"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// env has what all commands share: streams, messages and settings.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer     // stdout is a [term.Screen] if it is a terminal; for stderr see [results]
	written        *answerWriter // the writer below stdout, which records errors
	errors         io.Writer     // the writer below stderr
	progress       *term.Progress
	log            *slog.Logger
	handler        *term.LogHandler

	leftOut bool    // something is left out, and stderr says what
	skipped []error // of single runs, while the answers for the others are complete

	cfg   config.Config
	flags *pflag.FlagSet // flags of the running command; none before it runs

	// makes connections instead of TCP, for tests; otherwise nil
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func newEnv(stdin io.Reader, stdout, stderr io.Writer) *env {
	e := &env{stdin: stdin, errors: stderr, written: &answerWriter{w: stdout}, flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	e.stdout, e.stderr = e.written, results{e, term.NewFilter(stderr)}
	if f, ok := stdout.(*os.File); ok && term.IsTerminal(f) {
		e.stdout = term.NewScreen(f, e.written)
	}
	e.progress = term.NewProgress(terminalOf(e.errors))
	e.setLog(slog.LevelInfo)
	return e
}

// results is stderr for results: they come after the messages about them.
type results struct {
	*env
	w io.Writer
}

// Write implements [io.Writer].
func (r results) Write(p []byte) (int, error) {
	r.handler.Release()
	return r.w.Write(p)
}

// terminalOf returns a stream if it is a terminal, and otherwise nil.
func terminalOf(stream any) *os.File {
	if f, ok := stream.(*os.File); ok && term.IsTerminal(f) {
		return f
	}
	return nil
}

func (e *env) setLog(level slog.Level) {
	e.handler = term.NewLogHandler(term.NewFilter(e.errors), level, e.progress)
	e.log = slog.New(e.handler)
}

// load reads the settings before any command that uses settings.
func (e *env) load(cmd *cobra.Command) (err error) {
	e.flags = cmd.Flags()
	verbose, _ := e.flags.GetBool("verbose")
	if verbose {
		e.setLog(slog.LevelDebug)
	}
	if lasts := slices.Contains([]string{"follow", "run", "serve", "watch"}, cmd.Name()); !lasts && !verbose {
		e.handler.Hold()
	}
	isShell := cmd.Name() == "completion" || cmd.HasParent() && cmd.Parent().Name() == "completion"
	if isShell || cmd.Name() == "version" || cmd.Name() == "help" || strings.HasPrefix(cmd.Name(), "__") {
		return nil
	}
	file, _ := e.flags.GetString("config")
	if e.cfg, err = config.Load(file, e.flags); err != nil {
		return usageError{Err: err}
	}
	zone, err := e.cfg.Zone()
	if err != nil {
		return err // [config.Load] has checked it
	}
	unit.SetZone(zone)
	ofSetting := map[string]bool{} // flags
	for _, where := range e.cfg.Origins {
		ofSetting[where] = true
	}
	// A flag with an empty value may come from an unset variable in a script, and --where "" would choose all runs. Flags
	// of settings may be empty, because this replaces a value in a file.
	var faults []error
	isBlank := func(value string) bool { return strings.TrimSpace(value) == "" }
	e.flags.Visit(func(f *pflag.Flag) {
		blank := isBlank(f.Value.String())
		if list, ok := f.Value.(pflag.SliceValue); ok {
			blank = len(list.GetSlice()) == 0 || slices.ContainsFunc(list.GetSlice(), isBlank)
		}
		if blank && !ofSetting["--"+f.Name] {
			faults = append(faults, usagef("--%s: an empty value: give one, or leave the flag out", f.Name))
		}
	})
	return errors.Join(faults...)
}

func (e *env) rules() (rules []slo.Rule, err error) {
	var faults []error
	for i, text := range e.cfg.SLA {
		r, err := slo.Parse(text)
		switch isFlag := e.flags.Changed("rule"); {
		case err != nil && isFlag:
			faults = append(faults, fmt.Errorf("--rule %w", err))
		case err != nil: // no error quotes a settings file or a variable
			faults = append(faults, fmt.Errorf("sla, as %s has it: want rules such as p99 <= 10ms in 99%% of windows, which number %d is not", e.cfg.Origins["sla"], i+1))
		}
		rules = append(rules, r)
	}
	if len(faults) > 0 {
		return nil, usageError{Err: errors.Join(faults...)}
	}
	return rules, nil
}

// liveRules returns the rules of the settings for runs that are followed.
func (e *env) liveRules() ([]slo.Rule, error) {
	rules, err := e.rules()
	if len(rules) > 0 && !slices.Contains(e.options().Levels, mapping.Cluster) {
		err = usagef("--levels: rules are checked against documents of level cluster: add it")
	}
	return rules, err
}

// alerts returns what sends alerts about live runs. The caller closes it.
func (e *env) alerts(log *slog.Logger) *alert.Sender {
	opt := alert.Options{Alertmanager: e.cfg.Alerts.Alertmanager, Exec: e.cfg.Alerts.Exec, Log: log}
	if address := e.runAddress(); address != nil {
		opt.Link = func(run *mapping.RunInfo) string {
			live := *run
			live.End = time.Now()
			return address(&live)
		}
	}
	return alert.NewSender(opt)
}

// runAddress returns the function that returns the address of a run's dashboard in Kibana, or nil if there is none.
func (e *env) runAddress() func(*mapping.RunInfo) string {
	if !e.cfg.Kibana.Enabled() || !e.cfg.Elasticsearch.Enabled() {
		return nil
	}
	bundle, err := kibana.New(kibana.Options{Prefix: e.cfg.Prefix, Space: e.cfg.Kibana.Space})
	if err != nil { // setup reports such an error
		return nil
	}
	return func(run *mapping.RunInfo) string { return bundle.RunAddress(e.cfg.Kibana.Name(), run) }
}

// shortHome replaces the user's home directory by ~, so that help is the same for all users.
func shortHome(path string) string {
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, home+string(os.PathSeparator)) {
		return "~" + strings.TrimPrefix(path, home)
	}
	return path
}

// options returns the settings as options of the pipeline. load has checked them.
func (e *env) options() pipeline.Options {
	opt, _ := e.cfg.Options()
	opt.Program = thisBuild().version
	return opt
}

// answerWriter is a writer that keeps its first error. So a command cannot succeed if its output was not written,
// even if it ignores errors.
type answerWriter struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer].
func (w *answerWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(p)
	w.err = err
	return n, err
}

// canShow reports whether there is a terminal for a screen.
func (e *env) canShow() bool {
	kind := os.Getenv("TERM")
	return terminalOf(e.errors) != nil && kind != "" && kind != "dumb"
}

// Exit codes, as documented in docs and --help.
const (
	exitFailed  = 1 // nothing could be done, or not all
	exitUsage   = 2 // wrong arguments or settings
	exitLeftOut = 3 // done, but something was left out; stderr says what
	// done, but a gate failed: --fail-if, --fail-on-unclear, --fail-last or an objective; stderr says which
	exitMet = 4
)

// errLeftOut ends a command that has left out all there was. Stderr says what.
var errLeftOut = errors.New("all is left out")

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

// leaveOut warns of something that the command leaves out. The exit code will say so, too.
func (e *env) leaveOut(text string) {
	e.log.Warn(text)
	e.leftOut = true
}

// conclude prints errors and returns the exit code.
func (e *env) conclude(err error) int {
	switch failed := e.written.err; {
	case failed == nil:
	case errors.Is(failed, syscall.EPIPE): // the reader has closed the pipe, because it has read enough
		if isOnly(err, failed) {
			err = nil
		}
	case !errors.Is(err, failed):
		err = errors.Join(err, fmt.Errorf("write to stdout: %w", failed))
	}
	for _, one := range e.skipped {
		e.logError(one)
	}
	code := exitFailed
	var fio fioError
	switch {
	case err == nil && len(e.skipped) > 0:
		return exitFailed
	case err == nil && e.leftOut:
		return exitLeftOut
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
	case errors.As(err, new(usageError)):
		code = exitUsage
	}
	e.logError(err)
	return code
}

func (e *env) logError(err error) {
	for _, line := range errorLines(err) {
		e.log.Error(line)
	}
}

// isOnly reports whether nothing but one error is in an error. Any other broken pipe is a failure, such as that of a
// connection.
func isOnly(err, one error) bool {
	switch wrapped := err.(type) { //nolint:errorlint // the layers are taken off one by one
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(wrapped.Unwrap(), func(err error) bool { return !isOnly(err, one) })
	case interface{ Unwrap() error }:
		return err == one || isOnly(wrapped.Unwrap(), one) //nolint:errorlint // what it wraps may be a failure elsewhere
	}
	return err == one //nolint:errorlint // as above
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
