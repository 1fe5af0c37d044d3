// Package matrix answers for many runs at once: a number of each by the values of settings, such as p99 by block size and
// I/O depth. A [Matrix] has a cell for each combination of two; with more settings there is a matrix for each combination of
// the others. It is written as a table, as a heat map, or as the curve of a latency against IOPS, for terminals, files and
// pages. The runs may come from anywhere: a sweep, an archive of CBT, or runs that were made by hand. A [Collection] takes them
// one after another, so that not all documents are in memory at the same time. The sections of a run whose jobs did not do the
// same are runs, too.
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
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
)

// Setting is a field by whose values runs are arranged.
type Setting struct {
	*where.Field
	Name string // as the user wrote it: bs, not op_size
}

// Settings finds fields by the names that conditions have.
func Settings(names []string) (by []Setting, err error) {
	for _, name := range names {
		name = strings.TrimSpace(name)
		f := where.Lookup(name)
		switch {
		case f == nil:
			return nil, fmt.Errorf("no setting is called %q: want bs, iodepth, numjobs, rw, label.NAME, option.NAME or another field (fio2es help fields)", name)
		case slices.Contains([]expr.Kind{expr.Time, expr.Count, expr.Rate, expr.Bandwidth, expr.Latency}, f.Kind):
			return nil, fmt.Errorf("%s is a result or a time, and no setting: want bs, iodepth, label.NAME or another setting", name)
		}
		if i := slices.IndexFunc(by, func(s Setting) bool { return s.Field.Name == f.Name }); i >= 0 {
			return nil, fmt.Errorf("%s and %s are the same setting: want two different ones", by[i].Name, name)
		}
		by = append(by, Setting{f, name})
	}
	return by, nil
}

// Members returns the members of run documents that matrices by these settings need, of these directions or of each of
// [mapping.Directions], or nil for all. Without settings they are those for [SettingsOf].
func Members(by []Setting, directions ...string) []string {
	members := []string{"run", "workload", "cbt", "fio", "hosts", "sections"}
	if members = append(members, directions...); len(directions) == 0 {
		members = append(members, mapping.Directions[:]...)
	}
	for _, s := range by {
		if s.Field.Members() == nil {
			return nil
		}
		members = append(members, s.Field.Members()...)
	}
	return members
}

// Depths returns the settings for some runs: the I/O depth becomes CBT's total if that is the only depth that they have.
func Depths(by []Setting, runs []*Run) []Setting {
	own := slices.IndexFunc(by, func(s Setting) bool { return s.Field.Name == "iodepth" })
	total := slices.IndexFunc(by, func(s Setting) bool { return s.Field.Name == "total_iodepth" })
	if own < 0 || total >= 0 || len(runs) == 0 || slices.ContainsFunc(runs, func(run *Run) bool { return run.Like.CBT.TotalIODepth == 0 }) {
		return by
	}
	by = slices.Clone(by)
	by[own] = Setting{where.Lookup("total_iodepth"), "total_iodepth"}
	return by
}

// most is how many settings are found where runs differ: more make too many tables.
const most = 3

// SettingsOf returns the settings in which runs differ, such as those of a sweep: at first how large a request is, then how
// many there are at the same time. It returns none if runs differ in more than three, or have fewer than three combinations.
// A setting that follows from another, such as CBT's total I/O depth from the I/O depth, does not count.
func SettingsOf(runs []*Run) (by []Setting) {
	likes := likesOf(runs)
	var texts [][]string                                           // the values of the runs, by setting
	varied := workload.Varying(likes)                              // by name
	slices.SortStableFunc(varied, func(a, b workload.Varied) int { // settings before other options, which may follow from them
		dots := func(v workload.Varied) int { return strings.Count(fieldNamed(v.Name).Name, ".") }
		return cmp.Compare(dots(a), dots(b))
	})
	combinations := make([]string, len(likes))
	for _, v := range varied {
		s, own := Setting{fieldNamed(v.Name), v.Name}, []string(nil)
		if where.Lookup(v.Name) == nil {
			s.Name = s.Field.Name // option.ioengine
		}
		for _, run := range likes {
			own = append(own, s.of(run).Text)
		}
		follows := func(from []string) bool {
			seen := map[string]string{}
			for i, text := range from {
				if cmp.Or(seen[text], own[i]) != own[i] {
					return false
				}
				seen[text] = own[i]
			}
			return true
		}
		if v.Name == "name" { // no settings are known
			return nil
		}
		if slices.ContainsFunc(texts, follows) {
			continue
		}
		by, texts = append(by, s), append(texts, own)
		for i := range likes {
			combinations[i] += own[i] + "\n"
		}
	}
	slices.Sort(combinations)
	if len(by) > most || len(slices.Compact(combinations)) < 3 {
		return nil
	}
	return Arranged(by)
}

// Arranged sorts settings: how large a request is, then how many there are at the same time. Of more than two, texts such as rw
// are last, because each of their values has a matrix of its own.
func Arranged(by []Setting) []Setting {
	place := func(s Setting) int {
		switch {
		case s.isLoad():
			return 1
		case len(by) > 2 && s.Kind == expr.Text:
			return 2
		}
		return 0
	}
	by = slices.Clone(by)
	slices.SortStableFunc(by, func(a, b Setting) int { return cmp.Compare(place(a), place(b)) })
	return by
}

// isLoad reports whether a setting says how many requests there are at the same time.
func (s Setting) isLoad() bool {
	return slices.Contains([]string{"iodepth", "total_iodepth", "numjobs", "jobs", "concurrent_procs", "volumes", "clients"}, s.Field.Name)
}

// Value is a value of a setting.
type Value struct {
	Text   string  // for people: "4K"; "-" if it is not known
	number float64 // by which values are sorted; NaN for texts
	raw    any     // for programs: a float64 or a string; nil if it is not known
}

func (s Setting) of(run *mapping.Run) Value {
	values := s.Values(run)
	if text := rule.DefaultOf(run, s.Field.Name); text != "" && len(values) == 0 {
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
	v := Value{}
	if n, isNumber := values[0].(float64); isNumber && len(values) == 1 {
		v = Value{texts[0], n, n}
	} else {
		v = valueOf(strings.Join(texts, ", "))
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

// distinct sorts values, and removes repetitions.
func distinct(values []Value) []Value {
	slices.SortStableFunc(values, Value.compare)
	return slices.CompactFunc(values, func(a, b Value) bool { return a.compare(b) == 0 })
}

// Matrix has runs of one direction, by the values of one setting or two.
type Matrix struct {
	By            []Setting
	Direction     string // one of [mapping.Directions], or [mapping.AllDirections]
	Rows, Columns []Value
	Also          []string // other settings in which the runs differ, such as "option.ioengine (io_uring, libaio)"
	at            []Value  // of the settings after the second one, which all runs have
	cells         map[[2]string]*Cell
	all           *[]*Matrix // this one and those with other values of the settings after the second
}

// Cell has the runs with the same values of the settings.
type Cell struct {
	Values  []Value // of the settings
	Runs    []*Run
	Mixed   []string // other settings in which its runs differ: then it has no numbers
	of      *Matrix
	numbers map[facts.Metric]Number // those that were asked for
}

// New arranges the runs that have requests of a direction. With one setting, a matrix has one column. With more than two, there
// is a matrix for each combination of the values of the others.
func New(by []Setting, direction string, runs []*Run) (list []*Matrix) {
	byText, cells := map[string]*Matrix{}, map[*mapping.Run]*Cell{} // of runs that are alike
	for _, run := range runs {
		if run.Of(direction) == nil {
			continue
		}
		if c := cells[run.Like]; c != nil {
			c.Runs = append(c.Runs, run)
			continue
		}
		values, text := []Value(nil), ""
		for i, s := range by {
			if values = append(values, s.of(run.Like)); i > 1 {
				text += values[i].Text + "\n"
			}
		}
		m := byText[text]
		if m == nil {
			m = &Matrix{By: by, Direction: direction, at: values[min(2, len(by)):], cells: map[[2]string]*Cell{}, all: &list}
			byText[text], list = m, append(list, m)
		}
		row, column := values[0], Value{}
		if len(by) > 1 {
			column = values[1]
		}
		at := [2]string{row.Text, column.Text}
		if m.cells[at] == nil {
			m.cells[at] = &Cell{Values: values, of: m}
			m.Rows, m.Columns = append(m.Rows, row), append(m.Columns, column)
		}
		cells[run.Like] = m.cells[at]
		m.cells[at].Runs = append(m.cells[at].Runs, run)
	}
	slices.SortFunc(list, func(a, b *Matrix) int { return slices.CompareFunc(a.at, b.at, Value.compare) })
	for _, m := range list {
		m.Rows, m.Columns = distinct(m.Rows), distinct(m.Columns)
		var have []*mapping.Run
		for _, c := range m.Cells() {
			likes := likesOf(c.Runs)
			c.Mixed = differing(workload.Varying(likes))
			have = append(have, likes...)
		}
		m.Also = differing(slices.DeleteFunc(workload.Varying(have), func(v workload.Varied) bool {
			return slices.ContainsFunc(by, func(s Setting) bool { return s.isSame(v.Name) })
		}))
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

// Directions returns the directions that runs have.
func Directions(runs []*Run) []string {
	return slices.DeleteFunc(slices.Clone(mapping.Directions[:]), func(d string) bool {
		return !slices.ContainsFunc(runs, func(run *Run) bool { return run.Of(d) != nil })
	})
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
func (c *Cell) Name() string { return named(c.of.By, c.Values) }

func named(by []Setting, values []Value) string {
	var texts []string
	for i, v := range values {
		texts = append(texts, by[i].Name+" "+v.Text)
	}
	return strings.Join(texts, ", ")
}

// Number is a number of the runs of a cell: their median, and the lowest and the highest.
type Number struct {
	facts.Metric
	Median    facts.Number // unknown if no run has the number, or the runs are mixed
	Runs      int          // those that have the number
	Low, High float64      // of these runs
}

// N returns the median, or the middle of its bounds, or NaN.
func (n Number) N() float64 { return trend.Value{Low: n.Median.Low, High: n.Median.High}.Middle() }

// Number returns a number of the cell.
func (c *Cell) Number(metric facts.Metric) Number {
	n, isKnown := c.numbers[metric]
	if !isKnown {
		runs := c.Runs
		if len(c.Mixed) > 0 {
			runs = nil
		}
		if c.numbers == nil {
			c.numbers = map[facts.Metric]Number{}
		}
		n = NumberOf(metric, c.of.Direction, runs)
		c.numbers[metric] = n
	}
	return n
}

// NumberOf returns a number of runs that did the same, as documents or as matrices have them.
func NumberOf[R interface {
	Of(direction string) *mapping.Totals
}](metric facts.Metric, direction string, runs []R) Number {
	n := Number{Metric: metric, Median: facts.Known(math.NaN()), Low: math.NaN(), High: math.NaN()}
	var all []trend.Value
	byFio := false
	for _, run := range runs {
		t := run.Of(direction)
		if t == nil {
			continue
		}
		of := metric.OfTotals(t)
		if math.IsNaN(of.Low) {
			continue
		}
		if all = append(all, trend.Value{Low: of.Low, High: of.High}); len(all) == 1 {
			n.Low, n.High = of.Low, of.Low
		}
		byFio = byFio || of.ByFio
		n.Low, n.High = min(n.Low, of.Low), max(n.High, of.Low)
		if !math.IsInf(of.High, 1) {
			n.High = max(n.High, of.High)
		}
	}
	if n.Runs = len(all); n.Runs > 0 {
		median := trend.Median(all)
		n.Median = facts.Bounded(median.Low, median.High)
		n.Median.ByFio = byFio
	}
	return n
}

// ValueText returns the median for people.
func (n Number) ValueText() string {
	return n.Median.Text(n.Kind)
}

// Spread returns how far the farthest run is from the median, as a share of it. It is 0 for one run.
func (n Number) Spread() float64 {
	if n.Runs < 2 || !(n.N() > 0) {
		return 0
	}
	return max(n.High-n.N(), n.N()-n.Low) / n.N()
}
