package facts

import (
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// RunColumns returns the columns for programs that identify the run of a row. Runs in files have no id, because the
// history assigns it.
func RunColumns[R any](of func(R) *mapping.RunInfo) []table.Column[R] {
	return []table.Column[R]{
		{Name: "run", Sparse: true, Value: func(r R) any { return of(r).ID }},
		{Name: "archive", Sparse: true, Value: func(r R) any { return of(r).Archive }},
		{Name: "name", Sparse: true, Value: func(r R) any { return of(r).Name }},
	}
}

// TimeColumns returns the columns for programs with the start and the end of a row: in milliseconds since the run's
// start, and as dates if the run's date is known.
func TimeColumns[R any](of func(R) *mapping.RunInfo, start, end func(R) time.Time) []table.Column[R] {
	return []table.Column[R]{
		{Name: "start", Unit: "ms", Value: func(r R) any { return start(r).Sub(of(r).Start).Milliseconds() }},
		{Name: "end", Unit: "ms", Value: func(r R) any { return end(r).Sub(of(r).Start).Milliseconds() }},
		{Name: "start", Sparse: true, Value: func(r R) any { return start(r) }},
		{Name: "end", Sparse: true, Value: func(r R) any { return end(r) }},
	}
}

// LatencyColumns returns the columns of all latencies. For programs they also say which are lower bounds, and
// whether fio computed them.
func LatencyColumns[R any](of func(R) *Latencies) []table.Column[R] {
	var list []table.Column[R]
	for i, name := range names {
		list = append(list, table.Column[R]{
			Name: name, Unit: "us", Heading: ">" + heading(name),
			Value: func(r R) any { return of(r).values[i] },
			Text:  func(r R) string { return of(r).text(i) },
		})
	}
	return append(list,
		table.Column[R]{Name: "open", Sparse: true, Value: func(r R) any { return of(r).bounds() }},
		table.Column[R]{Name: "source", Sparse: true, Value: func(r R) any {
			if of(r).ByFio {
				return "fio"
			}
			return nil
		}})
}

// Line is a row in a list of runs: one direction of a run.
type Line struct {
	Run     *mapping.Run
	IsFirst bool // first line of the run
	mapping.DirectionTotals
	Latencies Latencies
}

// Lines returns the lines of a run.
func Lines(run *mapping.Run) []*Line {
	var list []*Line
	for i, d := range run.ByDirection() {
		list = append(list, NewLine(run, i == 0, d))
	}
	return list
}

// NewLine returns the line of a direction.
func NewLine(run *mapping.Run, isFirst bool, d mapping.DirectionTotals) *Line {
	return &Line{run, isFirst, d, LatenciesOfTotals(d.Totals)}
}

// first returns a text only in the first line of a run.
func first(text func(*mapping.Run) string) func(*Line) string {
	return func(l *Line) string {
		if !l.IsFirst {
			return ""
		}
		return text(l.Run)
	}
}

func isFirst(l *Line) bool { return l.IsFirst }

// someCount returns a number of requests as text, or "" for 0.
func someCount(n int64) string {
	if n == 0 {
		return ""
	}
	return unit.Count(n)
}

// Columns are the columns of a list of runs. For programs, each line repeats what identifies the run. Numbers of the
// whole run are only in its first line, so that sums over lines are right.
var Columns = slices.Concat(
	RunColumns(func(l *Line) *mapping.RunInfo { return &l.Run.Run }),
	[]table.Column[*Line]{
		{Heading: "Run", Text: first(func(r *mapping.Run) string { return ShortID(r.Run.ID) })},
		{Heading: "Start", Text: first(Started)},
		{Heading: "Name", Text: first(Title)},
		{Name: "start", Sparse: true, Value: func(l *Line) any { return l.Run.Run.Start }},
	},
	table.Hide(ofRun(table.Pick(Settings, "benchmark", "mode", "op_size", "iodepth"))),
	[]table.Column[*Line]{{Name: "complete", Value: func(l *Line) any { return l.Run.Run.Complete }}},
	table.Where(isFirst, []table.Column[*Line]{
		{Name: "hosts", Heading: ">Hosts", Value: func(l *Line) any { return len(l.Run.Hosts) }},
		{Name: "jobs", Heading: ">Jobs", Value: func(l *Line) any { return l.Run.Fio.Jobs }},
	}),
	[]table.Column[*Line]{
		{Name: "direction", Heading: "Dir", Value: func(l *Line) any { return l.Direction }},
	},
	Numbers,
	table.Where(isFirst, []table.Column[*Line]{
		{
			Name: "recovered", Heading: ">Rec",
			Value: func(l *Line) any { return l.Run.Recovered.Requests },
			Text:  func(l *Line) string { return someCount(l.Run.Recovered.Requests) },
		},
		{
			Name: "missing", Heading: ">Miss",
			Value: func(l *Line) any { return l.Run.Missing.Requests },
			Text:  func(l *Line) string { return someCount(l.Run.Missing.Requests) },
		},
	}),
	[]table.Column[*Line]{
		{Name: "state", Heading: "State", Sparse: true, Value: func(l *Line) any { return State(l.Run) }, Text: first(StateText)},
	},
	table.Where(isFirst, []table.Column[*Line]{
		{Name: "note", Heading: "Note", Value: func(l *Line) any { return l.Run.Run.Note }, Text: first(ShortNote)},
	}),
	table.Hide(ofRun(interval)),
)

func ofRun(columns []table.Column[*mapping.Run]) []table.Column[*Line] {
	return table.Map(columns, func(l *Line) *mapping.Run { return l.Run })
}

// Numbers are the columns of requests, rates and latencies of a direction.
var Numbers = slices.Concat([]table.Column[*Line]{
	{
		Name: "requests", Heading: ">Requests",
		Value: func(l *Line) any { return unlessZero(l.Requests) },
		Text:  func(l *Line) string { return Requests(&l.Latency, l.Requests) },
	},
	{
		Name: "iops", Heading: ">IOPS",
		Value: func(l *Line) any { return unlessZero(l.IOPS) },
		Text:  func(l *Line) string { return orDash(l.IOPS, unit.Rate) },
	},
	{
		Name: "bandwidth", Heading: ">Bandwidth",
		Value: func(l *Line) any { return l.KnownBandwidth() }, // in bytes per second
		Text:  func(l *Line) string { return unit.Bandwidth(l.Bandwidth) },
	},
}, LatencyColumns(func(l *Line) *Latencies { return &l.Latencies }))

// unlessZero returns a number of a direction, or nil for 0, which stands for an unknown one: a direction has requests.
func unlessZero[N int64 | float64](n N) any {
	if n == 0 {
		return nil
	}
	return n
}

func orDash(n float64, text func(float64) string) string {
	if n == 0 {
		return "-"
	}
	return text(n)
}

// Requests returns the number of requests as text, or "-" for averages, which do not have it.
func Requests(l *mapping.Latency, n int64) string {
	if !l.HasPercentiles() && n == 0 {
		return "-"
	}
	return unit.Count(n)
}

// Settings are the settings of the benchmark, by their fields in documents. Unknown settings are empty.
var Settings = []table.Column[*mapping.Run]{
	setting("benchmark", "Benchmark", func(c *mapping.CBT) string { return c.Benchmark }, plain),
	setting("workload", "Workload", func(c *mapping.CBT) string { return c.Workload }, plain),
	setting("mode", "Mode", func(c *mapping.CBT) string { return c.Mode }, plain),
	setting("rwmixread", "Reads", func(c *mapping.CBT) int64 { return c.RWMixRead }, func(n int64) string { return number(n) + " %" }),
	setting("op_size", "Op size", func(c *mapping.CBT) int64 { return c.OpSize }, unit.WholeBytes),
	setting("iodepth", "I/O depth", func(c *mapping.CBT) int64 { return c.IODepth }, number),
	setting("total_iodepth", "Total I/O depth", func(c *mapping.CBT) int64 { return c.TotalIODepth }, number),
	setting("numjobs", "Jobs a volume", func(c *mapping.CBT) int64 { return c.NumJobs }, number),
	setting("concurrent_procs", "Processes", func(c *mapping.CBT) int64 { return c.Procs }, number),
	setting("volumes", "Volumes a client", func(c *mapping.CBT) int64 { return c.Volumes }, number),
	setting("clients", "Clients", func(c *mapping.CBT) int { return c.Clients }, strconv.Itoa),
	setting("osds", "OSDs", func(c *mapping.CBT) int { return c.OSDs }, strconv.Itoa),
	setting("osd_hosts", "OSD hosts", func(c *mapping.CBT) int { return c.OSDHosts }, strconv.Itoa),
	setting("pool_profile", "Pool", func(c *mapping.CBT) string { return c.Pool }, plain),
	setting("ceph_version", "Ceph", func(c *mapping.CBT) string { return c.CephVersion }, plain),
	setting("osd_ra", "OSD read-ahead", func(c *mapping.CBT) int64 { return c.OSDReadAhead }, kibibytes),
	setting("client_ra", "Client read-ahead", func(c *mapping.CBT) int64 { return c.ReadAhead }, kibibytes),
	setting("time", "Time", func(c *mapping.CBT) int64 { return c.RunSeconds }, seconds),
	setting("ramp", "Ramp", func(c *mapping.CBT) int64 { return c.RampSeconds }, seconds),
	{
		Name: "iteration", Heading: "Iteration", // counts from 0
		Value: func(r *mapping.Run) any {
			if r.CBT.Iteration == nil {
				return nil
			}
			return *r.CBT.Iteration
		},
	},
}

// interval is the column of the length of a run's windows.
var interval = []table.Column[*mapping.Run]{{
	Name: "interval", Unit: "ms", Heading: ">Windows", Sparse: true,
	Value: func(r *mapping.Run) any {
		if r.IntervalMS > 0 {
			return r.IntervalMS
		}
		return nil
	},
	Text: windowLength,
}}

// setting returns a column of a setting, which is unknown if it is empty or 0.
func setting[V string | int | int64](name, heading string, of func(*mapping.CBT) V, text func(V) string) table.Column[*mapping.Run] {
	var none V
	return table.Column[*mapping.Run]{
		Name: name, Heading: heading, Sparse: true,
		Value: func(r *mapping.Run) any {
			if v := of(&r.CBT); v != none {
				return v
			}
			return nil
		},
		Text: func(r *mapping.Run) string {
			if v := of(&r.CBT); v != none {
				return text(v)
			}
			return ""
		},
	}
}

func plain(text string) string { return text }

func number(n int64) string { return strconv.FormatInt(n, 10) }

func kibibytes(n int64) string { return unit.WholeBytes(n * 1024) }

func seconds(n int64) string { return unit.Elapsed(time.Duration(n) * time.Second) }

// All are the columns that people can choose: all of [Columns] and all of [Settings].
var All = func() []table.Column[*Line] {
	ofRuns := slices.Concat(Settings, interval)
	settings := ofRun(ofRuns)
	for i := range settings {
		settings[i].Text = first(ofRuns[i].TextOf)
	}
	rest := slices.DeleteFunc(slices.Clone(Columns), func(c table.Column[*Line]) bool { return c.Name != "" && HasColumn(settings, c.Name) })
	return slices.Concat(rest, settings)
}()

// HasColumn reports whether there is a column with this name.
func HasColumn(list []table.Column[*Line], name string) bool {
	return slices.ContainsFunc(list, func(c table.Column[*Line]) bool { return c.Name == name })
}

// LinesFor returns the lines of a run in a list with these columns: only one if no column is about a direction, or if
// nothing is known of its requests.
func LinesFor(columns []table.Column[*Line], run *mapping.Run) []*Line {
	lines := Lines(run)
	if len(lines) == 0 {
		return []*Line{NewLine(run, true, mapping.DirectionTotals{Totals: new(mapping.Totals)})}
	}
	if len(lines) > 1 && !HasColumn(columns, "direction") {
		return lines[:1]
	}
	return lines
}
