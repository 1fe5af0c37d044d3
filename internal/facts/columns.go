package facts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
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

// LatencyColumns returns the columns of all latencies. For programs they also say which are lower bounds, whether fio computed any,
// and between which bounds percentiles lie.
func LatencyColumns[R any](of func(R) *Latencies) (list []table.Column[R]) {
	for _, name := range LatencyNames {
		heading := strings.ReplaceAll(name, "_", ".") // p99.9, Mean
		if name[0] == 'm' {
			heading = "M" + name[1:]
		}
		list = append(list, table.Column[R]{
			Name: name, Unit: "us", Heading: ">" + heading,
			Value: func(r R) any { return of(r).Value(name) },
			Text:  func(r R) string { return of(r).Text(name) },
		})
	}
	list = append(list,
		table.Column[R]{Name: "open", Sparse: true, Value: func(r R) any {
			var bounds []string // the columns that are lower bounds
			for _, name := range LatencyNames {
				if of(r).IsOpen(name) {
					bounds = append(bounds, name+"_us")
				}
			}
			return bounds
		}},
		table.Column[R]{Name: "source", Sparse: true, Value: func(r R) any {
			if of(r).ByFio {
				return "fio"
			}
			return nil
		}})
	for i, p := range mapping.Percentiles {
		bound := func(name string, end func(mapping.Between) float64) table.Column[R] {
			return table.Column[R]{Name: p.Field + name, Unit: "us", Sparse: true, Value: func(r R) any {
				if between, ok := of(r).Bounds.Of(i); ok && !math.IsInf(end(between), 1) {
					return end(between)
				}
				return nil
			}}
		}
		list = append(list, bound("_low", func(b mapping.Between) float64 { return b.Low }), bound("_high", mapping.Between.Highest))
	}
	return list
}

// Line is a row in a list of runs: one direction of a run, or of a section of it.
type Line struct {
	Run     *mapping.Run
	Section *mapping.RunSection // nil: the whole run
	IsFirst bool                // first line of the run
	mapping.DirectionTotals
	Latencies Latencies
}

// Lines returns the lines of a run: see [mapping.Run.ByDirection].
func Lines(run *mapping.Run) []*Line {
	var list []*Line
	for i, d := range run.ByDirection() {
		list = append(list, NewLine(run, i == 0, d))
	}
	return list
}

// NewLine returns the line of a direction.
func NewLine(run *mapping.Run, isFirst bool, d mapping.DirectionTotals) *Line {
	return &Line{run, nil, isFirst, d, LatenciesOfTotals(d.Totals)}
}

// SectionLines returns the lines of the sections of a run, none of which is its first.
func SectionLines(run *mapping.Run) (list []*Line) {
	for i := range run.Sections {
		s := &run.Sections[i]
		for _, d := range s.ByDirection() {
			list = append(list, &Line{run, s, false, d, LatenciesOfTotals(d.Totals)})
		}
	}
	return list
}

// SectionTitle returns the name of a section with its most important settings.
func SectionTitle(s *mapping.RunSection) string {
	return strings.TrimSpace(s.Name + " " + SettingsText(&s.CBT))
}

func first(text func(*mapping.Run) string) func(*Line) string {
	return func(l *Line) string {
		if !l.IsFirst {
			return ""
		}
		return text(l.Run)
	}
}

func isFirst(l *Line) bool { return l.IsFirst }

// lost returns a column of a number of requests of the whole run that are not in its logs.
func lost(name, heading string, of func(*mapping.Run) int64) table.Column[*Line] {
	return table.Column[*Line]{
		Name: name, Heading: heading,
		Value: func(l *Line) any { return of(l.Run) },
		Text: func(l *Line) string {
			if of(l.Run) == 0 {
				return ""
			}
			return unit.Count(of(l.Run))
		},
	}
}

// Columns are the columns of a list of runs. For programs, each line repeats what identifies the run. Numbers of the
// whole run are only in its first line, so that sums over lines are right.
var Columns = sync.OnceValue(func() []table.Column[*Line] {
	return slices.Concat(
		RunColumns(func(l *Line) *mapping.RunInfo { return &l.Run.Run }),
		[]table.Column[*Line]{
			{Heading: "Run", Text: first(func(r *mapping.Run) string { return ShortID(r.Run.ID) })},
			{Heading: "Start", Text: first(Started)},
			{Name: "stage", Heading: "Stage", Sparse: true, Text: first(StageText), Value: func(l *Line) any {
				if l.Run.Run.Stages < 2 {
					return nil
				}
				return l.Run.Run.Stage
			}},
			{Heading: "Name", Text: func(l *Line) string {
				if l.Section != nil {
					return "  " + SectionTitle(l.Section)
				}
				return first(Title)(l)
			}},
			{Name: "start", Sparse: true, Value: func(l *Line) any { return l.Run.Run.Start }},
		},
		table.Hide(ofRun(SettingColumns("benchmark", "mode", "op_size", "iodepth"))),
		[]table.Column[*Line]{{Name: "complete", Value: func(l *Line) any { return l.Run.Run.Complete }}},
		table.Where(isFirst, []table.Column[*Line]{
			{Name: "hosts", Heading: ">Hosts", Value: func(l *Line) any { return len(l.Run.Hosts) }},
			{Name: "jobs", Heading: ">Jobs", Value: func(l *Line) any { return l.Run.Fio.Jobs }},
		}),
		[]table.Column[*Line]{
			{Name: "direction", Heading: "Dir", Value: func(l *Line) any { return l.Direction }},
		},
		Numbers(),
		table.Where(isFirst, []table.Column[*Line]{
			lost("recovered", ">Rec", func(r *mapping.Run) int64 { return r.Recovered.Requests }),
			lost("missing", ">Miss", func(r *mapping.Run) int64 { return r.Missing.Requests }),
		}),
		[]table.Column[*Line]{
			{Name: "state", Heading: "State", Sparse: true, Value: func(l *Line) any { return State(l.Run) }, Text: first(StateText)},
		},
		table.Where(isFirst, []table.Column[*Line]{
			{Name: "note", Heading: "Note", Value: func(l *Line) any { return l.Run.Run.Note }, Text: first(ShortNote)},
		}),
		table.Hide(ofRun(interval)),
	)
})

func ofRun(columns []table.Column[*mapping.Run]) []table.Column[*Line] {
	return table.Map(columns, func(l *Line) *mapping.Run { return l.Run })
}

// Numbers are the columns of requests, rates and latencies of a direction.
var Numbers = sync.OnceValue(func() []table.Column[*Line] {
	return slices.Concat([]table.Column[*Line]{
		{
			Name: "requests", Heading: ">Requests",
			Value: func(l *Line) any { return unlessZero(l.Requests) },
			Text:  func(l *Line) string { return RequestsText(&l.Latency, l.Requests) },
		},
		{
			Name: "iops", Heading: ">IOPS",
			Value: func(l *Line) any { return unlessZero(l.IOPS) },
			Text: func(l *Line) string {
				if l.IOPS == 0 {
					return "-"
				}
				const few = 10
				isCut := l.Run.Fio.Format == "terse" && l.Requests == 0 // to whole numbers
				return unit.OrMore(unit.Rate(l.IOPS), isCut && l.IOPS < few)
			},
		},
		{
			Name: "bandwidth", Heading: ">Bandwidth",
			Value: func(l *Line) any { return l.KnownBandwidth() }, // in bytes per second
			Text:  func(l *Line) string { return unit.Bandwidth(l.Bandwidth) },
		},
	}, LatencyColumns(func(l *Line) *Latencies { return &l.Latencies }))
})

// unlessZero returns a number of a direction, or nil for 0, which stands for an unknown one: a direction has requests.
func unlessZero[N int64 | float64](n N) any {
	if n == 0 {
		return nil
	}
	return n
}

// RequestsText returns the number of requests as text, or "-" for averages, which do not have it.
func RequestsText(l *mapping.Latency, n int64) string {
	if !l.HasPercentiles() && n == 0 {
		return "-"
	}
	return unit.Count(n)
}

// Setting is a setting of the benchmark: a column of lists, and a field of conditions.
type Setting struct {
	table.Column[*mapping.Run]
	Kind          expr.Kind
	Alias         string // another name in conditions, or ""
	Help, Example string
}

// Settings are all settings, by their fields in documents. Unknown settings are empty.
var Settings = sync.OnceValue(func() []Setting {
	return []Setting{
		setting("benchmark", "", expr.Text, "Benchmark", "CBT's benchmark class", "librbdfio", func(c *mapping.CBT) any { return c.Benchmark }),
		setting("workload", "", expr.Text, "Workload", "CBT's name of the workload", "precondition", func(c *mapping.CBT) any { return c.Workload }),
		setting("mode", "rw", expr.Text, "Mode", "fio's rw", "randwrite", func(c *mapping.CBT) any { return c.Mode }),
		setting("rwmixread", "", expr.Number, "Reads", "percent of reads, in modes that mix", "70", func(c *mapping.CBT) any { return c.RWMixRead }),
		setting("op_size", "bs", expr.Size, "Block size", "block size", "4k", func(c *mapping.CBT) any { return c.OpSize }),
		setting("iodepth", "qd", expr.Number, "I/O depth", "I/O depth of a job", "16", func(c *mapping.CBT) any { return c.IODepth }),
		setting("total_iodepth", "", expr.Number, "Total I/O depth", "CBT's total I/O depth, which it divides over volumes", "256", func(c *mapping.CBT) any { return c.TotalIODepth }),
		setting("numjobs", "", expr.Number, "numjobs", "jobs of a section, or of a volume of CBT", "4", func(c *mapping.CBT) any { return c.NumJobs }),
		setting("concurrent_procs", "", expr.Number, "Processes", "processes of fio a volume or endpoint", "4", func(c *mapping.CBT) any { return c.Procs }),
		setting("volumes", "", expr.Number, "Volumes a client", "volumes a client", "4", func(c *mapping.CBT) any { return c.Volumes }),
		setting("clients", "", expr.Number, "Clients", "clients of CBT's configuration", "4", func(c *mapping.CBT) any { return int64(c.Clients) }),
		setting("osds", "", expr.Number, "OSDs", "OSDs", "4", func(c *mapping.CBT) any { return int64(c.OSDs) }),
		setting("osd_hosts", "", expr.Number, "OSD hosts", "hosts with OSDs", "4", func(c *mapping.CBT) any { return int64(c.OSDHosts) }),
		setting("pool_profile", "pool", expr.Text, "Pool", "CBT's pool profile", "rbd", func(c *mapping.CBT) any { return c.Pool }),
		setting("ceph_version", "ceph", expr.Text, "Ceph", "version of Ceph in CBT's configuration", "19.2.0", func(c *mapping.CBT) any { return c.CephVersion }),
		setting("osd_ra", "", expr.KiB, "OSD read-ahead", "read-ahead of the OSDs' disks", "4M", func(c *mapping.CBT) any { return c.OSDReadAhead }),
		setting("client_ra", "", expr.KiB, "Client read-ahead", "read-ahead of the clients", "4M", func(c *mapping.CBT) any { return c.ReadAhead }),
		setting("time", "runtime", expr.Duration, "Time", "run time that was set", "5m", func(c *mapping.CBT) any { return c.RunSeconds }),
		setting("ramp", "ramp_time", expr.Duration, "Ramp", "ramp time that was set", "30s", func(c *mapping.CBT) any { return c.RampSeconds }),
		setting("iteration", "", expr.Number, "Iteration", "CBT's iteration, from 0", "4", func(c *mapping.CBT) any {
			if c.Iteration == nil {
				return nil
			}
			return *c.Iteration // an int, because 0 is known
		}),
	}
})

// setting returns a setting. It is unknown if of returns "", 0 as an int64, or nil.
func setting(name, alias string, kind expr.Kind, heading, help, example string, of func(*mapping.CBT) any) Setting {
	known := func(r *mapping.Run) any {
		if v := of(&r.CBT); v != "" && v != int64(0) {
			return v
		}
		return nil
	}
	text := func(r *mapping.Run) string {
		switch v := known(r).(type) {
		case nil:
			return ""
		case int64:
			if kind == expr.Duration {
				return unit.Elapsed(time.Duration(v) * time.Second)
			}
			if name == "rwmixread" {
				return unit.Number(float64(v)) + " %"
			}
			return KindText(kind, float64(v), false)
		default:
			return fmt.Sprint(v)
		}
	}
	return Setting{table.Column[*mapping.Run]{Name: name, Heading: heading, Sparse: true, Value: known, Text: text}, kind, alias, help, example}
}

// SettingColumns returns the columns of the settings with these names, or of all.
func SettingColumns(names ...string) (list []table.Column[*mapping.Run]) {
	for _, s := range Settings() {
		list = append(list, s.Column)
	}
	if len(names) > 0 {
		return table.Pick(list, names...)
	}
	return list
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

// All are the columns that people can choose: all of [Columns] and all of [Settings].
var All = sync.OnceValue(func() []table.Column[*Line] {
	ofRuns := slices.Concat(SettingColumns(), interval)
	settings := ofRun(ofRuns)
	for i := range settings {
		settings[i].Text = first(ofRuns[i].TextOf)
	}
	rest := slices.DeleteFunc(slices.Clone(Columns()), func(c table.Column[*Line]) bool { return c.Name != "" && HasColumn(settings, c.Name) })
	return slices.Concat(rest, settings)
})

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
