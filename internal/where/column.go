package where

import (
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
)

// Columns returns columns of lists of runs by name: the columns of [facts.Choose], and fields of conditions such as
// label.release.
func Columns(names []string) ([]table.Column[*facts.Line], error) {
	return facts.Choose(names, func(name string) *table.Column[*facts.Line] {
		// latencies have their own columns, by direction and with the mark of a lower bound
		if f := columnField(name); f != nil && f.Kind != Latency {
			return f.column()
		}
		return nil
	})
}

// OrderOf returns the order by a column that [Columns] knows.
func OrderOf(name string) (*facts.Order, error) {
	return facts.OrderOf(name, func(name string) *table.Column[*facts.Line] {
		if f := columnField(name); f != nil {
			return f.column()
		}
		return nil
	})
}

// ColumnNames returns the names that Columns knows, except those of labels, options and configurations.
func ColumnNames() []string {
	list := facts.ColumnNames()
	for _, f := range Fields {
		if f.ofName == nil && f.Kind != Latency && !slices.Contains(list, f.Name) {
			list = append(list, f.Name)
		}
	}
	return list
}

// columnField returns the field of a column, or nil. It accepts a name in quotes.
func columnField(name string) *Field {
	p := expr.New(name)
	word, ok := p.Word()
	if f := Lookup(word); ok && p.IsEnd() && f != nil && f.ofName == nil {
		return f
	}
	return nil
}

// column returns a column with the field's values. As in other columns, texts are in each line of a run, and numbers
// only in the first.
func (f *Field) column() *table.Column[*facts.Line] {
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

// isNumber reports whether adding up values of the field makes sense.
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
