package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// exportFormats are the values of --as.
var exportFormats = []string{"hdrlog", "openmetrics", "csv", table.CSVExact, "json"}

// exportOptions is which format is written, and how.
type exportOptions struct {
	as      string
	windows bool // points over time in OpenMetrics
	buckets export.Buckets
}

func (a *app) exportCommand() *cobra.Command {
	q, how := &query.Query{}, &exportOptions{}
	output, buckets := "", "1-2-5"
	cmd := &cobra.Command{
		Use:   "export X... --as FORMAT",
		Short: "Histograms of runs, window by window, for other tools",
		Long: `Writes the histograms of runs in a format of other tools. X is a path, as for ingest
(nothing is stored), or a run in the history: its id, the beginning of it, or "latest".
--from, --to, --direction, --host and --job choose windows as for rank; --levels host or
job gives each host or job a series of its own. Counts are whole and exact in all formats.

hdrlog       interval log of HdrHistogram 1.3, in nanoseconds, a tag for each direction; of
             one run. Values are the middles of bins, to less than 0.1 % or 1 ns
openmetrics  fio_latency_seconds, a histogram for each direction. The bounds of its buckets
             are those of fio's bins next to the --buckets that are wanted, so that each
             count is exact; _sum comes from the middles of bins. A point for the whole run
             at its end; with --windows a counter over time, for promtool tsdb create-blocks-from.
             The label run_id distinguishes runs of one name and archive
csv          a line for each window and bin that has requests: its edges, low_ns (in the bin)
             and high_ns (above it; empty for the last bin, which has no end), and the count
json         the same, an object a line for each window, with arrays

Take percentiles from fio2es, because it knows the bins. "go doc ./internal/export" lists
the source of each format, and what it loses.`,
		Example: `  fio2es export latest --as hdrlog -o run.hlog
  fio2es export latest --as openmetrics --windows -o run.om
  fio2es export results/ --as csv --levels host --from 09:12 --to 09:46`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := how.parse(buckets, cmd.Flags().Changed("buckets"))
			if err == nil {
				err = q.Check()
			}
			if err == nil && cmd.Flags().Changed("levels") {
				q.Levels, err = parseLevel(a.cfg.Levels, q.Level())
			}
			if err != nil {
				return err
			}
			r := &reading{app: a}
			if output == "" || output == "-" {
				_, err := r.export(cmd.Context(), args, q, how, a.stdout)
				return r.end(err)
			}
			return r.end(replaceFile(output, func(w io.Writer) (bool, error) { return r.export(cmd.Context(), args, q, how, w) }))
		},
	}
	addReadingFlags(cmd.Flags())
	addLevelsFlag(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	levels := fl.Lookup("levels")
	levels.Usage, levels.DefValue = "series of the cluster, or of each host or job (default: follows from --host and --job)", "[]"
	fl.StringVar(&how.as, "as", "", "hdrlog, openmetrics, csv, csv-exact or json")
	addQueryFlags(fl, q)
	fl.StringVarP(&output, "output", "o", "", "write to this file; - is stdout")
	fl.BoolVar(&how.windows, "windows", false, "openmetrics: a point for each window")
	fl.StringVar(&buckets, "buckets", buckets, "openmetrics: the steps from 1us to 10s; all, every bin; or latencies, such as 100us,1ms,10ms")
	return cmd
}

// parse checks the options; buckets is what was written, if it was.
func (how *exportOptions) parse(buckets string, written bool) error {
	switch {
	case how.as == "":
		return usagef("--as: want hdrlog, openmetrics, csv, csv-exact or json")
	case !slices.Contains(exportFormats, how.as):
		return usagef("--as %s: want hdrlog, openmetrics, csv, csv-exact or json", how.as)
	case how.as != "openmetrics" && how.windows:
		return usagef("--windows is for --as openmetrics: others have windows anyway")
	case how.as != "openmetrics" && written:
		return usagef("--buckets is for --as openmetrics: others have all bins")
	}
	var err error
	if how.buckets, err = export.ParseBuckets(buckets); err != nil {
		return usagef("--buckets %w", err)
	}
	return nil
}

// parseLevel reads the one level that the user named; least is the one that --host and --job imply.
func parseLevel(names []string, least mapping.Level) ([]mapping.Level, error) {
	if len(names) != 1 {
		return nil, usagef("--levels %s: want one of cluster, host, job: each has all requests", strings.Join(names, ","))
	}
	level, err := mapping.ParseLevel(names[0])
	if err != nil {
		return nil, usagef("--levels %s: want cluster, host or job", names[0])
	}
	if level < least {
		return nil, usagef("--levels %s: --host and --job choose among documents of level %s", level, least)
	}
	return []mapping.Level{level}, nil
}

// writer makes what writes the format.
func (how *exportOptions) writer(w io.Writer) export.Writer {
	switch how.as {
	case "hdrlog":
		return export.NewHDRLog(w)
	case "openmetrics":
		return export.NewOpenMetrics(w, export.OpenMetricsOptions{Windows: how.windows, Buckets: how.buckets})
	case "json":
		return export.NewJSON(w)
	}
	return export.NewCSV(w, how.as == table.CSVExact)
}

// export writes all runs that args name to w. It reports whether that came to its end, also where
// an error names the runs without matching windows.
func (r *reading) export(ctx context.Context, args []string, q *query.Query, how *exportOptions, w io.Writer) (done bool, err error) {
	q.Totals = how.as == "openmetrics" && !how.windows && q.WantsAll() && q.Level() == mapping.Cluster
	out := &exportWriter{to: how.writer(w), query: q, how: how}
	parts := query.Group(args, query.IsPath)
	if out.alike, err = r.runsAlike(ctx, parts); err != nil {
		return false, err
	}
	for _, part := range parts {
		err := r.runs(ctx, part, func(run *query.Run, many bool) error { return out.run(ctx, r, run, many) })
		if err != nil {
			return false, err
		}
	}
	if out.runs > 0 {
		if err := out.to.Close(); err != nil {
			return false, err
		}
	}
	if err := errors.Join(out.empty...); err != nil {
		return out.runs > 0, err
	}
	return true, nil
}

// runsAlike are the ids of the runs in the history among the parts that have the same name and
// archive as another of them: one job that ran twice in one place.
func (r *reading) runsAlike(ctx context.Context, parts [][]string) (map[string]bool, error) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(part []string) bool { return query.IsPath(part[0]) })
	if len(parts) < 2 {
		return nil, nil
	}
	type place struct{ archive, name string }
	first, alike := map[place]string{}, map[string]bool{}
	for _, part := range parts {
		run, err := r.lookUp(ctx, part[0])
		if err != nil {
			return nil, err
		}
		info := &run.Stored.Run
		at := place{info.Archive, info.Name}
		if have := first[at]; have == "" {
			first[at] = info.ID
		} else if have != info.ID {
			alike[have], alike[info.ID] = true, true
		}
	}
	return alike, nil
}
