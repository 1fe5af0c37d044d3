package table

import (
	"slices"

	"github.com/fio2es/fio2es/internal/unit"
)

// Count returns a column of numbers of requests.
func Count[R any](name, heading string, of func(R) int64) Column[R] {
	return Column[R]{
		Name: name, Heading: heading,
		Value: func(r R) any { return of(r) },
		Text:  func(r R) string { return unit.Count(of(r)) },
	}
}

// Where returns columns that are empty in rows for which is returns false.
func Where[R any](is func(R) bool, columns []Column[R]) []Column[R] {
	for i := range columns {
		value, text := columns[i].Value, columns[i].Text
		columns[i].Sparse = true
		if value != nil {
			columns[i].Value = func(r R) any {
				if !is(r) {
					return nil
				}
				return value(r)
			}
		}
		if text != nil {
			columns[i].Text = func(r R) string {
				if !is(r) {
					return ""
				}
				return text(r)
			}
		}
	}
	return columns
}

// Pick returns the columns with these names, in the order of the names. It panics if a name is unknown.
func Pick[R any](columns []Column[R], names ...string) []Column[R] {
	var list []Column[R]
	for _, name := range names {
		i := slices.IndexFunc(columns, func(c Column[R]) bool { return c.Name == name })
		list = append(list, columns[i])
	}
	return list
}

// Hide returns columns in which those with these names are only for programs. Without names it hides all.
func Hide[R any](columns []Column[R], names ...string) []Column[R] {
	columns = slices.Clone(columns)
	for i := range columns {
		if len(names) == 0 || slices.Contains(names, columns[i].Name) {
			columns[i].Heading, columns[i].Text = "", nil
		}
	}
	return columns
}

// Map returns columns for rows of type R. columns are for rows of type Part, and of returns the Part of a row.
func Map[R, Part any](columns []Column[Part], of func(R) Part) []Column[R] {
	var list []Column[R]
	for _, c := range columns {
		one := Column[R]{Name: c.Name, Unit: c.Unit, Heading: c.Heading, Sparse: c.Sparse}
		one.Value = func(r R) any { return c.Value(of(r)) }
		if c.Text != nil {
			one.Text = func(r R) string { return c.Text(of(r)) }
		}
		list = append(list, one)
	}
	return list
}
