package facts

import (
	"slices"
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
