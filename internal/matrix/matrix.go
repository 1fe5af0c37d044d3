// Package matrix answers for many runs at once: a number of each by the values of one or two settings, such as p99 by
// block size and I/O depth. A [Matrix] has a cell for each combination. It is written as a table, as a heat map, or as
// the curve of a latency against IOPS, for terminals, files and pages. The runs may come from anywhere: a sweep, an
// archive of CBT, or runs that were made by hand.
//
// A cell never mixes workloads: where its runs differ in another setting that changes what is measured, it has no
// number, and says in which.
package matrix

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/trend"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Setting is a field by whose values runs are arranged.
type Setting struct {
	*where.Field
	Name string // as the user wrote it: bs, not op_size
}

// Settings finds one or two fields by the names that conditions have.
func Settings(names []string) (by []Setting, err error) {
	if len(names) < 1 || len(names) > 2 {
		return nil, fmt.Errorf("want one setting or two, such as bs,iodepth, and not %d", len(names))
	}
	for _, name := range names {
		name = strings.TrimSpace(name)
		f := where.Lookup(name)
		switch {
		case f == nil:
			return nil, fmt.Errorf("no setting is called %q: want bs, iodepth, numjobs, rw, label.NAME, option.NAME or another field (fio2es help fields)", name)
		case slices.Contains([]expr.Kind{expr.Time, expr.Count, expr.Rate, expr.Bandwidth, expr.Latency}, f.Kind):
			return nil, fmt.Errorf("%s is a result or a time, and no setting: want bs, iodepth, label.NAME or another setting", name)
		case len(by) > 0 && by[0].Field.Name == f.Name:
			return nil, fmt.Errorf("%s and %s are the same setting: want two different ones", by[0].Name, name)
		}
		by = append(by, Setting{f, name})
	}
	return by, nil
}

// load are the settings that say how much is requested at the same time. They are the last of two.
var load = []string{"iodepth", "total_iodepth", "numjobs", "jobs", "concurrent_procs", "volumes", "clients"}

// SettingsOf returns the one or two settings in which runs differ, such as those of a sweep. It returns none if runs
// differ in more, or have fewer than three combinations. A setting that follows from another, such as CBT's total I/O depth
// from the I/O depth, does not count.
func SettingsOf(runs []*mapping.Run) (by []Setting) {
	varied := workload.Varying(runs)
	slices.SortStableFunc(varied, func(a, b workload.Varied) int { // settings before other options, which may follow from them
		dots := func(v workload.Varied) int { return strings.Count(fieldNamed(v.Name).Name, ".") }
		return cmp.Compare(dots(a), dots(b))
	})
	for _, v := range varied {
		s := Setting{fieldNamed(v.Name), v.Name}
		if where.Lookup(v.Name) == nil {
			s.Name = s.Field.Name // option.ioengine
		}
		isLoad := func(s Setting) bool { return slices.Contains(load, s.Field.Name) }
		switch {
		case v.Name == "name": // no settings are known
			return nil
		case len(by) > 0 && !isLoad(s) && isLoad(by[0]):
			by = slices.Insert(by, 0, s)
		default:
			by = append(by, s)
		}
	}
	texts := map[string][]string{} // of the values of the runs, by setting
	for _, s := range by {
		for _, run := range runs {
			texts[s.Name] = append(texts[s.Name], s.of(run).Text)
		}
	}
	follows := func(s, from Setting) bool {
		seen := map[string]string{}
		for i, text := range texts[from.Name] {
			if other, isKnown := seen[text]; isKnown && other != texts[s.Name][i] {
				return false
			}
			seen[text] = texts[s.Name][i]
		}
		return true
	}
	for i := 0; i < len(by); i++ {
		by = append(by[:i+1], slices.DeleteFunc(by[i+1:], func(s Setting) bool { return follows(s, by[i]) })...)
	}
	const least = 3
	combinations := map[string]bool{}
	for i := range runs {
		text := ""
		for _, s := range by {
			text += texts[s.Name][i] + "\n"
		}
		combinations[text] = true
	}
	if len(by) > 2 || len(combinations) < least {
		return nil
	}
	return by
}

// Value is a value of a setting.
type Value struct {
	Text   string  // for people: "4K"; "-" if it is not known
	number float64 // by which values are sorted; NaN for texts
	raw    any     // for programs: a float64 or a string; nil if it is not known
}

// of returns the value that a run has.
func (s Setting) of(run *mapping.Run) Value {
	values := s.Values(run)
	if text := workload.DefaultOf(run, s.Field.Name); text != "" && len(values) == 0 {
		values = []any{text}
		if n, ok := s.Kind.Parse(text); ok {
			values = []any{s.Kind.InDocuments(n)}
		}
	}
	if len(values) == 0 {
		return Value{Text: "-", number: math.NaN()}
	}
	var texts []string
	for _, one := range values {
		texts = append(texts, s.Text(one))
	}
	v := valueOf(strings.Join(texts, ", "))
	if n, isNumber := values[0].(float64); isNumber && len(values) == 1 {
		v.number, v.raw = n, n
	}
	if s.Kind == expr.Size {
		v.Text = strings.TrimSuffix(v.Text, "iB") // as in the names of runs: 4K
	}
	return v
}

// valueOf returns the value that a text is. Options of fio are texts, also if they are numbers or sizes.
func valueOf(text string) Value {
	n, isNumber := expr.Size.Parse(text)
	if !isNumber {
		n = math.NaN()
	}
	return Value{Text: text, number: n, raw: text}
}

// compare sorts numbers by size, then texts, then what is not known: 4K before 64K, 4 before 16.
func (v Value) compare(other Value) int {
	rank := func(v Value) int {
		switch {
		case v.raw == nil:
			return 2
		case math.IsNaN(v.number):
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(v), rank(other)), cmp.Compare(v.number, other.number), cmp.Compare(v.Text, other.Text))
}

// Matrix has the runs of one direction by the values of one or two settings.
type Matrix struct {
	By            []Setting
	Direction     string // read, write or trim, or [AllDirections]
	Rows, Columns []Value
	Also          []string // other settings in which the runs differ, such as "option.ioengine (io_uring, libaio)"
	cells         map[[2]string]*Cell
}

// AllDirections stands for all requests of a run.
const AllDirections = "all"

// Cell has the runs with the same values of the settings.
type Cell struct {
	Row, Column Value
	Runs        []*mapping.Run
	Mixed       []string // other settings in which its runs differ: then it has no numbers
	of          *Matrix
}

// New arranges the runs that have requests of a direction. With one setting, a matrix has one column.
func New(by []Setting, direction string, runs []*mapping.Run) *Matrix {
	m := &Matrix{By: by, Direction: direction, cells: map[[2]string]*Cell{}}
	add := func(list *[]Value, v Value) {
		if !slices.Contains(textsOf(*list), v.Text) {
			*list = append(*list, v)
		}
	}
	var have []*mapping.Run
	for _, run := range runs {
		if m.totals(run) == nil {
			continue
		}
		row, column := by[0].of(run), Value{}
		if len(by) > 1 {
			column = by[1].of(run)
		}
		add(&m.Rows, row)
		add(&m.Columns, column)
		at := [2]string{row.Text, column.Text}
		if m.cells[at] == nil {
			m.cells[at] = &Cell{Row: row, Column: column, of: m}
		}
		m.cells[at].Runs = append(m.cells[at].Runs, run)
		have = append(have, run)
	}
	slices.SortFunc(m.Rows, Value.compare)
	slices.SortFunc(m.Columns, Value.compare)
	for _, c := range m.cells {
		if len(c.Runs) > 1 {
			c.Mixed = differing(workload.Varying(c.Runs))
		}
	}
	m.Also = differing(slices.DeleteFunc(workload.Varying(have), func(v workload.Varied) bool {
		return slices.ContainsFunc(by, func(s Setting) bool { return s.isSame(v.Name) })
	}))
	return m
}

func textsOf(values []Value) (list []string) {
	for _, v := range values {
		list = append(list, v.Text)
	}
	return list
}

// fieldNamed returns the field of a setting of a workload, which may be an option of fio.
func fieldNamed(name string) *where.Field {
	return cmp.Or(where.Lookup(name), where.Lookup("option."+name))
}

// isSame reports whether the setting of a workload is this one, perhaps by another name: rw, mode and option.rw are one.
func (s Setting) isSame(name string) bool {
	own := fieldNamed(strings.TrimPrefix(s.Field.Name, "option.")).Name
	return fieldNamed(name).Name == own || name == "jobs" && own == "numjobs" // numjobs makes the number of jobs
}

// differing names settings as conditions do, with some of their values.
func differing(list []workload.Varied) (texts []string) {
	for _, v := range list {
		slices.SortFunc(v.Values, func(a, b string) int { return valueOf(a).compare(valueOf(b)) })
		texts = append(texts, fmt.Sprintf("%s (%s)", fieldNamed(v.Name).Name, unit.List(v.Values, 4, ", ")))
	}
	return texts
}

// totals returns the requests of a run in the direction of the matrix, or nil.
func (m *Matrix) totals(run *mapping.Run) *mapping.Totals {
	if m.Direction == AllDirections {
		return run.All
	}
	for _, d := range run.ByDirection() {
		if d.Direction == m.Direction {
			return d.Totals
		}
	}
	return nil
}

// Directions returns the directions that runs have.
func Directions(runs []*mapping.Run) (list []string) {
	for _, d := range mapping.Directions {
		if slices.ContainsFunc(runs, func(run *mapping.Run) bool { return (&Matrix{Direction: d}).totals(run) != nil }) {
			list = append(list, d)
		}
	}
	return list
}

// Cell returns a cell, or nil if no run has these values.
func (m *Matrix) Cell(row, column Value) *Cell { return m.cells[[2]string{row.Text, column.Text}] }

// Cells returns the cells that have runs, row by row.
func (m *Matrix) Cells() (list []*Cell) {
	for _, row := range m.Rows {
		for _, column := range m.Columns {
			if c := m.Cell(row, column); c != nil {
				list = append(list, c)
			}
		}
	}
	return list
}

// Name returns the values of the cell for people, such as "bs 4K, iodepth 16".
func (c *Cell) Name() string {
	text := c.of.By[0].Name + " " + c.Row.Text
	if len(c.of.By) > 1 {
		text += ", " + c.of.By[1].Name + " " + c.Column.Text
	}
	return text
}

// Number is a number of the runs of a cell: their median, and the lowest and the highest.
type Number struct {
	facts.Metric
	trend.Value         // N is NaN if no run has the number, or the runs are mixed
	Runs        int     // those that have the number
	Low, High   float64 // of these runs
	ByFio       bool    // a run has a latency that fio computed
}

// Number returns a number of the cell.
func (c *Cell) Number(metric facts.Metric) Number {
	n := Number{Metric: metric, Value: trend.Value{N: math.NaN()}, Low: math.NaN(), High: math.NaN()}
	if len(c.Mixed) > 0 {
		return n
	}
	var all []trend.Value
	for _, run := range c.Runs {
		t := c.of.totals(run)
		v, isBound := metric.OfTotals(t)
		if math.IsNaN(v) {
			continue
		}
		all = append(all, trend.Value{N: v, IsBound: isBound})
		l := facts.LatenciesOfTotals(t)
		n.ByFio = n.ByFio || l.ByFio && metric.Kind == expr.Latency
		if len(all) == 1 || v < n.Low {
			n.Low = v
		}
		if len(all) == 1 || v > n.High {
			n.High = v
		}
	}
	if n.Runs = len(all); n.Runs > 0 {
		n.Value = trend.Median(all)
	}
	return n
}

// ValueText returns the median for people.
func (n Number) ValueText() string {
	if math.IsNaN(n.N) {
		return "-"
	}
	text := facts.KindText(n.Kind, n.N, n.IsBound)
	if n.ByFio {
		text += "*"
	}
	return text
}

// Spread returns how far the farthest run is from the median, as a share of it. It is 0 for one run.
func (n Number) Spread() float64 {
	if n.Runs < 2 || !(n.N > 0) {
		return 0
	}
	return max(n.High-n.N, n.N-n.Low) / n.N
}

func (n Number) spreadText() string {
	percent := 100 * n.Spread()
	if percent < 9.95 {
		return fmt.Sprintf("%.1f%%", percent)
	}
	return fmt.Sprintf("%.0f%%", percent)
}
