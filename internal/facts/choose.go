package facts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// choices are the columns that people can choose: all of [Columns] and all of [Settings].
var choices = func() []table.Column[*Line] {
	ofRuns := slices.Concat(Settings, interval)
	settings := ofRun(ofRuns)
	for i := range settings {
		settings[i].Text = first(ofRuns[i].TextOf)
	}
	rest := slices.DeleteFunc(slices.Clone(Columns), func(c table.Column[*Line]) bool { return c.Name != "" && hasColumn(settings, c.Name) })
	return slices.Concat(rest, settings)
}()

// nameOf returns what people call a column: its name, or the heading if it is only for people.
func nameOf(c *table.Column[*Line]) string {
	if c.Name == "" {
		return strings.ToLower(c.Title())
	}
	return c.Name
}

// ColumnNames returns the names of all columns of runs.
func ColumnNames() (list []string) {
	for i := range choices {
		if name := nameOf(&choices[i]); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// Choose returns the columns with these names, in this order. If a column is about a direction, the column of
// directions is added. Latencies get further columns for programs, which say whether a latency is a lower bound or
// computed by fio. other is called with names that are not known here, and returns nil if it does not know them
// either.
func Choose(names []string, other func(name string) *table.Column[*Line]) (list []table.Column[*Line], err error) {
	hasLatency := false
	for _, name := range names {
		wanted := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), ".", "_")
		found := named(wanted)
		if len(found) == 0 {
			found = columnOf(strings.TrimSpace(name), other)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("no column is called %q: want some of %s, or a field of --where (fio2es help fields)",
				name, strings.Join(ColumnNames(), ", "))
		}
		for i := range found { // so that all chosen columns are shown
			if c := &found[i]; len(found) == 1 && c.Heading == "" && c.Text == nil {
				c.Heading = c.Name
			}
		}
		hasLatency = hasLatency || slices.Contains(LatencyNames(), wanted)
		if !slices.Contains(names, direction) && !hasColumn(list, direction) && hasColumn(Numbers, wanted) {
			list = append(list, table.Pick(Columns, direction)...)
		}
		list = append(list, found...)
	}
	for _, name := range []string{"open", "source"} {
		if hasLatency && !slices.Contains(names, name) {
			list = append(list, table.Pick(Columns, name)...)
		}
	}
	return list, nil
}

// columnOf returns the column that other knows by this name, which may also be one of these by another name. other
// may be nil.
func columnOf(name string, other func(name string) *table.Column[*Line]) []table.Column[*Line] {
	if other == nil {
		return nil
	}
	c := other(name)
	if c == nil {
		return nil
	}
	if list := named(c.Name); len(list) > 0 {
		return list
	}
	return []table.Column[*Line]{*c}
}

// named returns the columns with a name: the one for people and the one for programs.
func named(name string) []table.Column[*Line] {
	return slices.DeleteFunc(slices.Clone(choices), func(c table.Column[*Line]) bool { return nameOf(&c) != name })
}

const direction = "direction"

func hasColumn(list []table.Column[*Line], name string) bool {
	return slices.ContainsFunc(list, func(c table.Column[*Line]) bool { return c.Name == name })
}

// LinesFor returns the lines of a run in a list with these columns: only one if no column is about a direction, or if
// nothing is known of its requests.
func LinesFor(columns []table.Column[*Line], run *mapping.Run) []*Line {
	lines := Lines(run)
	if len(lines) == 0 {
		return []*Line{NewLine(run, true, mapping.DirectionTotals{Totals: new(mapping.Totals)})}
	}
	if len(lines) > 1 && !hasColumn(columns, direction) {
		return lines[:1]
	}
	return lines
}

// Order is an order of runs: the latest or highest first, texts from A to Z. Unknown values are last.
type Order struct {
	Name   string               // such as "p99.9", or the name of the column
	Column *table.Column[*Line] // nil: by the start of the runs
}

// Orders are the built-in orders of runs. The first is the default.
var Orders = func() []Order {
	list := []Order{{Name: "start"}}
	columns := table.Pick(Numbers, "requests", "iops", "p50", "p95", "p99", "p99_9", "max")
	for i := range columns {
		list = append(list, Order{strings.ReplaceAll(columns[i].Name, "_", "."), &columns[i]})
	}
	return list
}()

// OrderOf returns the order with this name, in which "_" may stand for ".". other is as in [Choose].
func OrderOf(name string, other func(name string) *table.Column[*Line]) (*Order, error) {
	var names []string
	for i := range Orders {
		if Orders[i].Name == strings.ReplaceAll(name, "_", ".") {
			return &Orders[i], nil
		}
		names = append(names, Orders[i].Name)
	}
	for i := range choices {
		c := &choices[i]
		if c.Value == nil || c.Name == "start" {
			continue
		}
		if c.Name == strings.ReplaceAll(name, ".", "_") {
			return &Order{c.Name, c}, nil
		}
		if !slices.Contains(names, strings.ReplaceAll(c.Name, "_", ".")) {
			names = append(names, c.Name)
		}
	}
	if list := columnOf(name, other); len(list) > 0 {
		return &Order{name, &list[len(list)-1]}, nil // the last column is the one for programs, which has the value
	}
	return nil, fmt.Errorf("want one of %s, or a field of --where (fio2es help fields)", strings.Join(names, ", "))
}

// rank is the sort key of a run: the number first, then the text.
type rank struct {
	number float64
	text   string
}

func (a rank) compare(b rank) int {
	if (a.text == "") != (b.text == "") { // unknown values come last
		return cmp.Compare(b.text, a.text)
	}
	return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.text, b.text))
}

// Sort sorts runs by the order or its reverse. Equal runs keep their order.
func (o *Order) Sort(runs []*mapping.Run, isReversed bool) {
	ranks := map[*mapping.Run]rank{}
	if o.Column != nil {
		for _, run := range runs {
			ranks[run] = o.of(run)
		}
	}
	slices.SortStableFunc(runs, func(a, b *mapping.Run) int {
		order := ranks[a].compare(ranks[b])
		if o.Column == nil {
			order = b.Run.Start.Compare(a.Run.Start)
		}
		if isReversed {
			order = -order
		}
		return order
	})
}

// of returns the rank of a run by all its requests. If that number is not known, it is the highest number of its
// directions, or 0.
func (o *Order) of(run *mapping.Run) rank {
	lines := Lines(run)
	if run.All != nil {
		lines = slices.Insert(lines, 0, NewLine(run, true, mapping.DirectionTotals{Totals: run.All}))
	}
	most := rank{}
	for i, l := range lines {
		x := rankOf(o.Column.Value(l))
		if x.text != "" {
			return x
		}
		if x.number > most.number {
			most = x
		}
		if i == 0 && run.All != nil && !math.IsNaN(x.number) {
			return x
		}
	}
	return most
}

// rankOf returns the rank of a value. The number is NaN if it is not known.
func rankOf(value any) rank {
	switch v := value.(type) {
	case string:
		if v == "" {
			return rank{number: math.NaN()}
		}
		return rank{text: v}
	case bool:
		if v {
			return rank{number: 1}
		}
		return rank{}
	case int:
		return rank{number: float64(v)}
	case int64:
		return rank{number: float64(v)}
	case float64:
		return rank{number: v}
	case time.Time:
		return rank{number: float64(v.UnixMilli())}
	}
	return rank{number: math.NaN()}
}
