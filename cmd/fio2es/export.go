package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

type exportCall struct {
	query.Query
	as      string
	windows bool // points over time in OpenMetrics
	buckets export.Buckets
}

func exportCommand(e *env) *cobra.Command {
	x := &exportCall{}
	output, buckets := "", "1-2-5"
	cmd := &cobra.Command{
		Use:   "export X... --as FORMAT",
		Short: "Histograms of runs, window by window, for other tools",
		Long: `Writes the histograms of runs in a format of other tools.

` + chooseHelp + `

--from, --to, --direction, --host and --job choose windows as for rank; --levels host or
job gives each host or job a series of its own. Counts are whole and exact in all formats.

hdrlog       interval log of HdrHistogram 1.3, in nanoseconds, a tag for each
             direction; of one run. Values are the middles of bins, to less than
             0.1 % or 1 ns
openmetrics  fio_latency_seconds, a histogram for each direction. The bounds of
             its buckets are those of fio's bins next to the --buckets that are
             wanted, so that each count is exact; _sum comes from the middles of
             bins. A point for the whole run at its end; with --windows a
             counter over time, for promtool tsdb create-blocks-from. The label
             run_id distinguishes runs of one name and archive
ddsketch     an object a line for each window, as in json, with sketch_ns, the
             protobuf in base64 of a DDSketch of nanoseconds, accurate to
             0.1 %: the values are the middles of bins
csv          a line for each window and bin that has requests: its edges, low_ns
             (in the bin) and high_ns (above it; empty for the last bin, which
             has no end), the count, and the layout of the bins
json         the same, an object a line for each window, with arrays

Commands that take X read hdrlog, csv and json again, also those of other programs
(HdrHistogram of version 2; of CSV and JSON the columns named here). Their times, hosts,
jobs and directions are those of the file. A tag of another program is a job, and also a
direction if all tags are read, write or trim; else --direction read says that all requests
are reads. A log that does not say in which unit its values are needs --values-in. Bins come
into the bins of fio that they lie in; where they overlap several, each gets whole requests
in proportion, so that an answer may be off by the bin of the file and the bins of fio at its
ends.

Take percentiles from fio2es, because it knows the bins. "go doc ./internal/export" lists
the source of each format, and what it loses.`,
		Example: `  fio2es export latest --as hdrlog -o run.hlog
  fio2es export latest --as openmetrics --windows -o run.om
  fio2es export results/ --as csv --levels host --from 09:12 --to 09:46`,
		Args: someRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := x.parse(buckets, cmd.Flags().Changed("buckets"))
			if err == nil {
				err = x.Check()
			}
			if err == nil && cmd.Flags().Changed("levels") {
				err = x.setLevels(e)
			}
			if err != nil {
				return err
			}
			x.Totals = x.as == "openmetrics" && !x.windows && x.WantsAll() && x.Level() == mapping.Cluster
			return e.writeOutput(output, func(w io.Writer) error { return x.export(cmd.Context(), &runReader{env: e}, args, w) })
		},
	}
	fl := cmd.Flags()
	addAnswerFlags(fl, &x.Query)
	addSettings(fl, "levels")
	levels := fl.Lookup("levels")
	levels.Usage, levels.DefValue = "series of the cluster, or of each host or job: `levels` (default: follows from --host and --job)", "[]"
	addChoice(fl, &x.as, "as", "`format`: hdrlog, openmetrics, ddsketch, csv or json", export.Formats)
	fl.StringVarP(&output, "output", "o", "", "write to this `file`; - is stdout")
	fl.BoolVar(&x.windows, "windows", false, "openmetrics: a point for each window")
	fl.StringVar(&buckets, "buckets", buckets, "`buckets` of openmetrics: the steps from 1us to 10s; all, every bin; or latencies, such as 100us,1ms,10ms")
	return cmd
}

// parse checks the options. buckets is the text of --buckets; written reports whether the user gave it.
func (x *exportCall) parse(buckets string, written bool) error {
	switch {
	case x.as == "":
		return usagef("--as: want hdrlog, openmetrics, ddsketch, csv or json")
	case x.as != "openmetrics" && x.windows:
		return usagef("--windows is for --as openmetrics: others have windows anyway")
	case x.as != "openmetrics" && written:
		return usagef("--buckets is for --as openmetrics: others have all bins")
	}
	var err error
	if x.buckets, err = export.ParseBuckets(buckets); err != nil {
		return usagef("--buckets %w", err)
	}
	return nil
}

// setLevels sets the one level that the user named.
func (x *exportCall) setLevels(e *env) error {
	if levels := e.options().Levels; len(levels) != 1 || levels[0] == mapping.Section { // a section is a run in all formats: --by section
		return usagef("--levels %s: want one of cluster, host, job, each of which has all requests; sections are answered with --by section", strings.Join(e.cfg.Levels, ","))
	}
	return setLevels(&x.Query, e)
}

// export writes all runs that args name to w.
func (x *exportCall) export(ctx context.Context, r *runReader, args []string, w io.Writer) error {
	var windows *export.Ordered
	only := ""
	if x.as == "hdrlog" {
		only = export.ErrOneRun.Error()
	}
	return r.answer(ctx, args, &x.Query, answer{
		only: only,
		chosen: func(stored []*mapping.Run) {
			windows = export.NewOrdered(export.New(x.as, w, export.OpenMetricsOptions{Windows: x.windows, Buckets: x.buckets}), stored)
		},
		begin:  func(*query.Run) error { windows.Begin(); return nil },
		window: func(one *window.Window) error { return windows.Add(one) },
		end: func(run *query.Run, doc *mapping.Run) error {
			hasRequests, err := windows.End()
			if !hasRequests {
				return run.NoMatch(doc)
			}
			return err
		},
		close: func(err error) error {
			if err != nil && x.as == "openmetrics" {
				return nil // without the mark of its end, because it is not complete
			}
			return windows.Close()
		},
	})
}
