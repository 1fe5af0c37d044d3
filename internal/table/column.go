package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
)

// Column is a column of a table whose rows are of type R.
type Column[R any] struct {
	// Name and Unit are for programs: the header of CSV and the key of JSON are both,
	// "p99_us", or the name alone.
	Name, Unit string
	// Heading is for people. One that begins with ">" is that of a column of numbers. Tables on terminals and in
	// Markdown have headings in capitals.
	Heading string
	// Value is for programs: nil, a string, bool, int, int64, float64, []string or time.Time. nil, a float that is no
	// number and a time before 1970, which is one that is not known, are null in JSON and an empty cell in CSV.
	// Without Value the column is for people alone.
	Value func(R) any
	// Text is for people. Without Text a column with a heading shows the cell of CSV, and one without a heading is
	// for programs alone.
	Text func(R) string
	// Sparse leaves the key out of JSON where the value is null, false or empty.
	Sparse bool
}

// key is the column's name for programs.
func (c *Column[R]) key() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + "_" + c.Unit
}

func (c *Column[R]) isForPeople() bool { return c.Text != nil || c.Heading != "" }

// Title is the heading without its mark.
func (c *Column[R]) Title() string { return strings.TrimPrefix(c.Heading, ">") }

// TextOf is the cell of a row for people.
func (c *Column[R]) TextOf(row R) string {
	if c.Text == nil {
		return cell(c.Value(row))
	}
	return c.Text(row)
}

// timeLayout is the layout of times in documents. All times have the same number of digits, so texts sort as times.
const timeLayout = "2006-01-02T15:04:05.000Z"

// known is a value, or nil if it is not known.
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

// cell is a value in CSV. A list has spaces between its items.
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

// isEmpty reports whether a sparse column leaves a value out.
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
