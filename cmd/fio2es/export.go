package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// exportFormats are what --as takes.
var exportFormats = []string{"hdrlog", "openmetrics", "csv", table.CSVExact, "json"}

// exportQuery is what is exported, and how.
type exportQuery struct {
	windowQuery
	as      string
	windows bool // points over time in OpenMetrics
	buckets export.Buckets
	of      mapping.Level // of the documents
}

func (a *app) exportCommand() *cobra.Command {
	q := &exportQuery{}
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
             count is exact; _sum comes from the middles of bins. Whole runs, at their end;
             with --windows a counter over time, for promtool tsdb create-blocks-from.
             The label run_id tells runs of one name and archive apart
csv          a line for each window and bin that has requests: its edges, low_ns up to, but
             without, high_ns (empty: the last bin has no upper one), and the count
json         the same, an object a line for each window, with arrays

Percentiles are best asked of fio2es: it knows the bins. "go doc ./internal/export" has each
format's source and what it cannot hold.`,
		Example: `  fio2es export latest --as hdrlog -o run.hlog
  fio2es export latest --as openmetrics --windows -o run.om
  fio2es export results/ --as csv --levels host --from 09:12 --to 09:46`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.parse(buckets, cmd.Flags().Changed("buckets")); err != nil {
				return err
			}
			q.of = q.level()
			if cmd.Flags().Changed("levels") {
				if err := q.parseLevel(a.cfg.Levels); err != nil {
					return err
				}
			}
			a.cfg.Levels = []string{q.of.String()}
			if output == "" || output == "-" {
				_, err := a.export(cmd.Context(), args, q, a.stdout)
				return err
			}
			return replaceFile(output, func(w io.Writer) (bool, error) { return a.export(cmd.Context(), args, q, w) })
		},
	}
	addReadingFlags(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	levels := fl.Lookup("levels")
	levels.Usage, levels.DefValue = "series of the cluster, or of each host or job (default: follows from --host and --job)", "[]"
	fl.StringVar(&q.as, "as", "", "hdrlog, openmetrics, csv, csv-exact or json")
	q.addFlags(fl)
	fl.StringVarP(&output, "output", "o", "", "write to this file; - is stdout")
	fl.BoolVar(&q.windows, "windows", false, "openmetrics: a point for each window")
	fl.StringVar(&buckets, "buckets", buckets, "openmetrics: the steps from 1us to 10s; all, every bin; or latencies, such as 100us,1ms,10ms")
	return cmd
}

// parse checks what is asked for; buckets is what was written, if it was.
func (q *exportQuery) parse(buckets string, written bool) error {
	switch {
	case q.as == "":
		return usagef("--as: want hdrlog, openmetrics, csv, csv-exact or json")
	case !slices.Contains(exportFormats, q.as):
		return usagef("--as %s: want hdrlog, openmetrics, csv, csv-exact or json", q.as)
	case q.as != "openmetrics" && q.windows:
		return usagef("--windows is for --as openmetrics: others have windows anyway")
	case q.as != "openmetrics" && written:
		return usagef("--buckets is for --as openmetrics: others have all bins")
	}
	var err error
	if q.buckets, err = export.ParseBuckets(buckets); err != nil {
		return usagef("--buckets %w", err)
	}
	return q.check()
}

// parseLevel takes the level that is asked for by name.
func (q *exportQuery) parseLevel(names []string) error {
	if len(names) != 1 {
		return usagef("--levels %s: want one of cluster, host, job: each holds all requests", strings.Join(names, ","))
	}
	level, err := mapping.ParseLevel(names[0])
	if err != nil {
		return usagef("--levels %s: want cluster, host or job", names[0])
	}
	if level < q.of {
		return usagef("--levels %s: --host and --job choose among documents of level %s", level, q.of)
	}
	q.of = level
	return nil
}

// whole tells whether the run's own document tells, without any windows.
func (q *exportQuery) whole() bool {
	return q.as == "openmetrics" && !q.windows && q.windowQuery.whole() && q.of == mapping.Cluster
}

// writer makes what writes the format.
func (q *exportQuery) writer(w io.Writer) export.Writer {
	switch q.as {
	case "hdrlog":
		return export.NewHDRLog(w)
	case "openmetrics":
		return export.NewOpenMetrics(w, export.OpenMetricsOptions{Windows: q.windows, Buckets: q.buckets})
	case "json":
		return export.NewJSON(w)
	}
	return export.NewCSV(w, q.as == table.CSVExact)
}

// export writes all runs that args name to w. It tells whether that came to its end, also
// where an error says what was left out.
func (a *app) export(ctx context.Context, args []string, q *exportQuery, w io.Writer) (whole bool, err error) {
	out, leftOut := &exportWriter{to: q.writer(w), query: q}, false
	parts := pathsTogether(args)
	if out.alike, err = a.runsAlike(ctx, parts); err != nil {
		return false, err
	}
	for _, part := range parts {
		err := a.windows(ctx, part, out)
		if errors.Is(err, errLeftOut) {
			leftOut = true
		} else if err != nil {
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
	if leftOut {
		return true, errLeftOut
	}
	return true, nil
}

// runsAlike are the ids of the runs in the history among the parts that have the same name
// and archive as another of them: one job that ran twice in one place.
func (a *app) runsAlike(ctx context.Context, parts [][]string) (map[string]bool, error) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(part []string) bool { return isPath(part[0]) })
	if len(parts) < 2 {
		return nil, nil
	}
	store, closeStore, err := a.openHistory(ctx)
	if err != nil {
		return nil, err
	}
	defer closeStore()
	type place struct{ archive, name string }
	first, alike := map[place]string{}, map[string]bool{}
	for _, part := range parts {
		run, err := findRun(ctx, store, part[0])
		if err != nil {
			return nil, err
		}
		at, id := place{run.Run.Archive, run.Run.Name}, run.Run.ID
		if have := first[at]; have == "" {
			first[at] = id
		} else if have != id {
			alike[have], alike[id] = true, true
		}
	}
	return alike, nil
}

// pathsTogether are the args that are read at one go: paths that follow one another, or
// one run in the history.
func pathsTogether(args []string) [][]string {
	var parts [][]string
	inPaths := false
	for _, arg := range args {
		if isPath(arg) && inPaths {
			parts[len(parts)-1] = append(parts[len(parts)-1], arg)
			continue
		}
		parts, inPaths = append(parts, []string{arg}), isPath(arg)
	}
	return parts
}
