package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/term"
)

func reportCommand(e *env) *cobra.Command {
	q, output := &query.Query{}, ""
	cmd := &cobra.Command{
		Use: "report X...", SuggestFor: []string{"html"},
		Short: "One HTML page of runs, to attach to a ticket",
		Long: `Writes an HTML page of one or several runs. It has numbers with the bounds of their
error, percentiles and IOPS over time, a heat map, the distribution of latencies, hosts,
facts about the run, and how the numbers were made. The page is one file that needs neither a
network nor fio2es, so it can be mailed, printed and archived. It contains the names of
hosts and the run's configuration, as the history does.

` + chooseHelp + `
Logs given by name are merged. A page of several runs has a
summary and draws their distributions over one another. Each run is compared with the
first, as by compare, if mode, sizes, depths, weighting, windows and bins are the same.
Of the stages of one call of fio a table comes first. They are not compared with one
another, but with those of the same name of a further call.

More than 600 windows are joined in charts over time: the lines are percentiles of merged
histograms, and a shade reaches up to the worst window. --from, --to and --direction
choose requests as for rank. The same runs give the same page, byte for byte.`,
		Example: `  fio2es report latest
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
			r := &runReader{env: e}
			return r.end(r.report(cmd.Context(), args, q, output))
		},
	}
	fl := cmd.Flags()
	addReportFlags(fl, q)
	fl.StringVarP(&output, "output", "o", "", "write the page into this `file`; - is stdout (default: on a terminal, a new file in this folder, which stderr names; else stdout)")
	return cmd
}

// report writes the page of all runs that args name. Neighbouring logs are merged. Other arguments are read one by
// one, so that runs are in the order of the arguments.
func (r *runReader) report(ctx context.Context, args []string, q *query.Query, output string) error {
	page := report.New(report.Options{Program: generator(), Query: *q})
	inputs, err := r.choose(ctx, args, query.IsFile)
	if err != nil {
		return err
	}
	for _, c := range inputs {
		err := r.each(ctx, []input{c}, func(run *query.Run) error {
			name := "" // what messages call the run
			if run.Stored != nil {
				name = facts.ShortID(run.Stored.Run.ID)
			} else {
				name = c.paths[0]
			}
			doc, err := page.Add(ctx, run, name, !run.IsAlone || len(inputs) > 1)
			r.logRun(run)
			if doc != nil {
				r.logNoWindows(run, doc)
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
	screen, _ := r.stdout.(*term.Screen)
	if output != "" || screen == nil {
		return errors.Join(page.Empty(), r.writeOutput(output, page.Write))
	}
	output = newPageName(inputs)
	if err = r.writeOutput(output, page.Write); err == nil {
		r.log.Info("the page is in " + output)
	}
	return errors.Join(page.Empty(), err)
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
