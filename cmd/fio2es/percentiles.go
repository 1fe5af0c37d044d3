package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func percentilesCommand(e *env) *cobra.Command {
	format, total, confidence, q := table.Text, false, 0.0, &query.Query{}
	cmd := &cobra.Command{
		Use:   "percentiles X...",
		Short: "Percentiles over time, of logs or of a run in the history",
		Long: `Prints percentiles of latency for each window of time and direction, and of the
whole run. --total prints only the latter; with --levels host, job or section, also those
of each host, job or section.

` + chooseHelp + `

Logs given by name are merged, and fio's report is found beside them. Percentiles come
from merged histograms, with an error of less than the bin's width (1.6 % at coarseness
0). The setting method: fio (FIO2ES_METHOD=fio) prints the value that fio prints for the
bin instead. ≥ marks a latency in fio's last bin, which has no upper end (the column open
names them in CSV and JSON), * a value that fio computed.

--from, --to, --direction, --host and --job choose windows as for rank. The last rows are
then the sums of these windows (level "chosen" in CSV and JSON), else those of the whole
run. A run that has several directions has one more row for all together.

--interval joins the stored windows of a run in the history. Settings of how logs are read
(weighting, source, …) cannot change them.

--confidence 0.95 prints the interval of each percentile, too: the window's requests as a
sample of independent ones (order statistics), down and up to the edges of bins. It is left
out where there are too few requests: p99 needs some 600, p99.9 some 6,000. Requests of one
moment are alike, so to tell runs apart use compare. CSV and JSON have p99_low_us and
p99_high_us.`,
		Example: `  fio2es percentiles latest
  fio2es percentiles latest --from +30s --to +90s --direction write
  fio2es percentiles last:5 --where 'bs=4k' --total
  fio2es percentiles latest --total --levels host
  fio2es percentiles --interval 10s output.*_clat_hist.*.log.*
  fio2es percentiles --levels host --format csv results/`,
		Args: someRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if e.flags.Changed("levels") {
				if err := setLevels(q, e); err != nil {
					return err
				}
			}
			r, p := &runReader{env: e}, newPercentiles(e.stdout, format, e.cfg.Method, confidence, q)
			p.note, p.totalOnly = r.logNoWindows, total
			a := answer{begin: p.begin, window: p.window, end: p.end}
			if total && q.WantsAll() { // the run document has the totals of the run, and no others
				q.Levels = slices.DeleteFunc(q.Levels, func(l mapping.Level) bool { return l == mapping.Cluster })
				if len(q.Levels) == 0 {
					a.window = nil
				}
			}
			q.Light = q.WantsAll() && !p.hasSeries() && e.cfg.Method != "fio" && confidence == 0 // these need histograms
			return r.answer(cmd.Context(), args, q, a)
		},
	}
	fl := cmd.Flags()
	addAnswerFlags(fl, q)
	addSettings(fl, "levels")
	addChoice(fl, &format, "format", tableUsage, table.Formats)
	fl.Float64Var(&confidence, "confidence", 0, "also the interval of each percentile with this `confidence`, 0.5 to 0.99")
	fl.BoolVar(&total, "total", false, "only the totals: of the whole run, or of the windows that --from, --to, --host and --job choose; with --levels, of each host or job, too")
	return cmd
}

// setLevels sets the levels of windows that the user named.
func setLevels(q *query.Query, e *env) error {
	least, levels := q.Level(), e.options().Levels
	for _, level := range levels {
		if level < least {
			return usagef("--levels %s: --host and --job choose among documents of level %s", strings.Join(e.cfg.Levels, ","), least)
		}
	}
	q.Levels = levels
	return nil
}

// percentiles writes windows as they come, and the run's totals after them.
type percentiles struct {
	to     *table.Writer[*percentileRow]
	query  *query.Query
	method string
	// confidence is that of the intervals of percentiles; 0: without them.
	confidence float64
	totalOnly  bool
	note       func(*query.Run, *mapping.Run) // called for a run without windows

	windows int                    // number of windows of the run
	sum     *window.Sum            // sum of the windows, if the query does not want all of the run
	series  map[series]*window.Sum // sums of the windows of each host and job: see hasSeries
	marks   facts.Marks            // of the latencies of the table
}

// series identifies the windows of a host or a job.
type series struct {
	level     mapping.Level
	host, job string
	section   string
}

// hasSeries reports whether totals of each host or job are wanted.
func (p *percentiles) hasSeries() bool {
	return p.totalOnly && slices.ContainsFunc(p.query.Levels, func(l mapping.Level) bool { return l > mapping.Cluster })
}

func newPercentiles(w io.Writer, format, method string, confidence float64, q *query.Query) *percentiles {
	cut, drop := []string{"HOST", "SECTION", "JOB"}, []string{"P75", "P90", "MEAN", "P95", unit.ZoneName(), "P50", "MAX"}
	return &percentiles{to: table.NewNarrow(w, format, percentileColumns(confidence > 0), cut, drop), method: method, confidence: confidence, query: q}
}

// begin begins a run. If there are several, tables name it.
func (p *percentiles) begin(run *query.Run) error {
	p.marks, p.windows, p.sum, p.series = facts.Marks{}, 0, &window.Sum{}, map[series]*window.Sum{}
	switch {
	case !run.IsAlone && run.Stored != nil:
		p.to.Begin(run.Name + ", started " + facts.StartedInZone(run.Stored))
	case !run.IsAlone:
		p.to.Begin(run.Name)
	default:
		p.to.Begin()
	}
	return nil
}

func (p *percentiles) window(w *window.Window) error {
	p.windows++
	if !p.query.WantsAll() && w.Level == p.query.Level() {
		if err := p.sum.Add(w); err != nil {
			return err
		}
	}
	if !p.totalOnly {
		return p.write(&percentileRow{Window: w, latency: facts.LatenciesOfWindow(&w.Latency, w.Bounds)})
	}
	if !p.hasSeries() || w.Level == mapping.Cluster {
		return nil
	}
	of := series{w.Level, w.Host, w.Job, w.Section}
	if p.series[of] == nil {
		p.series[of] = &window.Sum{}
	}
	return p.series[of].Add(w)
}

func (p *percentiles) write(r *percentileRow) error {
	p.marks.Add(&r.latency)
	if p.method == "fio" || p.confidence > 0 {
		h, err := r.Histogram()
		if err != nil {
			return err
		}
		if h != nil && p.method == "fio" {
			r.latency.UseFioMethod(h)
		}
		if h != nil && p.confidence > 0 && r.latency.Bounds == nil { // else requests are in no bin
			r.Bounds = mapping.NewBounds(h, p.confidence)
			r.latency.Bounds = r.Bounds
		}
	}
	return p.to.Write(r)
}

// end writes the totals of the run, or the sums of the chosen windows, and ends the table.
func (p *percentiles) end(run *query.Run, doc *mapping.Run) error {
	rows, err := p.seriesRows(doc)
	if err != nil {
		return err
	}
	var notes []string
	if p.query.WantsAll() {
		if p.windows == 0 && (!p.totalOnly || p.hasSeries()) {
			p.note(run, doc)
		}
		notes = p.inNoWindow(rows, doc)
		list := doc.ByDirection()
		var directions []string
		for _, d := range list {
			directions = append(directions, d.Direction)
		}
		if doc.All != nil && mapping.Several(directions) && !slices.Contains(directions, mapping.AllDirections) {
			list = append(list, mapping.DirectionTotals{Direction: mapping.AllDirections, Totals: doc.All})
		}
		for _, d := range list {
			if query.Wants(p.query.Directions, d.Direction) {
				row := &percentileRow{Window: window.Total(doc, d), latency: facts.LatenciesOfTotals(d.Totals)}
				if row.lasted = row.EndMS(); len(doc.Sections) == 1 && d.DurationMS > 0 || math.IsNaN(row.KnownIOPS()) { // a section of the run, or not known
					row.lasted = d.DurationMS
				}
				rows = append(rows, row)
			}
		}
	} else {
		if p.windows == 0 {
			return run.NoMatch(doc)
		}
		for _, w := range p.sum.Windows() {
			rows = append(rows, &percentileRow{Window: w, latency: facts.LatenciesOfWindow(&w.Latency, w.Bounds), isSum: true})
		}
	}
	for _, row := range rows {
		if err := p.write(row); err != nil {
			return err
		}
	}
	return p.to.End(append(notes, p.marks.Notes()...)...)
}

// seriesRows returns a row for each host or job and direction. Those of hosts have the totals of the run document, if it has them.
func (p *percentiles) seriesRows(doc *mapping.Run) (rows []*percentileRow, err error) {
	order := func(a, b series) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.host, b.host), unit.Compare(a.job, b.job), cmp.Compare(a.section, b.section))
	}
	for _, of := range slices.SortedFunc(maps.Keys(p.series), order) {
		for _, w := range p.series[of].Windows() {
			if w.Direction != mapping.AllDirections {
				w.Level, w.Host, w.Job, w.Section = of.level, of.host, of.job, of.section
				row := &percentileRow{Window: w, latency: facts.LatenciesOfWindow(&w.Latency, w.Bounds), isSum: true}
				if of.level == mapping.Host && p.query.WantsAll() {
					t, err := window.HostTotals(doc, w)
					if err != nil {
						return nil, err
					}
					if t != nil {
						row.latency = facts.LatenciesOfTotals(t)
					}
				}
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

// inNoWindow returns a note for each direction in which rows of hosts or jobs lack requests of the run, because these are in
// no window.
func (p *percentiles) inNoWindow(rows []*percentileRow, doc *mapping.Run) (notes []string) {
	for _, d := range doc.ByDirection() {
		in := map[mapping.Level]int64{}
		for _, row := range rows {
			if row.Direction == d.Direction && !row.Averaged { // averages have rates, and no requests
				in[row.Level] += row.Completed
			}
		}
		for _, level := range slices.Sorted(maps.Keys(in)) {
			if lack := d.Requests - in[level]; lack > 0 {
				notes = append(notes, fmt.Sprintf("%s of the run's %s %s requests are in no window, so in no row of a %s",
					unit.Count(lack), unit.Count(d.Requests), d.Direction, level))
			}
		}
	}
	return notes
}

// percentileRow is a window, the totals of a run, or a sum of windows.
type percentileRow struct {
	*window.Window
	latency facts.Latencies
	isSum   bool  // a sum of windows
	lasted  int64 // of a total, in milliseconds
}

// isTotal reports whether the row is about the whole run.
func (r *percentileRow) isTotal() bool { return r.Level == 0 && !r.isSum }

func (r *percentileRow) level() string {
	switch {
	case r.isTotal():
		return "run"
	case r.Level == 0:
		return "chosen"
	}
	return r.LevelName()
}

// at returns when the window was, in seconds since the run's start. The totals are of all seconds of the run, or of its section,
// to the end of the last job, also if no request completed in the last of them.
func (r *percentileRow) at() string {
	if r.isTotal() {
		if r.lasted == 0 { // how long the run took is not known
			return "all"
		}
		return "all " + seconds(r.lasted)
	}
	return seconds(r.StartMS()) + "-" + seconds(r.EndMS())
}

// clock returns the time of day at which the window began, if it is known.
func (r *percentileRow) clock() string {
	if r.isTotal() || !unit.IsKnown(r.Start) {
		return ""
	}
	return unit.Time(r.Start, unit.OfDayMS)
}

func (r *percentileRow) of() *mapping.RunInfo { return r.Run }

// percentileColumns returns the columns. With intervals, these are beside the percentiles for people.
func percentileColumns(withIntervals bool) []table.Column[*percentileRow] {
	latencies := facts.LatencyColumns(func(r *percentileRow) *facts.Latencies { return &r.latency })
	for i, p := range mapping.Percentiles {
		if !withIntervals {
			break
		}
		at := slices.IndexFunc(latencies, func(c table.Column[*percentileRow]) bool { return c.Name == p.Field })
		text := latencies[at].Text
		latencies[at].Text = func(r *percentileRow) string {
			if between, ok := r.Bounds.Of(i); ok {
				return fmt.Sprintf("%s [%s %s]", text(r), unit.Latency(between.Low), unit.Latency(between.High))
			}
			return text(r)
		}
	}
	times := facts.TimeColumns((*percentileRow).of, func(r *percentileRow) time.Time { return r.Start }, func(r *percentileRow) time.Time { return r.End })
	return slices.Concat(
		facts.RunColumns((*percentileRow).of),
		[]table.Column[*percentileRow]{
			{Heading: ">SECONDS", Text: (*percentileRow).at},
			{Heading: unit.ZoneName(), Text: (*percentileRow).clock},
			{Name: "level", Value: func(r *percentileRow) any { return r.level() }},
			{Name: "host", Heading: "HOST", Sparse: true, Value: func(r *percentileRow) any { return r.Host }},
			{Name: "job", Heading: "JOB", Sparse: true, Value: func(r *percentileRow) any { return r.Job }},
			{Name: "section", Heading: "SECTION", Sparse: true, Value: func(r *percentileRow) any { return r.Section }},
			{Name: "direction", Heading: "DIR", Value: func(r *percentileRow) any { return r.Direction }},
		},
		times,
		[]table.Column[*percentileRow]{
			{
				Name: "requests", Heading: ">REQUESTS",
				Value: func(r *percentileRow) any {
					if r.Averaged {
						return nil
					}
					return r.Completed
				},
				Text: func(r *percentileRow) string { return facts.RequestsText(&r.Latency, r.Completed) },
			},
			{
				Name: "iops", Heading: ">IOPS",
				Value: func(r *percentileRow) any { return r.KnownIOPS() },
				Text:  func(r *percentileRow) string { return unit.Rate(r.KnownIOPS()) },
			},
		},
		table.Hide(latencies, "min", "p99_99"),
	)
}

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
