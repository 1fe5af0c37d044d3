package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
)

// Column is a column of a table whose rows are of type R.
type Column[R any] struct {
	// Name and Unit are for programs. The header in CSV and the key in JSON are both together, such as "p99_us", or
	// the name alone.
	Name, Unit string
	// Heading is for people. If it begins with ">", the column has numbers. Tables on terminals and in Markdown show
	// headings in capitals, unless IsValue says that the heading is a value.
	Heading string
	IsValue bool
	// Value is for programs: nil, a string, bool, int, int64, float64, []string or time.Time. Unknown values are null
	// in JSON and an empty cell in CSV: nil, a float that is NaN or infinite, and a time before 1970. A column
	// without Value is only for people.
	Value func(R) any
	// Text is for people. A column with a heading but without Text shows the cell of CSV. A column without a heading
	// is only for programs.
	Text func(R) string
	// Sparse leaves out the key in JSON if the value is null, false or empty.
	Sparse bool
}

// Title returns the heading without the mark.
func (c *Column[R]) Title() string { return strings.TrimPrefix(c.Heading, ">") }

// TextOf returns the cell of a row for people.
func (c *Column[R]) TextOf(row R) string {
	if c.Text == nil {
		return cell(c.Value(row))
	}
	return c.Text(row)
}

// timeLayout is the layout of times in documents. All times have the same number of digits, so sorting texts sorts
// times.
const timeLayout = "2006-01-02T15:04:05.000Z"

// known returns a value, or nil if it is not known.
func known(v any) any {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case time.Time:
		if !unit.IsKnown(v) {
			return nil
		}
		return v.UTC().Format(timeLayout)
	}
	return v
}

// cell returns a value for CSV. Items of a list are separated by spaces.
func cell(v any) string {
	switch v := known(v).(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []string:
		return strings.Join(v, " ")
	default:
		panic(fmt.Sprintf("a column gives a %T", v))
	}
}

// isEmpty reports whether a sparse column leaves out a value.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case []string:
		return len(v) == 0
	}
	return false
}

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
			columns[i].Value = func(r R) (v any) {
				if is(r) {
					v = value(r)
				}
				return v
			}
		}
		if text != nil {
			columns[i].Text = func(r R) (s string) {
				if is(r) {
					s = text(r)
				}
				return s
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
