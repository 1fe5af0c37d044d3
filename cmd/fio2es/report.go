package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/mapping"
)

func reportCommand(e *env) *cobra.Command {
	q, output, baseline := &query.Query{}, "", ""
	cmd := &cobra.Command{
		Use: "report X...", SuggestFor: []string{"html"},
		Short: "One HTML page of runs, to attach to a ticket",
		Long: `Writes an HTML page of one or several runs. It has numbers with the bounds of their
error, percentiles and IOPS over time, a heat map, the distribution of latencies, hosts,
facts about the run, and how the numbers were made. The page is one file that needs neither a
network nor fio2es, so it can be mailed, printed and archived. It contains the names of
hosts and the run's configuration, as the history does.

` + chooseHelp + `
Logs given by name are merged. Of the stages of one call of fio a table comes first. Two
runs that are named one by one, or have the same settings, are compared, as by compare.

A page of many tests, such as an archive of CBT, is short: for each workload the best
throughput with its latency, latencies over IOPS, what changed, which objectives (sla) are
broken, what is missing, and all tests by depth. Changes are against the night before: the
newest earlier archive with the same workloads, in the history, also if X is a path.
Several archives have the same tables one below the other, the newest first, each against
the one before it. --against compares all with a baseline: a path, or runs in the history.

More than 600 windows are joined in charts over time: the lines are percentiles of merged
histograms, and a shade reaches up to the worst window. --from, --to and --direction
choose requests as for rank. The same runs and history give the same page, byte for byte.`,
		Example: `  fio2es report latest
  fio2es report results/nightly-2026-10-24 -o night.html
  fio2es report archive=nightly-2026-10-24 --against archive=nightly-2026-10-01
  fio2es report before/ after/ -o compared.html
  fio2es report results/ --from 09:12 --to 09:46 -o incident.html`,
		Args: someRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.Check(); err != nil {
				return err
			}
			if ext := strings.ToLower(filepath.Ext(output)); output != "" && output != "-" && ext != ".html" && ext != ".htm" {
				return usagef("--output %s: want a name that ends in .html", output)
			}
			c := &sides{runReader: &runReader{env: e}, query: *q}
			return c.end(c.report(cmd.Context(), args, baseline, output))
		},
	}
	fl := cmd.Flags()
	addReportFlags(fl, q)
	fl.StringVar(&baseline, "against", "", "compare many tests with those of a `path`, or of runs in the history: archive=nightly-2026-10-01, label.release=quincy")
	fl.StringVarP(&output, "output", "o", "", "write the page into this `file`; - is stdout (default: on a terminal, a new file in this folder, which stderr names; else stdout)")
	return cmd
}

// report writes the page of all runs that args name. Neighbouring logs are merged. Other arguments are read one by
// one, so that runs are in the order of the arguments.
func (c *sides) report(ctx context.Context, args []string, baseline, output string) error {
	inputs, err := c.choose(ctx, args, query.IsFile)
	if err != nil {
		return err
	}
	rules, err := c.rules()
	if err != nil {
		return err
	}
	isPair := len(inputs) == 2
	if selectors, _, err := parseSelectors(args); err == nil { // runs that are named one by one
		isPair = isPair || len(args) == 2 && selectors[0].IsOne() && selectors[1].IsOne()
	}
	page := report.New(report.Options{Program: generator(), Query: c.query, Rules: rules, Pair: isPair})
	for _, in := range inputs {
		err := c.each(ctx, []input{in}, func(run *query.Run) error {
			name := "" // what messages call the run
			if run.Stored != nil {
				name = facts.ShortID(run.Stored.Run.ID)
			} else {
				name = in.paths[0]
			}
			doc, err := page.Add(ctx, run, name, !run.IsAlone || len(inputs) > 1)
			c.logRun(run)
			if doc != nil {
				c.logNoWindows(run, doc)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if page.Runs() == 0 {
		return page.Empty()
	}
	switch {
	case page.IsOfNights():
		if err := c.compareNights(ctx, page, baseline); err != nil {
			return err
		}
	case baseline != "":
		return usagef("--against is for many tests, such as an archive of CBT: compare one run with fio2es compare %s %s", baseline, strings.Join(args, " "))
	}
	screen, _ := c.stdout.(*term.Screen)
	if output != "" || screen == nil {
		return errors.Join(page.Empty(), c.writeOutput(output, page.Write))
	}
	output = newPageName(inputs)
	if err = c.writeOutput(output, page.Write); err == nil {
		c.log.Info("the page is in " + output)
	}
	return errors.Join(page.Empty(), err)
}

// compareNights compares the nights of a page with the one before in the history, if there is a history, and with the baseline.
func (c *sides) compareNights(ctx context.Context, page *report.Page, baseline string) error {
	with := report.Against{Name: baseline}
	ofFiles := map[*mapping.Run]*compare.Run{} // of a baseline that is a path
	switch {
	case baseline == "":
	case query.IsPath(baseline):
		err := c.each(ctx, []input{{paths: []string{baseline}}}, func(run *query.Run) error {
			one, err := c.readRun(ctx, run.Name, run)
			if err == nil {
				with.Baseline, ofFiles[one.Document] = append(with.Baseline, one.Document), one
			}
			return err
		})
		if err != nil {
			return err
		}
	default:
		docs, err := c.chooseStored(ctx, history.RunFilter{Light: true}, []string{baseline})
		if err != nil {
			return err
		}
		with.Baseline = docs
	}
	if c.store == nil && c.hasHistory() {
		if err := c.open(ctx); err != nil { // the page is of files
			c.log.Warn("no night before: " + err.Error())
		}
	}
	if c.store != nil {
		var err error
		if with.History, err = c.readRuns(ctx, c.store, query.Watch(history.RunFilter{Light: true})); err != nil {
			return err
		}
	}
	with.Read = func(ctx context.Context, run *mapping.Run) (*compare.Run, error) {
		if one := ofFiles[run]; one != nil {
			return one, nil
		}
		return c.readStored(ctx, query.Stored(c.store, run))
	}
	return page.Compare(ctx, with)
}

// newPageName returns the name of a page's file that does not exist yet, if the user names none.
func newPageName(inputs []input) string {
	of := "fio2es-report"
	if len(inputs) == 1 && len(inputs[0].runs) == 1 {
		of = "fio2es-" + facts.ShortID(inputs[0].runs[0].Run.ID)
	} else if len(inputs) == 1 && len(inputs[0].paths) == 1 {
		if path, err := filepath.Abs(inputs[0].paths[0]); err == nil && filepath.Base(path) != "-" {
			of = "fio2es-" + filepath.Base(path)
		}
	}
	name := of + ".html"
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d.html", of, i)
	}
}

// generator names the program on pages.
func generator() string { return "fio2es " + thisBuild().String() }
