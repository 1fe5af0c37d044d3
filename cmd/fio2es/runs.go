package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/matrix"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

func runsCommand(e *env) *cobra.Command {
	l := runsCall{env: e, format: table.Text}
	sorted := ""
	cmd := &cobra.Command{
		Use: "runs [TEXT | RUN...]", SuggestFor: []string{"ls", "list", "history"},
		Short: "List the runs in the history",
		Long: `Lists the runs in the history, the newest first, with the stages of one call of fio in
their order (STAGE): all, or those with TEXT in their id, name, archive, path, settings
('4K qd16'), labels or note; or RUNs in the order in which they are named: latest,
latest~1 (the one before), last:5 (the five newest), same-as:RUN (all with its settings),
or several ids. Conditions such as bs=4k limit these, as --where does. Each direction of
a run has a line; latencies are of the whole run (≥: or more, *: computed by fio). MISS:
requests that are in fio's total and in no window. Notes (fio2es note) have a column where a run has one.

--columns chooses other columns: run, name, archive, start, state, all numbers, such as
bandwidth and p99.99, all settings, such as mode, op_size and pool_profile, and all other
fields of --where, such as label.release and option.ioengine. Shells complete them, and a
name that does not exist lists them. --sort sorts by any of them, or by write.p99.

--by shows a number of many runs as a matrix: rows are the values of one setting, columns
those of a second, and there is a matrix for each value of further ones. The runs may also
be in paths, as for percentiles. A section of a run whose jobs did not all do the same
counts as a run: --by section names them. A cell with several runs has their median. It has no number, but "mixed", if its runs also differ in another
setting that changes what is measured; a note says in which. CSV and JSON have a line for
each cell: the value, the lowest and the highest run, and the ids of its runs.

--draw curve draws a latency against IOPS, with a line for each value of the first
setting and a dot for each of the second; --draw heatmap colours the matrix. --output
writes it as SVG.`,
		Example: `  fio2es runs
  fio2es runs randwrite --where 'start >= 2026-01-01' --sort p99
  fio2es runs --where 'bs=4k and write.p99 > 5ms and start >= 7d'
  fio2es runs same-as:latest --where 'start >= 30d'
  fio2es runs --where state=incomplete
  fio2es runs --columns run,name,label.release,bandwidth --sort bandwidth
  fio2es runs --by bs,iodepth --show p99,iops 'rw=randread and start >= 1d'
  fio2es runs --by bs,iodepth --draw curve --direction read -o curve.svg
  fio2es runs --format json | jq -r .run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := l.check(cmd.Flags().Changed, l.format); err != nil {
				return err
			}
			if l.limit < 0 {
				return usagef("--limit %d: want 0, for all runs, or more", l.limit)
			}
			if l.filter, l.selectors, err = l.textOrRuns(args); err != nil {
				return err
			}
			l.filter.Light = true
			if len(l.by) > 0 && slices.ContainsFunc(args, query.IsPath) {
				return l.matrixOfPaths(cmd.Context(), args)
			}
			if l.names != nil {
				if l.columns, err = where.Columns(l.names); err != nil {
					return usagef("--columns: %w", err)
				}
			}
			order, err := where.OrderOf(sorted)
			if err != nil {
				return usagef("--sort %s: %w", sorted, err)
			}
			l.order = order
			if len(args) > 0 && l.filter.Text == "" && !cmd.Flags().Changed("sort") {
				l.order = nil
			}
			return l.list(cmd.Context())
		},
	}
	fl := cmd.Flags()
	addSettings(fl, "cluster")
	addWhereFlag(fl)
	fl.IntVar(&l.limit, "limit", 0, "at most `N` runs, the first in order")
	fl.StringVar(&sorted, "sort", "start", "sort by a `column`: the latest or highest first, texts from A to Z")
	fl.BoolVar(&l.isReversed, "reverse", false, "reverse the order")
	fl.StringSliceVar(&l.names, "columns", nil, "show these `columns`, such as run,name,p99,pool_profile")
	l.addFlags(fl)
	addChoice(fl, &l.format, "format", "table, csv, markdown, json (an object a line), or document (a run's whole document a line)", runFormats)
	return cmd
}

type runsCall struct {
	*env
	filter    history.RunFilter
	selectors []*query.Selector // choose among the runs of the filter; none: all of them
	order     *where.Order      // nil: the order of the selectors
	limit     int               // 0: no limit
	format    string

	matrixCall
	isReversed bool
	names      []string // names of columns; nil for the usual ones
	columns    []table.Column[*facts.Line]
}

// list prints the runs that the filter selects. It leaves out a run that cannot be read.
func (l *runsCall) list(ctx context.Context) error {
	store, err := l.openHistory(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if len(l.by) > 0 {
		return l.matrixOfHistory(ctx, store)
	}
	runs, err := l.read(ctx, store)
	if err != nil {
		return err
	}
	if len(runs) == 0 && !l.leftOut {
		if err := l.printNoRuns(ctx, store, l.filter); err != nil || l.format == table.Text {
			return err
		}
	}
	if l.order != nil {
		if l.order.Sort(runs, l.isReversed); l.order.Column == nil && !l.isReversed {
			facts.KeepTogether(runs)
		}
	} else if l.isReversed {
		slices.Reverse(runs)
	}
	if l.limit > 0 {
		runs = runs[:min(len(runs), l.limit)]
	}
	return writeRuns(l.stdout, runs, l.columns, l.format)
}

// meets reports whether a run meets the conditions of the list.
func (l *runsCall) meets(run *mapping.Run) bool {
	return (l.filter.Where == nil || l.filter.Where.Matches(run)) &&
		!slices.ContainsFunc(l.selectors, func(s *query.Selector) bool { return !s.Meets(run) })
}

// read reads the listed runs, or more of them, because the limit applies after sorting.
func (l *runsCall) read(ctx context.Context, store history.Store) ([]*mapping.Run, error) {
	if len(l.selectors) > 0 {
		return l.selectRuns(ctx, store, l.filter, l.selectors)
	}
	watched := query.Watch(l.filter)
	if l.order != nil && l.order.Column == nil && !l.isReversed { // a store returns runs in this order
		watched.Filter.Limit = l.limit
	}
	if l.order == nil || l.limit == 0 {
		return l.readRuns(ctx, store, watched)
	}
	top := where.Top{Order: l.order, IsReversed: l.isReversed, Most: l.limit, InAnyOrder: true}
	watched.Filter.Wanted, watched.Filter.WantedMembers, watched.Filter.InAnyOrder = top.Wants, l.order.Members(), watched.Filter.Limit == 0
	err := l.eachRun(ctx, store, watched, top.Add)
	return top.Runs(), err
}

// matrixOfHistory reads the runs one after another: a matrix needs little of each.
func (l *runsCall) matrixOfHistory(ctx context.Context, store history.Store) error {
	l.filter.Members = matrix.Members(l.settings, l.directions...)
	runs := matrix.Collect(l.settings, l.meets)
	if len(l.selectors) > 0 {
		chosen, err := l.selectRuns(ctx, store, l.filter, l.selectors)
		if err != nil {
			return err
		}
		runs.Add(chosen...)
	} else {
		watched := query.Watch(l.filter)
		watched.Filter.InAnyOrder = true
		if err := l.eachRun(ctx, store, watched, func(run *mapping.Run) { runs.Add(run) }); err != nil {
			return err
		}
		runs.Sort()
	}
	if runs.Read == 0 && !l.leftOut {
		if err := l.printNoRuns(ctx, store, l.filter); err != nil || l.format == table.Text {
			return err
		}
	}
	return l.matrixCall.write(l.env, l.stdout, runs, l.format)
}

func (l *runsCall) matrixOfPaths(ctx context.Context, args []string) error {
	r, runs := &runReader{env: l.env, namesRuns: true}, matrix.Collect(l.settings, l.meets)
	inputs, err := r.choose(ctx, args, query.IsPath)
	if err == nil {
		err = r.each(ctx, inputs, func(run *query.Run) error {
			doc, err := run.Read(ctx, &query.Query{}, nil)
			if r.logRun(run); doc != nil {
				runs.Add(doc.Light())
			}
			return err
		})
	}
	if err == nil {
		err = l.matrixCall.write(l.env, l.stdout, runs, l.format)
	}
	return r.end(err)
}

// readRuns reads the runs that a watched filter selects. It leaves out runs that cannot be read.
func (e *env) readRuns(ctx context.Context, store history.Store, watched *query.Watched) (runs []*mapping.Run, err error) {
	err = e.eachRun(ctx, store, watched, func(run *mapping.Run) { runs = append(runs, run) })
	return runs, err
}

// eachRun is like readRuns, for a caller that does not need all runs at the same time.
func (e *env) eachRun(ctx context.Context, store history.Store, watched *query.Watched, do func(*mapping.Run)) error {
	for run, err := range history.Readable(store.Runs(ctx, watched.Filter), func(err error) { e.leaveOut(err.Error()) }) {
		if err != nil {
			return err
		}
		do(run)
	}
	if note := watched.Undecided(); note != "" {
		e.log.Warn(note)
	}
	return nil
}

// printNoRuns says on stderr that a filter selects no run, and what the history has.
func (e *env) printNoRuns(ctx context.Context, store history.Store, filter history.RunFilter) error {
	why, err := query.Nothing(ctx, store, filter)
	if err == nil {
		term.Line(e.stderr, "no runs match; %s", why)
	}
	return err
}

const documentFormat = "document"

var runFormats = append(slices.Clone(table.Formats), documentFormat)

// errorScreen returns stderr, with its size if it is a terminal.
func (e *env) errorScreen() io.Writer {
	if f := terminalOf(e.errors); f != nil {
		return term.NewScreen(f, e.errors)
	}
	return e.stderr
}

// printColumns prints columns of runs on stderr, as wide as the terminal.
func (e *env) printColumns(runs []*mapping.Run, columns []where.Column) error {
	to := e.errorScreen()
	fmt.Fprintln(to)
	return writeRuns(to, runs, columns, table.Text)
}

// writeRuns writes the columns of runs, with a row for each direction, or their documents without histograms. Nil
// columns mean the usual ones.
func writeRuns(w io.Writer, runs []*mapping.Run, columns []table.Column[*facts.Line], format string) error {
	if format == documentFormat {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false) // otherwise < and > in rules would be escaped
		for _, r := range runs {
			if err := enc.Encode(r.Light()); err != nil {
				return err
			}
		}
		return nil
	}
	isUsual := columns == nil
	if isUsual {
		hidden := []string{"min", "p75", "p90", "p99_99", "recovered"}
		if !slices.ContainsFunc(runs, func(r *mapping.Run) bool { return r.Run.Note != "" }) {
			hidden = append(hidden, "note")
		}
		if !slices.ContainsFunc(runs, func(r *mapping.Run) bool { return r.Run.Stages > 1 }) {
			hidden = append(hidden, "stage")
		}
		if !slices.ContainsFunc(runs, func(r *mapping.Run) bool { return len(r.Hosts) > 1 }) {
			hidden = append(hidden, "hosts")
		}
		if !slices.ContainsFunc(runs, func(r *mapping.Run) bool { return r.Fio.Jobs > 1 }) {
			hidden = append(hidden, "jobs")
		}
		columns = table.Hide(facts.Columns(), hidden...)
	}
	start := unit.Heading("Start")
	columns = slices.Clone(columns)
	for i := range columns {
		if columns[i].Heading == "Start" {
			columns[i].Heading = start
		}
	}
	drop := []string{"MEAN", "JOBS", "HOSTS", "BANDWIDTH", "P95", "REQUESTS", "MAX", "STAGE", "P99.9", "NOTE", start, "MISS", "P50", "IOPS"}
	to := table.NewNarrow(w, format, columns, []string{"<NAME", "NOTE", "STATE", ":" + start}, drop) // the end of a name says more
	var marks facts.Marks
	for _, r := range runs {
		lines := facts.LinesFor(columns, r)
		if isUsual && format == table.Text { // programs add up lines
			lines = append(lines, facts.SectionLines(r)...)
		}
		for _, line := range lines {
			marks.Add(&line.Latencies)
			if err := to.Write(line); err != nil {
				return err
			}
		}
	}
	return to.End(marks.Notes()...)
}
