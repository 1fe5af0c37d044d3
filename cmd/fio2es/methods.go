package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/methods"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

func methodsCommand(e *env) *cobra.Command {
	m := &methodsCall{env: e, format: table.Text, bins: methods.LogBins{PerDecade: 100, Lowest: 100 * time.Nanosecond, Highest: 100 * time.Second}}
	cmd := &cobra.Command{
		Use:   "methods PATH...",
		Short: "How exact ways to get percentiles are, against every completion",
		Long: `Compares ways to get percentiles of latency with the exact ones, in each window and for
the whole run: means of the percentiles of jobs, log-spaced bins, fio's bins, HdrHistogram,
DDSketch, t-digest, and fio2es itself.

The run needs logs of all completions beside its histogram logs. fio writes both with

  write_lat_log=NAME write_hist_log=NAME log_hist_msec=1000 (no log_avg_msec)

Exact percentiles are those of numpy.percentile for the requests that completed in a
window; in flight, for those that were in flight in it, by the share of their life that
they spent there (setting inflight: long or all). Each method is compared with the exact
percentiles that count in the same way, and "exact, in flight" with "exact".

MEDIAN, 95TH and WORST are of the sizes of errors in windows, BIAS is the mean of errors,
and RUN the error for the whole run (of the worst direction), all in percent of the exact
latency. Windows of fio2es follow the rows of its logs. KEPT is what must be stored for all
windows, and TIME what these take to compute; for fio2es, with reading the logs.

--output draws the errors as an SVG file.`,
		Example: `  fio2es methods results/
  fio2es methods results/ --percentiles p99 --bins-per-decade 20
  fio2es methods results/ -o methods.svg`,
		Args: arguments(1, many),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := m.check(args); err != nil {
				return err
			}
			return m.compare(cmd.Context(), args)
		},
	}
	fl := cmd.Flags()
	addSettings(fl, "reading")
	addOneRunFlag(fl)
	addChoice(fl, &m.format, "format", tableUsage, table.Formats)
	fl.StringSliceVar(&m.names, "percentiles", []string{"p50", "p95", "p99", "p99.9"}, "`percentiles` to compare")
	fl.IntVar(&m.bins.PerDecade, "bins-per-decade", m.bins.PerDecade, "log-spaced `bins` for each power of ten")
	fl.DurationVar(&m.bins.Lowest, "lowest", m.bins.Lowest, "`latency` where log-spaced bins begin")
	fl.DurationVar(&m.bins.Highest, "highest", m.bins.Highest, "`latency` where log-spaced bins end")
	fl.StringVarP(&m.output, "output", "o", "", "draw SVG into this `file`; - is stdout")
	return cmd
}

// methodsCall compares ways to get percentiles of one run.
type methodsCall struct {
	*env
	format, output string
	names          []string
	bins           methods.LogBins
	percentiles    []mapping.Percentile

	isRead bool // the run was read before, and its messages were said
}

func (m *methodsCall) check(args []string) error {
	for _, name := range m.names {
		i := slices.IndexFunc(mapping.Percentiles[:], func(p mapping.Percentile) bool { return strings.EqualFold(name, p.Name) })
		if i < 0 {
			var all []string
			for _, p := range mapping.Percentiles {
				all = append(all, p.Name)
			}
			return usagef("--percentiles %s: want some of %s", name, strings.Join(all, ", "))
		}
		m.percentiles = append(m.percentiles, mapping.Percentiles[i])
	}
	const most = 10_000
	switch {
	case m.bins.PerDecade < 1 || m.bins.PerDecade > most:
		return usagef("--bins-per-decade %d: want 1 to %d", m.bins.PerDecade, most)
	case m.bins.Lowest <= 0 || m.bins.Highest <= m.bins.Lowest:
		return usagef("--lowest %v --highest %v: want a latency above 0, and a higher one", m.bins.Lowest, m.bins.Highest)
	case m.cfg.Interval == config.Auto:
		return usagef("methods has windows of one length: --interval cannot be auto")
	case m.output != "" && m.flags.Changed("format"):
		return usagef("--output makes a picture, and --format %s a table: leave one out", m.format)
	case m.output != "" && m.output != "-" && !strings.HasSuffix(strings.ToLower(m.output), ".svg"):
		return usagef("--output %s: want a name that ends in .svg", m.output)
	case m.flags.Changed("weighting"):
		return usagef("--weighting %s: methods compares both: leave it out", m.cfg.Weighting)
	case slices.Contains(args, "-"):
		return usagef("methods reads its files several times, and stdin can be read once: name files")
	}
	return nil
}

// compare reads the run three times: its histograms, counted in flight and where requests completed, and its completions, in
// flight, too, so that the budget covers how often they are counted.
func (m *methodsCall) compare(ctx context.Context, args []string) error {
	c := &methods.Comparison{Options: methods.Options{Percentiles: m.percentiles, SpreadAll: m.cfg.InFlight == "all", Log: m.bins}}
	var title string
	begins := map[assign.JobKey]int64{} // of jobs, minus the times in their logs that count as these
	err := m.read(ctx, args, assign.FromHist, "inflight", func(r *reading) error {
		stage := r.run.Stage()
		title, c.Window, c.Shift = r.run.Name, stage.Plan().Window, stage.Plan().Shift
		c.AddOurs(true, r.windows, r.doc, r.took)
		for _, j := range stage.Plan().Jobs {
			begins[j.JobKey] = j.Offset - j.Origin
		}
		return nil
	})
	if err == nil {
		err = m.read(ctx, args, assign.FromHist, "completion", func(r *reading) error {
			c.AddOurs(false, r.windows, r.doc, r.took)
			return nil
		})
	}
	if err == nil {
		m.cfg.Interval = (time.Duration(c.Window) * time.Millisecond).String()
		err = m.read(ctx, args, assign.FromRaw, "inflight", func(r *reading) error {
			jobs := r.run.Stage().Plan().Jobs
			return r.run.Stage().Records(ctx, func(j *plan.Job, rec *fiolog.Record) error {
				c.Add(int(rec.Direction), slices.Index(jobs, j), rec.Time+begins[j.JobKey], rec.Value*plan.Nanoseconds(j.Unit))
				return nil
			})
		})
	}
	if err != nil {
		return err
	}
	rows, err := c.Compare(ctx)
	if err == nil {
		err = m.write(rows, title)
	}
	return err
}

type reading struct {
	run     *query.Run
	doc     *mapping.Run
	windows []*window.Window
	took    time.Duration
}

// read reads the run from one kind of logs, all of whose jobs must have one.
func (m *methodsCall) read(ctx context.Context, args []string, source assign.Source, weighting string, done func(*reading) error) error {
	m.cfg.Weighting, m.cfg.Source = weighting, string(pipeline.SourceHist)
	if source == assign.FromRaw {
		m.cfg.Source = string(pipeline.SourceRaw)
	}
	var r reading
	var began time.Time
	isDone := false
	err := (&runReader{env: m.env}).answer(ctx, args, &query.Query{}, answer{
		only: "methods compares one run",
		begin: func(run *query.Run) error {
			r, began = reading{run: run}, time.Now()
			if run.Stage() == nil {
				return usagef("%s is a run of the history, which has no completions: name the path of its logs", run.Name)
			}
			return lacksLogs(run.Stage().Planned().Plan, source)
		},
		window: func(w *window.Window) error { r.windows = append(r.windows, w); return nil },
		end: func(_ *query.Run, doc *mapping.Run) error {
			r.doc, r.took = doc, time.Since(began)
			isDone = true
			return done(&r)
		},
		hasNotes: m.isRead, hasWarnings: m.isRead && source == assign.FromHist,
	})
	m.isRead = true
	if err == nil && !isDone {
		err = errLeftOut
	}
	return err
}

// lacksLogs returns an error if the rows of a job are not read from a kind of logs. A nil plan cannot be read at all.
func lacksLogs(p *plan.Plan, source assign.Source) error {
	if p == nil {
		return nil
	}
	how := "run fio with write_hist_log=NAME and log_hist_msec=1000"
	if source == assign.FromRaw {
		how = "run fio with write_lat_log=NAME and without log_avg_msec"
	}
	for _, j := range p.Jobs {
		if j.Source != source {
			name := "job " + j.Name()
			if j.Host != "" {
				name += " of " + j.Host
			}
			return query.RunError{Err: fmt.Errorf("%s has no log of %s (it is read from %s): methods needs both kinds: %s", name,
				map[assign.Source]string{assign.FromHist: "histograms", assign.FromRaw: "all completions"}[source], j.Source, how)}
		}
	}
	return nil
}

// write writes a table for each percentile, or the picture.
func (m *methodsCall) write(rows []*methods.Row, title string) error {
	if m.output != "" {
		return m.writeOutput(m.output, func(w io.Writer) error { return methods.WriteSVG(w, title, rows) })
	}
	to := table.NewNarrow(m.stdout, m.format, methods.Columns(), nil, []string{"TIME", "95TH", "WINDOWS"})
	for _, p := range m.percentiles {
		to.Begin(fmt.Sprintf("%s of %s: errors in percent of the exact latency", p.Name, title))
		for _, r := range rows {
			if r.Percentile.Name == p.Name {
				if err := to.Write(r); err != nil {
					return err
				}
			}
		}
		if err := to.End(); err != nil {
			return err
		}
	}
	return nil
}
