package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/unit"
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
and the next fio2es command that opens the history stores the run. Folders of runs are
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
