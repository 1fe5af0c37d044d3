package where

import (
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
)

// Columns are columns of lists of runs by their names: those of [facts.Choose], and fields of conditions, such as
// label.release. beyond are the fields, by their paths in documents, that they need beyond [mapping.Run.Brief].
func Columns(names []string) (list []table.Column[*facts.Line], beyond []string, err error) {
	list, err = facts.Choose(names, func(name string) *table.Column[*facts.Line] {
		if f := columnField(name); f != nil && f.Kind != Latency { // lists have these by direction, with their marks
			return f.column(&beyond)
		}
		return nil
	})
	return list, beyond, err
}

// OrderOf is the order of a name, as [Columns], and what it needs.
func OrderOf(name string) (order *facts.Order, beyond []string, err error) {
	order, err = facts.OrderOf(name, func(name string) *table.Column[*facts.Line] {
		if f := columnField(name); f != nil {
			return f.column(&beyond)
		}
		return nil
	})
	return order, beyond, err
}

// ColumnNames are the names that Columns knows, without those of labels, options and configurations.
func ColumnNames() []string {
	list := facts.ColumnNames()
	for _, f := range Fields {
		if f.ofName == nil && f.Kind != Latency && !slices.Contains(list, f.Name) {
			list = append(list, f.Name)
		}
	}
	return list
}

// columnField is the field of a column. The quotes of a name are left out. It is nil if there is none.
func columnField(name string) *Field {
	list, err := tokens(name)
	if err != nil || len(list) != 2 || list[0].kind == operator {
		return nil
	}
	if f := Lookup(list[0].text); f != nil && f.ofName == nil {
		return f
	}
	return nil
}

// column is the field in a list of runs. As in other columns, texts are in each line of a run, and numbers in its first.
// If it needs more than [mapping.Run.Brief], its path is added to beyond.
func (f *Field) column(beyond *[]string) *table.Column[*facts.Line] {
	if !f.isBrief() {
		*beyond = append(*beyond, f.Path)
	}
	return &table.Column[*facts.Line]{
		Name: f.Name, Heading: f.heading(), Sparse: true,
		Value: func(l *facts.Line) any {
			switch values := f.Values(l.Run); {
			case len(values) == 0 || f.isNumber() && !l.IsFirst:
				return nil
			case len(values) > 1:
				return f.text(values)
			default:
				if bound, ok := values[0].(AtLeast); ok {
					return float64(bound)
				}
				return values[0]
			}
		},
		Text: func(l *facts.Line) string {
			if !l.IsFirst {
				return ""
			}
			return f.text(f.Values(l.Run))
		},
	}
}

// isNumber reports whether sums of the field make sense.
func (f *Field) isNumber() bool { return f.Kind != Text && f.Kind != Time && f.Kind != Flag }

func (f *Field) heading() string {
	if f.isNumber() {
		return ">" + f.Name
	}
	return f.Name
}

func (f *Field) text(values []any) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, f.Kind.Text(v))
	}
	return strings.Join(texts, ", ")
}
