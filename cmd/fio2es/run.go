package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/follow"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/align"
)

func runCommand(e *env) *cobra.Command {
	r := running{env: e}
	cmd := &cobra.Command{
		Use:   "run [flags] -- fio ARGS... | run [flags] JOBFILE [fio's ARGS...]",
		Short: "Run fio, and store its run",
		Long: `Runs fio, and adds only the options that trusted percentiles need: a histogram log and a
report with bins (json+) in a folder of their own, reports each second, and absolute times
in histogram logs. Options that you set stay as they are, and the workload does not
change. fio's own output goes where it would go without fio2es, in the formats that you
chose. All that fio2es writes goes to stderr.

While fio runs, its run is live in the history. A terminal shows a live view: latencies
of the last seconds, a heat map, the time left, and broken rules. Without a terminal, and
with --quiet, stderr has a line for each window. Requests count in the window in which
they complete. When fio ends, the run is stored as by ingest, and its row is printed. The exit code is fio's, if
that is not 0. Signals reach fio: after Ctrl-C it ends its jobs and writes its report;
the third Ctrl-C kills it.

If fio is killed, what it reported so far is stored. If fio2es is killed, fio continues,
and the next fio2es run, ingest or follow stores the run. Folders of runs are
beside the history, in runs/; they are yours to keep or to remove.

--repeat runs fio several times, for compare. --client and --server are refused: run
fio2es on each host.`,
		Example: `  fio2es run job.fio
  fio2es run -- fio --name=a --rw=randread --size=1g
  fio2es run --labels release=reef --note 'new switch' job.fio
  fio2es run --repeat 5 --pause 10s job.fio
  fio2es run --rule 'p99 <= 10ms' -- sudo fio --output=out.txt job.fio`,
		Args: arguments(1, many),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false) // arguments after fio or a job file belong to fio
	addReadingFlags(fl, "interval", "labels")
	addLevelsFlag(fl)
	addClusterFlags(fl)
	addRuleFlag(fl)
	fl.StringVar(&r.note, "note", "", "write a note on the run: `text`, as fio2es note does")
	fl.IntVar(&r.repeat, "repeat", 1, "run fio `N` times")
	fl.DurationVar(&r.pause, "pause", 0, "`time` to wait between two runs of --repeat")
	fl.StringVar(&r.reports, "reports", "auto", "`time` between periodic reports of fio, such as 5s; none; or auto: each second, or so rarely that they take under 1 % of the processors")
	fl.BoolVar(&r.quiet, "quiet", false, "print lines in place of the live view")
	return cmd
}

type running struct {
	*env
	note, reports string
	repeat        int
	pause         time.Duration
	quiet         bool

	rules []slo.Rule
	to    ingest.Target
	fio   *fioargs.Command
	how   record.Settings
}

// run runs the fio of a command, as often as wanted.
func (r *running) run(ctx context.Context, words []string) (err error) {
	if r.repeat < 1 || r.pause < 0 {
		return usagef("--repeat %d --pause %v: want at least 1, and no negative time", r.repeat, r.pause)
	}
	if r.rules, err = r.liveRules(); err != nil {
		return err
	}
	r.how = record.Settings{CPUs: runtime.NumCPU(), Reports: r.reports, ReadFile: record.Files(r.stdin)}
	if r.fio, err = fioargs.Parse(words, r.how.ReadFile); err != nil {
		return usageError{Err: err}
	}
	r.how.Name = record.NameOf(r.fio)
	if r.how.Version, err = record.VersionOf(ctx, r.fio.Program); err != nil {
		return err
	}
	if _, err := record.Of(r.fio, r.how); err != nil { // check before anything is opened or created
		return usageError{Err: err}
	}
	return r.repeated(ctx)
}

// repeated opens the history and runs fio, as often as wanted.
func (r *running) repeated(ctx context.Context) (err error) {
	if err := r.finishInterrupted(ctx); err != nil {
		return err
	}
	if r.to, err = r.history().target(ctx, r.rules); err != nil {
		return err
	}
	s := newSignals(ctx)
	defer s.stop()
	if err := ctx.Err(); err != nil { // a signal came before
		return errors.Join(err, r.to.Store.Close())
	}
	record.IgnoreClosedPipes() // fio and its run do not depend on the reader of the lines
	var all finished
	for i := range r.repeat {
		if i > 0 && !s.pause(r.pause) {
			r.log.Warn(fmt.Sprintf("%d of %s ran", i, unit.Plural(r.repeat, "run")))
			err = context.Canceled
			break
		}
		if r.repeat > 1 {
			r.log.Info(fmt.Sprintf("run %d of %d", i+1, r.repeat))
		}
		one, failed := r.once(s)
		all.add(one)
		if err = failed; err != nil {
			break
		}
	}
	leftOut, err := closed(r.to.Store, err)
	if unread := r.printFinished(&all); !errors.Is(unread, syscall.EPIPE) {
		err = errors.Join(err, unread)
	}
	if err == nil && all.broken {
		return errMet
	}
	return leftOutIf(err, leftOut || all.leftOut)
}

// once runs fio and stores its run.
func (r *running) once(s *signals) (stored finished, err error) {
	host, _ := os.Hostname() // without a name the host is unknown, as in a folder of logs
	entry, err := r.history().folders().Begin(record.Entry{
		Name: r.how.Name, Host: host, History: r.history().name(), Command: r.fio.Words(), Started: time.Now(),
		Wrapped: len(r.fio.Before) > 0, Labels: r.options().Labels, Note: strings.TrimSpace(r.note),
	})
	if err != nil {
		return stored, err
	}
	ending, err := r.fioOf(s, entry)
	var unwritten outputError
	if err != nil && !errors.As(err, &unwritten) {
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
		entry.Note = strings.TrimSpace(entry.Note + "\n" + failed.Error())
	}
	if err := entry.CollectLogs(r.fio); err != nil {
		r.log.Warn("a histogram log is not stored, fio's reports are: " + err.Error())
		stored.leftOut = true
	}
	if errors.Is(err, syscall.EPIPE) { // the reader has closed the pipe
		err = nil
	}
	one, failedToStore := r.env.finish(s.ctx, r.to, r.rules, entry, ending.Signal != 0)
	stored.add(one)
	if failedToStore == nil && len(one.runs) == 0 {
		r.log.Info("note: fio wrote no report, so there is nothing to store")
		failedToStore = r.leave(entry, err == nil)
	}
	return stored, errors.Join(failed, err, failedToStore)
}

// outputError means that fio ran, but its output did not reach the user. The run can be stored.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// fioOf runs fio and follows its run. Then it copies fio's output to where the user wants it.
func (r *running) fioOf(s *signals, entry *record.Entry) (ending record.Ending, err error) {
	how := r.how
	how.Folder, how.Quiet = entry.Folder, r.canShow() && !r.quiet
	plan, err := record.Of(r.fio, how)
	if err != nil {
		return ending, err
	}
	for _, note := range plan.Notes {
		r.log.Info("note: " + note)
	}
	var to io.Writer = r.stdout
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
		ending, err = r.shown(s, entry, plan)
	} else {
		ending, err = r.started(s, entry, plan, r.errors, r.log, r.lines())
	}
	if err != nil {
		return ending, err
	}
	if err = errors.Join(copyOutput(to, plan.Output, entry, ending.Signal == 0), closeOutput()); err != nil {
		return ending, outputError{fmt.Errorf("fio's output: %w; what fio wrote is in %s", err, shortHome(entry.Report()))}
	}
	return ending, nil
}

// started starts fio, follows its run, and waits for its end. fio writes to files and not to pipes of fio2es, so it
// continues if fio2es is killed.
func (r *running) started(
	s *signals, entry *record.Entry, plan *record.Plan, stderr io.Writer, log *slog.Logger, each func(*window.Window) error,
) (ending record.Ending, err error) {
	stdin, _ := r.stdin.(*os.File)
	fio, err := plan.Start(entry, record.Streams{
		Stdin: stdin, Stdout: r.written.w, Stderr: stderr, Shared: len(r.fio.Before) > 0 && terminalOf(r.stdin) != nil,
	})
	if err != nil {
		return ending, err
	}
	s.passTo(fio)
	stopFollowing := r.follow(s.ctx, entry, log, each)
	ending, err = fio.Wait()
	s.passTo(nil)
	stopFollowing()
	return ending, err
}

// copyOutput copies fio's output in the formats that the user chose.
func copyOutput(to io.Writer, how record.Output, entry *record.Entry, hasEnded bool) error {
	all, err := os.Open(entry.Report())
	if errors.Is(err, os.ErrNotExist) { // fio refused its options, and wrote nothing
		return nil
	}
	if err != nil {
		return err
	}
	defer all.Close()
	return how.Copy(to, all, hasEnded)
}

// lines writes a line for each window to stderr. It ignores errors, because the run does not depend on the reader.
func (r *running) lines() func(*window.Window) error {
	to := newFollowWriter(r.stderr, table.Text)
	return func(w *window.Window) error {
		_ = to.window(w)
		return nil
	}
}

// follow stores the live run of a fio until the returned function is called. Requests count in the window in which
// they complete. So a window is final at once, and does not wait for requests that were in flight in it.
func (r *running) follow(ctx context.Context, entry *record.Entry, log *slog.Logger, each func(*window.Window) error) (stop func()) {
	opt := follow.Options{
		Ingest: ingest.Options{Pipeline: r.options(), Log: log},
		Paths:  []string{entry.Folder}, Host: entry.Host, Wanted: func(string, string) bool { return true }, Rules: r.rules,
		Every: 2 * time.Second, Quiet: math.MaxInt64, // never, because the caller knows when fio ends
		Window: each,
	}
	opt.Ingest.Pipeline.Weighting = align.Completion
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := follow.Follow(ctx, r.to, opt)
		done <- err
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			log.Warn("the run was not followed to its end: " + err.Error())
		}
	}
}

// signals passes signals to fio while it runs. When no fio runs, a signal ends the command.
type signals struct {
	ctx  context.Context // ends with a signal while no fio runs
	stop func()

	mu      sync.Mutex
	fio     *record.Process
	stopped bool // a signal came
}

func newSignals(parent context.Context) *signals {
	// not with parent, which the first signal ends, because fio needs time to end
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	incoming := make(chan os.Signal, 8)
	signal.Notify(incoming, record.Signals...)
	s := &signals{ctx: ctx, stopped: parent.Err() != nil}
	s.stop = func() {
		signal.Stop(incoming)
		cancel()
	}
	go func() {
		for {
			select {
			case sig := <-incoming:
				s.take(sig, cancel)
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

func (s *signals) take(sig os.Signal, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.fio == nil {
		cancel()
		return
	}
	s.fio.Signal(sig)
}

// passTo sets the fio that gets the signals. nil means that none runs.
func (s *signals) passTo(fio *record.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fio = fio; fio != nil && s.stopped { // the signal came before fio was started
		fio.Signal(os.Interrupt)
	}
}

// pause waits for d. It returns false if a signal came.
func (s *signals) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
	case <-s.ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.stopped
}

// finished describes what was stored of runs that are over.
type finished struct {
	runs            []*mapping.Run
	folders         []string
	leftOut, broken bool
}

func (f *finished) add(other finished) {
	f.runs, f.folders = append(f.runs, other.runs...), append(f.folders, other.folders...)
	f.leftOut, f.broken = f.leftOut || other.leftOut, f.broken || other.broken
}

// folders returns where the folders of runs are: beside the embedded history, even if the history is in a cluster.
func (h histories) folders() record.Folders {
	folder := filepath.Join(filepath.Dir(h.History), "runs")
	// absolute, because the program that starts fio may change the working directory
	if absolute, err := filepath.Abs(folder); err == nil {
		folder = absolute
	}
	return record.Folders(folder)
}

// finish stores the run of a fio that has ended, and removes its entry. isCut reports that fio was killed, so that
// the run is not complete. After an error the entry stays, and the next run, ingest or follow tries again. If there is nothing to
// store, the caller decides what happens to the entry: see [env.leave].
func (e *env) finish(ctx context.Context, to ingest.Target, rules []slo.Rule, entry *record.Entry, isCut bool) (f finished, err error) {
	defer func() {
		switch {
		case err != nil:
			err = errors.Join(fmt.Errorf("%w; fio2es ingest %s stores the run", err, shortHome(entry.Folder)), entry.Postpone(err))
		case len(f.runs) > 0:
			f.folders = []string{entry.Folder}
			err = entry.Done()
		}
	}()
	archive, err := pipeline.Open(ctx, []string{entry.Folder}, nil, nil)
	if err != nil {
		return f, err
	}
	defer archive.Close()
	archive.SetHost(entry.Host)
	f.leftOut = e.logProblems(archive)
	for _, run := range archive.Runs {
		if isCut {
			run.Cut = "fio was killed before its last report: the run is not complete"
		}
	}
	opt := e.options()
	opt.Labels = entry.Labels
	result, err := ingest.Runs(ctx, to, archive.Runs, ingest.Options{Pipeline: opt, Log: e.log})
	if err != nil {
		return f, err
	}
	f.leftOut = f.leftOut || result.LeftOut
	for _, run := range result.Runs() {
		if entry.Note != "" {
			if run, err = to.Store.Annotate(ctx, run.Run.ID, mapping.Annotation{Note: &entry.Note}); err != nil {
				return f, err
			}
		}
		f.runs = append(f.runs, run)
		broken, unknown, err := follow.Check(ctx, to.Store, run.Run.ID, rules, e.log)
		if err != nil {
			return f, err
		}
		f.leftOut, f.broken = f.leftOut || unknown, f.broken || broken
	}
	return f, nil
}

// interrupted calls do with the entry of each run whose command was killed before it stored the run in this history.
func (e *env) interrupted(do func(*record.Entry) error) error {
	paths, err := e.history().folders().Unfinished()
	for _, path := range paths {
		entry, claimed := record.Claim(path)
		switch {
		case errors.Is(claimed, record.ErrRunning):
		case claimed != nil:
			err = errors.Join(err, claimed)
		case entry.History != e.history().name():
			e.log.Debug(entry.Folder + " is for " + entry.History)
			err = errors.Join(err, entry.Release())
		default:
			err = errors.Join(err, do(entry))
		}
	}
	return err
}

// storing are the commands that store interrupted runs before they begin.
var storing = []string{"run", "ingest", "follow"}

// noteInterrupted says that runs are not stored yet, unless the command stores them.
func (e *env) noteInterrupted(command string) {
	if slices.Contains(storing, command) {
		return
	}
	err := e.interrupted(func(entry *record.Entry) error {
		e.log.Info(fmt.Sprintf("note: the run in %s is not stored yet: fio2es ingest %[1]s stores it", shortHome(entry.Folder)))
		return entry.Release()
	})
	if err != nil {
		e.log.Debug("interrupted runs: " + err.Error()) // for example without write access, and so no business of this user
	}
}

// finishInterrupted stores the runs of earlier commands that were killed before they could do so. It warns about
// runs that cannot be stored, and does not fail because of them.
func (e *env) finishInterrupted(ctx context.Context) error {
	err := e.interrupted(func(entry *record.Entry) error { return e.finishOne(ctx, entry) })
	if err != nil {
		for _, line := range errorLines(err) {
			e.log.Warn("an earlier run is not stored: " + line)
		}
	}
	return ctx.Err()
}

func (e *env) finishOne(ctx context.Context, entry *record.Entry) error {
	to, err := e.history().target(ctx, nil)
	if err != nil {
		return errors.Join(err, entry.Release())
	}
	why := entry.Failed
	if why == "" {
		why = "fio2es was killed while fio ran"
		entry.Note = strings.TrimSpace(entry.Note + "\n" + why + ", and how fio ended is not known")
	}
	f, err := e.finish(ctx, to, nil, entry, entry.IsCut())
	if _, err = closed(to.Store, err); err != nil {
		return err
	}
	if len(f.runs) == 0 {
		e.log.Info(fmt.Sprintf("note: nothing to store of an earlier run (%s): %s, and there is no report", strings.Join(entry.Command, " "), why))
		return e.leave(entry, false)
	}
	for _, run := range f.runs {
		e.log.Info(fmt.Sprintf("note: stored %s (%s), which was not stored before: %s; fio's output is %s", facts.Title(run),
			facts.ShortID(run.Run.ID), why, shortHome(entry.Report())))
	}
	return nil
}

// leave removes a run that has nothing to store. If the user does not have fio's output yet, the output stays.
func (e *env) leave(entry *record.Entry, hasOutput bool) error {
	if !hasOutput && entry.HasOutput() {
		e.log.Info("note: what fio wrote is in " + shortHome(entry.Report()))
		return entry.Done()
	}
	if err := entry.Discard(); !errors.Is(err, record.ErrRunning) {
		return err
	}
	e.log.Info(fmt.Sprintf("note: fio was killed, but its jobs continue: when they have ended, fio2es ingest %s stores what they logged",
		shortHome(entry.Folder)))
	return nil
}

// printFinished prints the rows of runs, where they are stored, and what to run next.
func (r *running) printFinished(f *finished) error {
	runs := f.runs
	if len(runs) == 0 {
		return nil
	}
	if err := r.printRows(runs); err != nil {
		return err
	}
	for _, address := range kibanaAddresses(&r.cfg, runs) {
		term.Line(r.stderr, "kibana:  %s", address)
	}
	var ids []string
	for _, run := range runs {
		ids = append(ids, facts.ShortID(run.Run.ID))
	}
	fmt.Fprintln(r.stderr)
	term.Line(r.stderr, "history: %s", r.history().name())
	for _, folder := range f.folders {
		term.Line(r.stderr, "files:   %s, %s", shortHome(folder), unit.Bytes(record.Size(folder)))
	}
	next := []string{"fio2es percentiles " + ids[0], "fio2es heatmap " + ids[0]}
	if len(ids) > 1 {
		next = []string{"fio2es compare " + strings.Join(ids, ",") + " OTHER", "fio2es runs " + strings.Join(ids, " ")}
	}
	fmt.Fprintf(r.stderr, "next:    %s\n", strings.Join(next, "\n         "))
	return nil
}

// kibanaAddresses returns the dashboards of runs, if the settings name a Kibana.
func kibanaAddresses(cfg *config.Config, runs []*mapping.Run) (list []string) {
	bundle, err := kibana.New(kibana.Options{Prefix: cfg.Prefix, Space: cfg.Kibana.Space})
	if cfg.Kibana.URL == "" || !cfg.Elasticsearch.Enabled() || err != nil { // fio2es setup reports such an error
		return nil
	}
	for _, run := range runs {
		list = append(list, bundle.RunAddress(cfg.Kibana.Name(), &run.Run))
	}
	return list
}

// printRows prints the rows of runs that have just ended.
func (e *env) printRows(runs []*mapping.Run) error {
	to := e.stderr
	if f := e.terminal(); f != nil {
		to = term.NewScreen(f, e.errors)
	}
	columns, _, err := where.Columns([]string{"run", "name", "requests", "iops", "bandwidth", "p50", "p99", "p99_9", "max", "recovered", "missing", "state"})
	if err != nil {
		return err
	}
	fmt.Fprintln(to)
	return writeRuns(to, runs, columns, table.Text)
}
