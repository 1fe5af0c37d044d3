package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/doctor"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/follow"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/live"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
)

func runCommand(e *env) *cobra.Command {
	r := runCall{env: e}
	var sweeps []string
	cmd := &cobra.Command{
		Use:   "run [flags] -- fio ARGS... | run [flags] JOBFILE [fio's ARGS...]",
		Short: "Run fio, and store its run",
		Long: `Runs fio, and adds only the options that trusted percentiles need: a histogram log and a
report with bins (json+) in a folder of their own, and absolute times in histogram logs.
At each whole second it sends fio a signal (SIGUSR1), and fio writes a report: so all
hosts have windows of the same seconds. Where it cannot, as with sudo, it adds
--status-interval. Options that you set stay as they are, and the workload does not
change. fio's own output goes where it would go without fio2es, in the formats that you
chose; of a sweep it stays in the folders of the runs. All that fio2es writes goes to stderr.

While fio runs, its run is live in the history. A terminal shows a live view. Without a
terminal, and with --quiet, stderr has a line for each window. When fio ends, the run is
stored as by ingest, and its row is printed. The exit code is fio's, if that is not 0.
Signals reach fio: after Ctrl-C it ends its jobs and writes its report; the third Ctrl-C
kills it.

If fio is killed, what it reported so far is stored. If fio2es is killed, fio continues,
and the next fio2es run, ingest or follow stores the run. Folders of runs are
beside the history, in runs/; they are yours to keep or to remove.

--repeat runs fio several times, for compare. --sweep runs it with all combinations of
the values of options, which replace what the job file and the command line say; the last
--sweep varies fastest, and --repeat repeats the whole sweep. A run that fails does not
end a sweep. The same command continues a sweep that was interrupted, and runs only what
the history lacks. The runs have the labels sweep and sweep_settings.

--run NAME makes this fio a part of the run NAME. Other hosts run the other parts, with the
same NAME and into the same history. Each sends its windows while fio runs, and show,
percentiles, watch and the others add them up, some seconds later. Clocks of hosts are
corrected by that of the cluster. When all parts have ended, and no other began for a minute, the last one stores
the run of all; fio2es finish NAME does it before. A host has the name of its system, or
that of the setting host (FIO2ES_HOST). With --repeat and --sweep each run has its number:
NAME/1. NAME again is the next attempt at it.

--client and --server are refused: run fio2es on each host.`,
		Example: `  fio2es run job.fio
  fio2es run -- fio --name=a --rw=randread --size=1g
  fio2es run --labels release=reef --note 'new switch' job.fio
  fio2es run --repeat 5 --pause 10s job.fio
  fio2es run --sweep bs=4k,64k --sweep iodepth=1,4,16,64 job.fio
  fio2es run --run night7 job.fio          on each host
  fio2es run --rule 'p99 <= 10ms' -- sudo fio --output=out.txt job.fio`,
		Args: arguments(1, many),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := ownFlags(cmd, args); err != nil {
				return err
			}
			return r.run(cmd.Context(), args, sweeps)
		},
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false) // arguments after fio or a job file belong to fio
	addSettings(fl, "reading", "labels", "levels", "coarsen", "confidence", "cluster", "rule")
	fl.StringVar(&r.note, "note", "", "write a note on the run: `text`, as fio2es note does")
	fl.IntVar(&r.repeat, "repeat", 1, "run fio `N` times")
	fl.StringArrayVar(&sweeps, "sweep", nil, "run fio with each value of an `option` of its jobs, such as bs=4k,64k; of several options (repeatable) with all combinations")
	fl.BoolVar(&r.again, "again", false, "run all combinations of --sweep, also those that the history has")
	fl.Var((*expr.DurationFlag)(&r.pause), "pause", "`time` to wait between two runs of --repeat and --sweep")
	fl.StringVar(&r.reports, "reports", "auto", "`time` between periodic reports of fio, such as 5s; none; or auto: each second, or so rarely that they take under 1 % of the processors")
	addRunFlag(fl, &r.name)
	fl.BoolVar(&r.quiet, "quiet", false, "print lines in place of the live view")
	return cmd
}

// ownFlags refuses flags of fio2es among the arguments of fio, which has no options with these names but help.
func ownFlags(cmd *cobra.Command, words []string) error {
	_, _, args, _ := fioargs.Split(words) // the error comes with parsing
	for _, word := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if strings.HasPrefix(word, "--") && name != "help" && cmd.Flags().Lookup(name) != nil {
			return usagef("--%s is a flag of fio2es, and fio has none of that name: write it before fio's arguments: fio2es run --%s ... %s", name, name, words[0])
		}
	}
	return nil
}

// run checks everything, opens the history, and runs the fio of a command as often as wanted.
func (r *runCall) run(ctx context.Context, words, sweeps []string) (err error) {
	if r.repeat < 1 || r.pause < 0 {
		return usagef("--repeat %d --pause %v: want at least 1, and no negative time", r.repeat, r.pause)
	}
	for _, text := range sweeps {
		if !strings.Contains(text, "=") { // its values would be taken for a job file
			return usagef("--sweep %s: want an option of fio's jobs and its values, such as --sweep %s=1,4", text, cmp.Or(strings.TrimSpace(text), "iodepth"))
		}
	}
	if err := r.checkShared(r.name); err != nil {
		return err
	}
	if r.rules, err = r.liveRules(); err != nil {
		return err
	}
	r.how = record.Settings{CPUs: runtime.NumCPU(), Reports: r.reports, ReadFile: record.Files(r.stdin)}
	if r.fio, err = fioargs.Parse(words, r.how.ReadFile); err != nil {
		return usageError{Err: err}
	}
	r.how.Name, r.how.Signals = record.NameOf(r.fio), record.CanSignal(r.fio)
	if r.how.Version, err = record.VersionOf(ctx, r.fio.Program); err != nil {
		return err
	}
	if err := r.planTurns(ctx, sweeps); err != nil {
		return err
	}
	if err := r.finishInterrupted(ctx); err != nil {
		return err
	}
	if r.to, err = r.target(ctx, r.rules); err != nil {
		return err
	}
	s := record.NewRelay(ctx)
	defer s.Stop()
	if err := ctx.Err(); err != nil { // a signal came before
		return errors.Join(err, r.to.Store.Close())
	}
	record.IgnoreClosedPipes() // fio and its run do not depend on the reader of the lines
	if r.isSweep() {
		if err := r.beginSweep(s.Context); err != nil {
			return errors.Join(err, r.to.Store.Close())
		}
	}
	for _, t := range r.turns { // of all before the first, because a sweep may take hours
		if !t.isDone {
			r.say(spoils(t.fio))
		}
	}
	err = r.runTurns(s)
	if err == nil {
		err = r.finishShared(s.Context)
	}
	if len(r.all.conclusions) == 0 && !r.isSweep() {
		r.all.conclusions = r.standings(s.Context)
	}
	err = errors.Join(err, r.to.Store.Close())
	printed := r.printFinished
	if r.isSweep() {
		printed = r.printSweep
	}
	if unread := printed(); !errors.Is(unread, syscall.EPIPE) {
		err = errors.Join(err, unread)
	}
	if err == nil && r.all.broken {
		return errMet
	}
	return err
}

// say prints notes, each once.
func (r *runCall) say(notes []string) {
	for _, note := range notes {
		if !slices.Contains(r.noted, note) {
			r.noted = append(r.noted, note)
			r.log.Info("note: " + note)
		}
	}
}

// runTurns runs fio as often as planned. A run of a sweep that fails does not end it, because others may still run.
func (r *runCall) runTurns(s *record.Relay) error {
	begun := false
	for i, t := range r.turns {
		if t.isDone {
			continue
		}
		if begun && !s.Pause(r.pause) {
			if !r.isSweep() { // which says what it lacks
				r.log.Warn(fmt.Sprintf("%d of %s ran", i, unit.Plural(len(r.turns), "run")))
			}
			return context.Canceled
		}
		begun = true
		if len(r.turns) > 1 {
			t.title = r.titleOf(i)
			if t.later = r.left(r.turns[i+1:]); t.later > 0 {
				t.later += r.pause
			}
			text := t.title
			if left := r.left(r.turns[i:]); left > 0 {
				text += ", " + unit.Short(left) + " left in all"
			}
			r.log.Info(text)
		}
		started := time.Now()
		one, err := r.once(s, t)
		r.overhead = max(time.Since(started)-t.length, 0)
		r.all.add(one)
		if err == nil {
			t.isDone = len(one.runs) > 0
			continue
		}
		if !r.isSweep() || s.Stopped() {
			return err
		}
		r.leftOut = true
		for _, line := range errorLines(err) {
			r.log.Error(t.settings + ": " + line)
		}
	}
	return nil
}

func (r *runCall) once(s *record.Relay, t *turn) (stored finished, err error) {
	of, err := r.share(s.Context, t)
	if err != nil {
		return stored, err
	}
	entry, err := r.folders().Begin(record.Entry{
		Name: r.how.Name, Host: r.cfg.HostName(), Shared: of.name, Attempt: of.attempt, History: r.historyName(), Command: t.fio.Shown(), Started: time.Now(),
		Secrets: t.fio.Secrets, Wrapped: len(t.fio.Before) > 0, Labels: r.options().Labels, Note: strings.TrimSpace(r.note), Sweep: r.labels(t),
	})
	if err != nil {
		return stored, err
	}
	ending, err := r.fioOf(s, t, entry)
	if err != nil && !errors.As(err, new(outputError)) {
		return stored, errors.Join(err, entry.Discard())
	}
	var failed error
	switch {
	case ending.Signal != 0:
		failed = fioError{ending.Code, fmt.Sprintf("fio was ended by a signal (%v): what came after its last report is missing", ending.Signal)}
	case ending.Code != 0:
		failed = fioError{ending.Code, fmt.Sprintf("fio ended with exit code %d", ending.Code)}
	}
	if failed != nil {
		entry.Note, entry.Sweep = strings.TrimSpace(entry.Note+"\n"+failed.Error()), nil
	}
	if err := entry.CollectLogs(t.fio); err != nil {
		r.leaveOut("a histogram log is not stored, fio's reports are: " + err.Error())
	}
	if errors.Is(err, syscall.EPIPE) { // the reader has closed the pipe
		err = nil
	}
	stored, failedToStore := r.finish(s.Context, r.to, r.rules, entry, ending)
	if failedToStore == nil && len(stored.runs) == 0 {
		r.log.Info("note: fio wrote no report, so there is nothing to store")
		failedToStore = r.leave(entry, err == nil)
	}
	return stored, errors.Join(failed, err, failedToStore)
}

// share says which run the fio of a turn shares with other hosts.
func (r *runCall) share(ctx context.Context, t *turn) (of taken, err error) {
	if r.name == "" {
		return of, nil
	}
	if of.name = r.name; len(r.turns) > 1 {
		of.name += fmt.Sprintf("/%d", slices.Index(r.turns, t)+1)
	}
	of.attempt, err = shared.Attempt(ctx, r.to.Store, shared.Member{Name: of.name, Host: r.cfg.HostName(), Unit: r.how.Name}, true)
	r.shared = append(r.shared, of)
	return of, err
}

// finishShared finishes the runs that hosts share.
func (r *runCall) finishShared(ctx context.Context) error {
	for _, of := range r.shared {
		finished, err := r.awaitShared(ctx, r.to, of.name)
		if err != nil {
			return err
		}
		for _, run := range finished {
			i := slices.IndexFunc(r.all.runs, func(part *mapping.Run) bool { return part.Run.ID == run.Run.ID })
			if i >= 0 {
				r.all.runs[i] = run.Light()
			}
		}
	}
	return nil
}

// spoils returns what spoils the measurements of a command, in a few lines.
func spoils(c *fioargs.Command) []string {
	const most = 5
	notes := doctor.Notes(c, doctor.Here())
	if n := len(notes) - most; n > 0 {
		notes = append(notes[:most], fmt.Sprintf("and %d more that spoil the measurement: fio2es doctor lists all", n))
	}
	return notes
}

// outputError means that fio ran, but its output did not reach the user. The run can be stored.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// fioOf runs fio and follows its run. Then it copies fio's output to where the user wants it.
func (r *runCall) fioOf(s *record.Relay, t *turn, entry *record.Entry) (ending record.Ending, err error) {
	how := r.how
	how.Folder, how.Quiet = entry.Folder, r.canShow() && !r.quiet
	plan, err := record.Of(t.fio, how)
	if err != nil {
		return ending, err
	}
	r.say(plan.Notes)
	var to io.Writer = r.stdout
	if r.isSweep() { // it stays in the folder of the run
		to = io.Discard
	}
	closeOutput := func() error { return nil }
	if plan.Output.File != "" {
		out, err := os.Create(plan.Output.File)
		if err != nil {
			return ending, err
		}
		defer out.Close() // in case fio does not start
		to, closeOutput = out, out.Close
	}
	if how.Quiet {
		ending, err = r.shown(s, t, entry, plan)
	} else {
		line := windowLines(r.stderr, table.Text)
		ending, err = r.started(s, entry, plan, r.errors, r.log, func(w *window.Window) error {
			_ = line(w) // the run does not depend on the reader of the lines
			return nil
		})
	}
	if err != nil {
		return ending, err
	}
	all, err := os.Open(entry.Report())
	if err == nil {
		err = plan.Output.Copy(to, all, ending.Signal == 0) // in the formats that the user chose
		all.Close()
	} else if errors.Is(err, os.ErrNotExist) { // fio refused its options, and wrote nothing
		err = nil
	}
	if err = errors.Join(err, closeOutput()); err != nil {
		return ending, outputError{fmt.Errorf("fio's output: %w; what fio wrote is in %s", err, shortHome(entry.Report()))}
	}
	return ending, nil
}

// started starts fio, follows its run, and waits for its end. fio writes to files and not to pipes of fio2es, so it
// continues if fio2es is killed.
func (r *runCall) started(
	s *record.Relay, entry *record.Entry, plan *record.Plan, stderr io.Writer, log *slog.Logger, each func(*window.Window) error,
) (ending record.Ending, err error) {
	stdin, _ := r.stdin.(*os.File)
	fio, err := plan.Start(entry, record.Streams{
		Stdin: stdin, Stdout: r.written.w, Stderr: stderr, Shared: len(r.fio.Before) > 0 && terminalOf(r.stdin) != nil,
	})
	if err != nil {
		return ending, err
	}
	s.PassTo(fio)
	stopFollowing := r.followFio(s.Context, r.to, entry.Folder, entry.Host, r.rules, sharedOf(r.to, ingest.Options{Pipeline: r.options(), Log: log}, entry), log, each)
	ending, err = fio.Wait()
	s.PassTo(nil)
	stopFollowing()
	return ending, err
}

// followFio stores the live run of a fio until the returned function is called. Its reports are at a path, and with is the run that
// hosts share, or nil. Requests count in the window in which they complete. So a window is final at once, and does not wait for
// requests that were in flight in it.
func (e *env) followFio(
	ctx context.Context, to ingest.Target, path, host string, rules []slo.Rule, with *follow.Shared, log *slog.Logger, each func(*window.Window) error,
) (stop func()) {
	opt := follow.Options{
		Ingest: ingest.Options{Pipeline: e.options(), Log: log},
		Paths:  []string{path}, Host: host, Wanted: func(string, string) bool { return true }, Rules: rules, Alerts: e.alerts(log), Shared: with,
		Every: 2 * time.Second, Quiet: math.MaxInt64, // never, because the caller knows when fio ends
		Window: each, EndsFio: true,
	}
	opt.Ingest.Pipeline.Weighting = align.Completion
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := follow.Follow(ctx, to, opt)
		opt.Alerts.Close()
		done <- err
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			log.Warn("the run was not followed to its end: " + err.Error())
		}
	}
}

// standings says for each workload of the runs how they lie to those before them. A history that cannot be read says nothing.
func (r *runCall) standings(ctx context.Context) (lines []string) {
	const most, days = 10, 90
	for _, w := range workload.Group(facts.Parts(r.all.runs...)) {
		key, first := workload.Key(w.Runs[0]), w.Runs[0].Run.Start
		before, err := history.Collect(r.to.Store.Runs(ctx, history.RunFilter{
			From: first.AddDate(0, 0, -days), To: first, Limit: most, Light: true,
			Where: where.OfWorkloads("the settings", []string{key}, func(run *mapping.Run) bool {
				return workload.LeftOut(run) == "" && workload.Has(run, map[string]bool{key: true})
			}),
		}), func(error) {})
		if err != nil {
			r.log.Debug("runs before: " + err.Error())
			continue
		}
		before = slices.DeleteFunc(facts.Parts(before...), func(part *mapping.Run) bool { return workload.Key(part) != key })
		if text := workload.Standing(w.Runs, before); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// printConclusions prints what the rules of runs come to, or how the runs lie to those before them.
func (r *runCall) printConclusions() {
	const most = 5
	to, lines := r.errorScreen(), r.all.conclusions
	if n := len(lines) - most; n > 0 {
		lines = append(lines[:most:most], fmt.Sprintf("and %d more", n))
	}
	for _, text := range lines {
		fmt.Fprintln(to, term.FillFor(to, term.Clean(text)))
	}
}

// printFinished prints the rows of runs, where they are stored, and what to run next.
func (r *runCall) printFinished() error {
	runs := r.all.runs
	if len(runs) == 0 {
		return nil
	}
	if err := r.printRows(runs); err != nil {
		return err
	}
	r.printConclusions()
	if address := r.runAddress(); address != nil {
		for _, run := range runs {
			term.Line(r.stderr, "kibana:  %s", address(&run.Run))
		}
	}
	var ids []string
	for _, run := range runs {
		id := facts.ShortID(run.Run.ID)
		if run.Run.Stages > 1 {
			id = query.OfExecution + facts.ShortID(run.Run.Execution)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	fmt.Fprintln(r.stderr)
	term.Line(r.stderr, "history: %s", r.historyName())
	for _, folder := range r.all.folders {
		term.Line(r.stderr, "files:   %s, %s", shortHome(folder), unit.Bytes(record.Size(folder)))
	}
	next := []string{"fio2es show " + ids[0], "fio2es percentiles " + ids[0]}
	if len(ids) > 1 {
		next = []string{"fio2es compare " + strings.Join(ids, ",") + " OTHER", "fio2es runs " + strings.Join(ids, " ")}
	}
	fmt.Fprintf(r.stderr, "next:    %s\n", strings.Join(next, "\n         "))
	return nil
}

// printRows prints the rows of runs that have just ended.
func (e *env) printRows(runs []*mapping.Run) error {
	columns, err := where.Columns([]string{"run", "name", "requests", "iops", "bandwidth", "p50", "p99", "p99_9", "max", "missing", "state"})
	if err != nil {
		return err
	}
	return e.printColumns(runs, columns)
}

// shown runs fio with a live view on the terminal. What fio writes to stderr is kept in a file until the view ends.
func (r *runCall) shown(s *record.Relay, t *turn, entry *record.Entry, plan *record.Plan) (ending record.Ending, err error) {
	errs, err := os.Create(filepath.Join(entry.Folder, entry.Name+".err"))
	if err != nil {
		return ending, err
	}
	defer errs.Close()
	view := live.New(r.rules)
	view.Title, view.Every = strings.Join(t.fio.Shown(), " "), plan.Every
	if t.title != "" {
		view.Title = t.title + ": " + view.Title
	}
	view.Later = t.later
	on := live.NewScreen(terminalOf(r.errors), r.stderr, view)
	ending, err = r.started(s, entry, plan, errs, slog.New(term.NewLogHandler(on, slog.LevelInfo, nil)), func(w *window.Window) error {
		var stage live.Stage
		if n := max(w.Run.Stage, 1); len(plan.Stages) == max(w.Run.Stages, 1) {
			of := plan.Stages[n-1]
			if stage.Length = of.Length; of.Length > 0 && (of.Later > 0 || n == len(plan.Stages)) {
				stage.ToEnd = of.Length + of.Later
			}
		}
		return on.Window(w, stage)
	})
	on.Close()
	if err != nil {
		return ending, err
	}
	if _, err = errs.Seek(0, io.SeekStart); err == nil {
		_, err = io.Copy(r.stderr, errs)
	}
	if err != nil {
		return ending, outputError{err}
	}
	return ending, nil
}
