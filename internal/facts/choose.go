package facts

import (
	"fmt"
	"slices"
	"strings"

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
