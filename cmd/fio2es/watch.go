package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/follow"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/live"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func watchCommand(e *env) *cobra.Command {
	every, format, quiet := 2*time.Second, table.Text, false
	cmd := &cobra.Command{
		Use: "watch [RUN]", SuggestFor: []string{"top"},
		Short: "Watch a run while it is stored",
		Long: `Shows a run while "run" or "follow" stores it, here or on another machine: RUN, or the
newest live run of the history, which it waits for. A terminal shows the live view of "run". Without a terminal,
and with --quiet, stdout has a line for each window, as with "follow". It continues with the next
stage of the same fio. When the last one is over, it prints the rows of all stages and ends.
Of a run of several hosts it says which are silent. Ctrl-C ends it before. Rules, from --rule or the settings (see sla), are checked as by
"follow", for the whole run on all its hosts (docs/live.md).`,
		Example: `  fio2es watch
  fio2es watch --elasticsearch https://es:9200 4f1d2c3a
  fio2es watch --format json | jq .p99_us`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if every < leastEvery {
				return usagef("--every %v: want at least %v", every, leastEvery)
			}
			rules, err := e.rules()
			if err != nil {
				return err
			}
			open := e.openHistory
			if len(args) == 0 {
				open = e.openWaiting
			}
			store, err := open(cmd.Context())
			if err != nil {
				return err
			}
			defer store.Close()
			run, err := runToWatch(cmd.Context(), e, store, args, every)
			if err != nil || run == nil {
				return err
			}
			line := windowLines(e.stdout, format)
			show := func(run *mapping.Run, w *window.Window) error {
				if run.Placed == mapping.PlacedByJob {
					w = w.WithoutClock()
				}
				return line(w)
			}
			closeScreen, log := func() {}, e.log
			if !quiet && !cmd.Flags().Changed("format") && e.canShow() {
				view := live.New(rules)
				stageOf := func(run *mapping.Run) live.Stage {
					s := live.Stage{Title: facts.ShortID(run.Run.ID) + "  " + facts.Title(run), Length: runtimeOf(run)}
					if run.Run.Stage == run.Run.Stages {
						s.ToEnd = s.Length
					}
					return s
				}
				view.Title, view.Every = stageOf(run).Title, every
				screen := live.NewScreen(terminalOf(e.errors), e.stderr, view)
				closeScreen, log = screen.Close, slog.New(term.NewLogHandler(screen, slog.LevelInfo, nil))
				show = func(run *mapping.Run, w *window.Window) error {
					w.Run = &run.Run // windows of a history do not have the stage
					return screen.Window(w, stageOf(run))
				}
			}
			to := e.alerts(log)
			defer to.Close()
			checked := to.Watch(rules, hostOf(run), log)
			run, err = follow.Watch(cmd.Context(), store, run.Run.ID, every, log, func(run *mapping.Run, w *window.Window) error {
				whole := *w // windows of a history have neither its names nor when fio expects to end
				whole.Run, whole.Planned = &run.Run, plannedEnd(run)
				return errors.Join(show(run, w), checked.Window(&whole))
			})
			checked.End(err == nil)
			closeScreen()                   // or what is printed next would go with it
			if cmd.Context().Err() != nil { // the user ended it
				return nil
			}
			if err != nil {
				return err
			}
			runs := []*mapping.Run{run}
			if run.Run.Stages > 1 {
				if runs, err = stagesOf(cmd.Context(), store, run); err != nil {
					return err
				}
			}
			return e.printRows(runs)
		},
	}
	fl := cmd.Flags()
	addSettings(fl, "cluster", "rule")
	fl.Var((*expr.DurationFlag)(&every), "every", "`time` between two looks into the history")
	fl.BoolVar(&quiet, "quiet", false, "print lines in place of the live view")
	addChoice(fl, &format, "format", "of the lines: table, csv, or json (an object a line)", []string{table.Text, table.CSV, table.JSON})
	return cmd
}

// runtimeOf returns the most time that fio takes for a run, or 0 if that is not known.
func runtimeOf(run *mapping.Run) time.Duration {
	if run.CBT.RunSeconds > 0 {
		return time.Duration(run.CBT.RunSeconds) * time.Second
	}
	return fioargs.Option{Name: "runtime", Value: run.Fio.Options["runtime"]}.Time()
}

// plannedEnd returns when the last host of a run should end. It is zero if that is not known.
func plannedEnd(run *mapping.Run) (end time.Time) {
	length := runtimeOf(run)
	if length == 0 {
		return end
	}
	end = run.Run.Start.Add(length)
	for _, h := range run.Hosts {
		if own := h.Start.Add(length); own.After(end) {
			end = own
		}
	}
	return end
}

// hostOf returns the name of the host of a run, or nothing if it has several.
func hostOf(run *mapping.Run) string {
	if len(run.Hosts) == 1 {
		return run.Hosts[0].Name
	}
	return ""
}

// stagesOf returns the stages of the execution that a run is a stage of, in the order of time.
func stagesOf(ctx context.Context, store history.Store, run *mapping.Run) ([]*mapping.Run, error) {
	s, err := query.ParseSelector(query.OfExecution+run.Run.ID, time.Time{})
	if err != nil {
		return nil, err
	}
	all, err := query.Choose(ctx, store, history.RunFilter{}, s)
	if err != nil {
		return nil, err
	}
	return all.Runs, nil
}

// runToWatch returns the run that the user named, or the newest live one, which it waits for. It returns nil if the user ended
// that.
func runToWatch(ctx context.Context, e *env, store history.Store, args []string, every time.Duration) (*mapping.Run, error) {
	if len(args) > 0 {
		return query.Find(ctx, store, args[0])
	}
	live, err := where.Parse("live", time.Now())
	if err != nil {
		return nil, err
	}
	for waits := false; ; waits = true {
		runs, err := e.readRuns(ctx, store, query.Watch(history.RunFilter{Where: live, Limit: 1, Light: true}))
		switch {
		case ctx.Err() != nil:
			return nil, nil
		case err != nil:
			return nil, err
		case len(runs) > 0:
			return store.Run(ctx, runs[0].Run.ID)
		case !waits:
			e.log.Info("no live run in " + e.historyName() + " yet: waiting for one of fio2es run or fio2es follow (Ctrl-C ends)")
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
		}
	}
}
