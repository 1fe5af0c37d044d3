// Package night has what many tests measured, such as a night of CBT: for each workload without its depth, such as "randread
// 4K", the tests at each depth, the one with the best throughput, how each differs from another night, and what is missing. It
// is computed from run documents, so the tests may be in files or in a history; pages and terminals show it.
//
// A verdict is never made here. That on a change comes from package compare, whose runs the caller reads, and that on the level of
// a series from package workload.
package night

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/matrix"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
)

// Night has the tests of an archive, or of several that have no workload in common.
type Night struct {
	Name string         // of the archive
	Runs []*mapping.Run // the first first, also those that are live and in no row
	Rows []*Row         // by mode and size
	Note string         // says which of Runs are in no row because they prepared volumes; empty: none
}

// Row is a workload without its depth, in one direction.
type Row struct {
	Title     string // "randread 4K", and in what it differs from other rows
	Mode      string // "randread"; empty if it is not known
	Direction string
	Tests     []*Test // the lowest depth first

	key  string
	size int64
}

// Test is a workload in one direction. Several runs are repetitions.
type Test struct {
	*Row
	Depth   int64  // how many requests are under way at once; 0 if it is not known
	IsTotal bool   // Depth is that of all volumes of a client
	Key     string // of the workload
	Runs    []*mapping.Run
}

// New returns the night of runs. Runs with sections have a test for each.
func New(name string, runs []*mapping.Run) *Night {
	n := &Night{Name: name, Runs: slices.Clone(runs)}
	slices.SortStableFunc(n.Runs, byStart)
	var shallow []*mapping.Run // without depths
	whole := map[*mapping.Run]*mapping.Run{}
	measured, note := matrix.Measured(n.Runs)
	n.Note = note
	for _, part := range facts.Parts(measured...) {
		if !part.Run.Live() {
			one := withoutDepth(part)
			shallow, whole[one] = append(shallow, one), part
		}
	}
	for _, w := range workload.Group(shallow) {
		for _, direction := range append(mapping.Directions[:], mapping.AllDirections) {
			row := &Row{Title: w.Title, Direction: direction, key: workload.Key(w.Runs[0])}
			row.Mode, row.size = settingsOf(w.Runs[0])
			for _, one := range w.Runs {
				row.add(whole[one])
			}
			if len(row.Tests) > 0 {
				n.Rows = append(n.Rows, row)
			}
		}
	}
	slices.SortStableFunc(n.Rows, func(a, b *Row) int { return cmp.Or(cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.size, b.size)) })
	return n
}

// byStart sorts runs. Those with an unknown date come first.
func byStart(a, b *mapping.Run) int { return a.Run.Start.Compare(b.Run.Start) }

// withoutDepth returns a run as if it had none, whose workload is that of all depths.
func withoutDepth(run *mapping.Run) *mapping.Run {
	one := *run
	one.Workload, one.CBT.IODepth, one.CBT.TotalIODepth = mapping.Workload{}, 0, 0
	if len(one.Fio.Options) > 0 { // the default is no setting, and in no title
		one.Fio.Options = maps.Clone(one.Fio.Options)
		one.Fio.Options["iodepth"] = fioargs.OptionDefault("iodepth")
	}
	return &one
}

// settingsOf returns mode and size, also if they are fio's defaults.
func settingsOf(run *mapping.Run) (mode string, size int64) {
	size, _ = fioargs.ParseSize(rule.DefaultOf(run, "op_size"))
	return cmp.Or(run.CBT.Mode, rule.DefaultOf(run, "mode")), cmp.Or(run.CBT.OpSize, size)
}

// add adds a run to the test of its depth, if it has requests in the direction.
func (r *Row) add(run *mapping.Run) {
	if !slices.ContainsFunc(run.ByDirection(), func(t mapping.DirectionTotals) bool { return t.Direction == r.Direction }) {
		return
	}
	key := workload.Key(run)
	i := slices.IndexFunc(r.Tests, func(t *Test) bool { return t.Key == key })
	if i < 0 {
		i = len(r.Tests)
		default1, _ := fioargs.ParseSize(rule.DefaultOf(run, "iodepth"))
		r.Tests = append(r.Tests, &Test{
			Row: r, Key: key, Depth: cmp.Or(run.CBT.TotalIODepth, run.CBT.IODepth, default1), IsTotal: run.CBT.TotalIODepth > 0,
		})
	}
	r.Tests[i].Runs = append(r.Tests[i].Runs, run)
	slices.SortStableFunc(r.Tests, func(a, b *Test) int { return cmp.Compare(a.Depth, b.Depth) })
}

// DepthText returns the depth for people, as names of runs do: "total-qd16", "qd16"; or "-".
func (t *Test) DepthText() string {
	set := mapping.CBT{IODepth: t.Depth}
	if t.IsTotal {
		set.TotalIODepth = t.Depth
	}
	return cmp.Or(facts.SettingsText(&set), "-")
}

// Name names the test: "randread 4K total-qd16".
func (t *Test) Name() string {
	if t.Depth == 0 {
		return t.Title
	}
	return t.Title + " " + t.DepthText()
}

// Number returns a number of the test: of several runs the median.
func (t *Test) Number(m facts.Metric) matrix.Number { return matrix.NumberOf(m, t.Direction, t.Runs) }

// Best returns the test with the most requests per second, of equal ones that of the lowest depth; or nil if none is known.
func (r *Row) Best() (best *Test) {
	for _, t := range r.Tests {
		if n := t.Number(facts.IOPS).N(); n > 0 && (best == nil || n > best.Number(facts.IOPS).N()) {
			best = t
		}
	}
	return best
}

// IsSame reports whether the row of another night is of the same workload and direction.
func (r *Row) IsSame(other *Row) bool { return r.key == other.key && r.Direction == other.Direction }

// Tests returns all tests, row by row.
func (n *Night) Tests() (list []*Test) {
	for _, r := range n.Rows {
		list = append(list, r.Tests...)
	}
	return list
}

// Start returns when the first run began.
func (n *Night) Start() time.Time { return n.Runs[0].Run.Start }

// End returns when the last run ended.
func (n *Night) End() (end time.Time) {
	for _, run := range n.Runs {
		if run.Run.End.After(end) {
			end = run.Run.End
		}
	}
	return end
}

// Divide divides runs into nights, the first first. A night is an archive. Archives one after another are one night as long as none
// has a workload that an earlier one of it has: each run of a sweep is in a folder of its own. CBT keeps all runs of a night in one.
func Divide(runs []*mapping.Run) (list []*Night) {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, byStart)
	var archives []string
	of := map[string][]*mapping.Run{}
	for _, run := range runs {
		name := run.Run.Archive
		if of[name] == nil {
			archives = append(archives, name)
		}
		of[name] = append(of[name], run)
	}
	var names []string // of the archives of the night so far
	var have []*mapping.Run
	keys := map[string]bool{}
	end := func() {
		if len(names) > 0 {
			list = append(list, New(nameOf(names), have))
		}
		names, have, keys = nil, nil, map[string]bool{}
	}
	for _, archive := range archives {
		if len(have) > 0 && (have[0].CBT.ByCBT() || of[archive][0].CBT.ByCBT()) ||
			slices.ContainsFunc(of[archive], func(run *mapping.Run) bool { return keys[workload.Key(run)] }) {
			end()
		}
		names, have = append(names, archive), append(have, of[archive]...)
		for _, run := range of[archive] {
			keys[workload.Key(run)] = true
		}
	}
	end()
	return list
}

func nameOf(archives []string) string {
	name := cmp.Or(archives[0], "runs without an archive")
	if more := len(archives) - 1; more > 0 {
		return fmt.Sprintf("%s and %s", name, unit.Plural(more, "other archive"))
	}
	return name
}
