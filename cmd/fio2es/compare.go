package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/matrix"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

func compareCommand(e *env) *cobra.Command {
	c := &comparison{sides: sides{runReader: &runReader{env: e, namesRuns: true}}, by: byRun, checks: checks{table.Text, junit.Suite{Name: "fio2es compare"}}}
	cmd := &cobra.Command{
		Use: "compare [A] B...", SuggestFor: []string{"diff"},
		Short: "Run against run, with confidence intervals",
		Long: `Compares each B with A, the baseline: the change of each metric with its confidence
interval, and a verdict. A and B are paths with one run each (nothing is stored), or name
runs in the history: ` + runHelp + `, or a condition such as 'bs=4k';
--where limits what these choose from. Several runs of one side, also those joined by
commas, are repetitions of a test: their windows are pooled. Stages of one call of fio
(a path with several, execution:RUN) are compared one by one with those of the same name,
or of the same settings. --from, --to, --direction, --host and --job choose windows as
for rank.

The verdict is worse or better if 0 is not in the interval. If 0 is in it, the farther
bound X decides: "no change > X %" if X is at most --within, else unclear, because the
interval is too wide.

--baseline takes the runs of the history with the same settings as B in place of A, as
repetitions: last:10 are the ten before B, and a condition such as label.release=quincy
chooses those that meet it (fio2es help fields).

--by settings compares many runs at once: those with the same settings, a block for each
workload. A and B are paths with any number of runs, or conditions on the runs of the
history. What has no partner is named.

--by mode,bs,total_iodepth lays many runs over others in the same way, with a row for each
combination of settings: IOPS @ p99 (--metrics) of both, their changes and verdicts, also
if the sides differ in other settings, which a note names. Where depths or numbers of jobs
differ, a last row has the highest throughput of each side, and at which of them.

The interval comes from how the runs vary over time (block bootstrap, docs/numbers.md).
With one run per side it ignores run-to-run variation: use three or more. A side needs 8
windows, else the verdict is "no interval": the change alone, as of fio's reports (*: fio
computed the value). For p99.9 it needs some 6,000 requests, else it is "unknown". ≥ marks
a value in fio's last bin, which has no upper end.

--fail-if '[DIRECTION.]METRIC > +10%' (or <) makes the exit code 4 when the change is
beyond the limit and 0 is not in the interval. Without a direction it counts for all.
It is unclear if it is not met, and the interval reaches beyond the limit: a warning, and
with --fail-on-unclear exit code 4. Without an interval, the exit code is 3.

CSV and JSON have latencies in microseconds (metrics mean_us, p99_us, p99_9_us), iops in
requests and bandwidth in bytes per second, changes and their bounds in percent, and the verdicts worse, better,
same ("no change > X %"), unclear, no interval and unknown.`,
		Example: `  fio2es compare e87ec34a latest
  fio2es compare --baseline last:10 latest
  fio2es compare execution:e87ec34a latest-execution
  fio2es compare last:5 latest --where 'mode=randwrite' --from +30s
  fio2es compare before/ after/ --fail-if 'p99 > +10%' --fail-if 'iops < -5%'
  fio2es compare base1,base2,base3 new1,new2,new3 --format json
  fio2es compare --by settings label.release=quincy label.release=reef
  fio2es compare --by settings --baseline last:10 'start >= yesterday'
  fio2es compare --by mode,bs,total_iodepth archive=nightly-1 archive=nightly-2`,
		Args: arguments(1, many),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(args); err != nil {
				return err
			}
			return c.end(c.compare(cmd.Context(), args))
		},
	}
	fl := cmd.Flags()
	addSettings(fl, "reading", "cluster")
	addWhereFlag(fl)
	addQueryFlags(fl, &c.query)
	addHostFlags(fl, &c.query)
	fl.Lookup("direction").Usage = "only these `directions`: read, write, trim or sync; all compares the requests of all but syncs together"
	fl.StringSliceVar(&c.metrics, "metrics", compare.Defaults, "`metrics` to compare: iops, bandwidth, mean, percentiles")
	fl.Float64Var(&c.options.Confidence, "confidence", 0.95, "`confidence` of the intervals: 0.5 to 0.99")
	c.options.Within = compare.Within
	fl.Var((*expr.PercentFlag)(&c.options.Within), "within", "report no change if the interval lies within this many `percent` around 0")
	fl.StringVar(&c.past, "baseline", "", "compare with `runs` of the same settings: last:10, or a condition such as label.release=quincy")
	fl.StringVar(&c.by, "by", byRun, "`what` is compared: run (A with each B), section (each section with that of the same name), settings (the runs of each workload), or settings, such as bs,iodepth (a row for each combination)")
	fl.StringArrayVar(&c.failIf, "fail-if", nil, "exit code 4 on this `change`: 'p99 > +10%', 'write.iops < -5%' (repeatable)")
	fl.BoolVar(&c.gate.OnUnclear, "fail-on-unclear", false, "exit code 4 if a condition of --fail-if is unclear")
	addChoice(fl, &c.checks.format, "format", checkUsage+" of --fail-if", checkFormats)
	return cmd
}

// The values of --by.
const (
	byRun      = "run"
	bySettings = "settings"
)

// comparison is the state of a comparison: what is compared, and where the result is written.
type comparison struct {
	sides
	metrics, failIf []string // as the user wrote them
	past            string   // of --baseline, as the user wrote it

	options  compare.Options
	baseline *query.Baseline // nil: the first argument is the base
	by       string
	cells    []matrix.Setting // of combinations; nil: --by is run or settings
	gate     compare.Gate     // of --fail-if
	checks   checks
	judged   int              // number of changes with an interval
	found    [][]compare.Line // by pair of sides
	out      io.Writer
	format   string                      // of out
	to       *table.Writer[*compare.Row] // writes to out
}

func (c *comparison) compare(ctx context.Context, args []string) error {
	run := c.compareRuns
	switch {
	case c.cells != nil:
		run = c.compareCells
	case c.by == bySettings:
		run = c.compareWorkloads
	}
	if err := run(ctx, args); err != nil {
		return err
	}
	isMet, unchecked, err := c.gate.Log(c.log)
	c.leftOut = c.leftOut || unchecked
	c.checks.Cases = c.gate.Cases()
	if err = errors.Join(err, c.checks.write(c.stdout)); err == nil && isMet {
		err = errMet
	}
	return err
}

// check checks the flags and sets the options. The metrics of conditions are compared, too.
func (c *comparison) check(args []string) (err error) {
	if c.together = slices.Equal(c.query.Directions, []string{mapping.AllDirections}); c.together {
		c.query.Directions = nil
	}
	if err := c.query.Check(); err != nil {
		return err
	}
	if c.by != byRun && c.by != bySettings && c.by != bySection {
		if c.cells, err = matrix.Settings(strings.Split(c.by, ",")); err != nil {
			return usagef("--by: want run, section, settings, or the settings of a matrix: %w", err)
		}
		if !c.flags.Changed("metrics") { // each is a matrix
			c.metrics = []string{"iops", "p99"}
		}
	}
	if c.options.Metrics, err = compare.ParseMetrics(c.metrics...); err != nil {
		return usagef("--metrics %w", err)
	}
	for _, text := range c.failIf {
		condition, err := compare.ParseCondition(text)
		if err != nil {
			return usagef("--fail-if %w", err)
		}
		c.gate.Conditions = append(c.gate.Conditions, condition)
		if !slices.Contains(c.options.Metrics, condition.Metric) {
			c.options.Metrics = append(c.options.Metrics, condition.Metric)
		}
	}
	if c.past != "" {
		if c.baseline, err = query.ParseBaseline(c.past, time.Now()); err != nil {
			return usagef("--baseline %w", err)
		}
	}
	switch {
	case len(c.gate.Conditions) == 0 && (c.gate.OnUnclear || c.checks.format == formatJUnit):
		return usagef("--fail-on-unclear and --format junit are about conditions: give some, such as --fail-if 'p99 > +10%%'")
	case len(c.options.Metrics) == 0:
		return usagef("--metrics: want some of iops, mean and percentiles such as p99.9")
	case !(c.options.Confidence >= 0.5 && c.options.Confidence <= 0.99):
		return usagef("--confidence %v: want 0.5 to 0.99", c.options.Confidence)
	case c.options.Within <= 0 || c.options.Within > 10:
		return usagef("--within %v%%: want more than 0%%, up to 1000%%", 100*c.options.Within)
	case c.flags.Changed("section") && (c.cells != nil || c.by == bySettings):
		return usagef("--section compares what you name: leave out the settings of --by")
	case c.cells != nil && c.baseline != nil:
		return usagef("--baseline: --by %s lays runs over others: name both, such as fio2es compare --by %s label.release=quincy label.release=reef", c.by, c.by)
	case c.baseline == nil && len(args) < 2:
		return usagef("want a baseline and what to compare with it: see fio2es compare --help")
	}
	c.out, c.format = c.checks.table(c.stdout)
	c.to = table.NewNarrow(c.out, c.format, compare.Columns(c.options.Confidence), []string{"VERDICT"}, nil)
	return nil
}

// compareRuns compares each argument with the base. Without --baseline, the base is the first argument. Stages of an execution
// are compared one by one.
func (c *comparison) compareRuns(ctx context.Context, args []string) error {
	var sides []*compare.Side
	for _, arg := range args {
		side, err := c.side(ctx, arg)
		if err != nil {
			return err
		}
		sides = append(sides, side)
	}
	if slices.ContainsFunc(sides, hasStages) {
		var list []*selection
		for _, side := range sides {
			list = append(list, selectionOf(side))
		}
		return c.compareMatched(ctx, list, workload.MatchStages)
	}
	if c.baseline == nil {
		c.logDoubts("", sides[0], sides[0])
		for _, other := range sides[1:] {
			if err := c.pair("", sides[0], other); err != nil {
				return err
			}
		}
		return nil
	}
	var others []*mapping.Run
	for _, side := range sides {
		others = append(others, selectionOf(side).docs...)
	}
	from, err := c.stored(ctx, c.baseline.Filter(others))
	if err != nil {
		return err
	}
	var failed []error
	for _, other := range sides {
		base, err := c.baselineOf(ctx, "", other, from)
		if err == nil {
			c.logDoubts("", base, base)
			err = c.pair("", base, other)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// pair compares a side with the base, and writes a table. title names the workload, if there are several.
func (c *comparison) pair(title string, base, other *compare.Side) error {
	if title != "" {
		c.logDoubts(title, base, base)
	}
	c.logDoubts(title, base, other)
	lines, err := c.lines(title, base, other)
	if err != nil {
		return err
	}
	heading := append(compare.Heading("base", base), compare.Heading("other", other)...)
	if title != "" {
		heading = append([]string{"workload  " + title}, heading...)
	}
	c.to.Begin(heading...)
	if err := c.write(title, base, other, lines); err != nil {
		return err
	}
	c.found = append(c.found, lines)
	return c.to.End(compare.Conclusion(base, other, lines))
}

// conclude says below several tables what they found.
func (c *comparison) conclude(what string) error {
	if len(c.found) < 2 || c.format != table.Text && c.format != table.Markdown {
		return nil
	}
	_, err := fmt.Fprintf(c.out, "\n%s\n", compare.Summary(what, c.found))
	return err
}

func (c *comparison) lines(title string, base, other *compare.Side) ([]compare.Line, error) {
	lines, notes, err := compare.Compare(base, other, c.options)
	for _, text := range notes {
		c.note(title, text)
	}
	said := map[string]bool{"": true}
	if err == nil {
		maps.Copy(said, c.gate.Check(title, base, other, lines))
	}
	var reasons []string
	of := map[string][]string{} // directions by reason
	for _, l := range lines {
		if said[l.Reason()] {
			continue
		}
		if said[l.Reason()] = true; of[l.Why] == nil {
			reasons = append(reasons, l.Why)
		}
		of[l.Why] = append(of[l.Why], mapping.Plural(l.Direction))
	}
	for _, why := range reasons {
		c.note(title, fmt.Sprintf("%s and %s: %s: %s", base.Name, other.Name, strings.Join(of[why], ", "), why))
	}
	for _, l := range lines {
		if l.HasInterval() {
			c.judged++
		}
		if l.SpansGap() {
			c.log.Debug(fmt.Sprintf("%s and %s: %s: %s", base.Name, other.Name, l.Direction, l.Why))
		}
	}
	return lines, err
}

// write writes the changes between two sides.
func (c *comparison) write(title string, base, other *compare.Side, lines []compare.Line) error {
	for _, l := range lines {
		if err := c.to.Write(&compare.Row{Workload: title, From: base, To: other, Line: l}); err != nil {
			return err
		}
	}
	return nil
}

// baselineOf reads the runs of --baseline for a side. from are the runs that it selects, of all workloads or of this
// one.
func (c *comparison) baselineOf(ctx context.Context, title string, other *compare.Side, from []*mapping.Run) (*compare.Side, error) {
	var runs []*mapping.Run
	for _, r := range other.Runs {
		runs = append(runs, r.Document)
	}
	list, notes, err := c.baseline.Of(runs, from)
	if err != nil && title == "" { // the message names the nearest run of all
		if from, failed := c.stored(ctx, c.baseline.Filter(nil)); failed == nil {
			_, notes, err = c.baseline.Of(runs, from)
		}
	}
	for _, text := range notes {
		c.note(title, text)
	}
	if err != nil {
		return nil, err
	}
	slices.Reverse(list) // the oldest first
	return c.storedSide(ctx, c.baseline.String(), list)
}

// measured returns the runs of an argument that a matrix has.
func (c *comparison) measured(ctx context.Context, arg string) (*selection, error) {
	s, err := c.selection(ctx, arg)
	if err != nil {
		return nil, err
	}
	note := ""
	if s.docs, note = matrix.Measured(s.docs); note != "" {
		c.note(arg, note)
	}
	return s, nil
}

// compareCells compares the runs of each argument with those of the first that have the same values of one setting or
// two, as a matrix.
func (c *comparison) compareCells(ctx context.Context, args []string) error {
	base, err := c.measured(ctx, args[0])
	if err != nil {
		return err
	}
	isTable := c.format == table.Text || c.format == table.Markdown
	for i, arg := range args[1:] {
		other, err := c.measured(ctx, arg)
		if err != nil {
			return err
		}
		by := matrix.Depths(c.cells, matrix.RunsOf(slices.Concat(base.docs, other.docs)))
		pairs, byName := matrix.Match(by, base.docs, other.docs), map[string]*matrix.Pair{}
		if !isTable {
			c.to = table.New(c.out, c.format, matrix.ChangeColumns(by, c.options.Confidence, func(r *compare.Row) *matrix.Pair { return byName[r.Workload] }))
		}
		var differ []string // how the sides differ in other settings, by pair
		var matched []workload.Matched
		for _, p := range pairs {
			if byName[p.Name()] = p; p.Why != "" {
				c.note(p.Name(), "not compared, because "+p.Because)
				continue
			}
			p.Why, matched = "not compared", append(matched, p.Matched)
			if text := workload.Doubt(p.Base[0], p.Other[0]); text != "" {
				differ = append(differ, text)
			}
		}
		for _, text := range slices.Compact(slices.Sorted(slices.Values(differ))) {
			n := len(slices.DeleteFunc(slices.Clone(differ), func(one string) bool { return one != text }))
			c.note("", fmt.Sprintf("the other side also differs in %d of %d cells: %s", n, len(pairs), text))
		}
		err = c.compareSelections(ctx, base, nil, other, matched, func(title string, from, to *compare.Side) error {
			lines, err := c.lines(title, from, to)
			if byName[title].Lines = lines; err == nil {
				byName[title].Why, c.found = "", append(c.found, lines)
			}
			if err == nil && !isTable {
				err = c.write(title, from, to, lines)
			}
			return err
		})
		if err != nil {
			return err
		}
		if isTable && i > 0 {
			fmt.Fprintln(c.out)
		}
		if isTable {
			err = matrix.WriteChanges(c.out, c.format, other.name+" against "+base.name, c.options.Metrics, pairs)
		} else {
			err = c.to.End()
		}
		if err != nil {
			return err
		}
	}
	c.gate.DropAbsent()
	c.noteChance()
	return c.conclude("cell")
}

// noteChance says how many changes are worse or better by chance.
func (c *comparison) noteChance() {
	if byChance := float64(c.judged) * (1 - c.options.Confidence); byChance >= 1 {
		c.note("", fmt.Sprintf("of %s at a confidence of %s %%, some %.0f are worse or better by chance",
			unit.Plural(c.judged, "change"), unit.Number(c.options.Confidence*100), byChance))
	}
}

// compareWorkloads compares the runs of each argument, workload by workload, with those runs of the base that have
// the same settings.
func (c *comparison) compareWorkloads(ctx context.Context, args []string) error {
	var list []*selection
	for _, arg := range args {
		s, err := c.selection(ctx, arg)
		if err != nil {
			return err
		}
		list = append(list, s)
	}
	return c.compareMatched(ctx, list, workload.Match)
}

// compareMatched compares the runs of each selection with those of the base that match. Without --baseline, the base is the
// first selection.
func (c *comparison) compareMatched(ctx context.Context, list []*selection, match func(base, other []*mapping.Run) []workload.Matched) error {
	base, past := &selection{}, map[string][]*mapping.Run{} // by workload
	if c.baseline == nil {
		base, list = list[0], list[1:]
	} else {
		var others []*mapping.Run
		for _, other := range list {
			others = append(others, other.docs...)
		}
		from, err := c.stored(ctx, c.baseline.Filter(others))
		if err != nil {
			return err
		}
		base.name = c.baseline.String()
		for _, run := range from {
			key := workload.Key(run)
			past[key] = append(past[key], run)
		}
	}
	for _, other := range list {
		if err := c.compareSelections(ctx, base, past, other, match(base.docs, other.docs), c.pair); err != nil {
			return err
		}
	}
	c.gate.DropAbsent()
	c.noteChance()
	return c.conclude("comparison")
}

// compareSelections compares each workload of other with that of base, or with --baseline, with its runs in past. A
// workload that cannot be compared is left out. It fails if no workload was compared.
func (c *comparison) compareSelections(
	ctx context.Context, base *selection, past map[string][]*mapping.Run, other *selection,
	pairs []workload.Matched, pair func(title string, base, other *compare.Side) error,
) error {
	compared, failed := 0, []error(nil)
	for _, m := range pairs {
		if c.baseline == nil && (len(m.Base) == 0 || len(m.Other) == 0) {
			with := base
			if len(m.Base) == 0 {
				with = other
			}
			c.note(m.Title, fmt.Sprintf("only in %s (%s): not compared", with.name, unit.Plural(len(m.Base)+len(m.Other), "run")))
			continue
		}
		var from, to *compare.Side
		var err error
		if c.baseline == nil {
			from, err = c.sideOf(ctx, base, m.Base)
		}
		if err == nil {
			to, err = c.sideOf(ctx, other, m.Other)
		}
		if err == nil && c.baseline != nil {
			from, err = c.baselineOf(ctx, m.Title, to, past[workload.Key(m.Other[0])])
		}
		if err == nil {
			err = pair(m.Title, from, to)
		}
		switch {
		case err == nil:
			compared++
		case errors.Is(err, context.Canceled):
			return err
		default:
			failed = append(failed, fmt.Errorf("%s: %w", m.Title, err))
		}
	}
	if compared == 0 && len(failed) > 0 {
		return errors.Join(failed...)
	}
	if compared == 0 {
		return fmt.Errorf("%s and %s have no workload in common: the settings of their runs differ", base.name, other.name)
	}
	for _, err := range failed {
		c.leaveOut("not compared: " + err.Error())
	}
	return nil
}
