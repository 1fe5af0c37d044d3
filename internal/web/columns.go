package web

import (
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// usual are the default columns of the list, in addition to always.
const usual = "hosts,jobs,direction,requests,iops,p50,p95,p99,p99_9,max"

// always are the columns that every list has.
var always = []string{"Run", "Start", "Name", "State", "Note"}

// column is a column of the list that users can choose.
type column struct {
	table.Column[*facts.Line]
	Order *facts.Order // nil if the list cannot be sorted by it
}

// IsText reports whether the column has texts, which are aligned left.
func (c column) IsText() bool { return !strings.HasPrefix(c.Heading, ">") }

// columns returns the columns that the query chooses, and the fields that they need beyond [mapping.Run.Brief].
func (q listQuery) columns() (list []column, beyond []string, err error) {
	names := q.Columns
	if strings.TrimSpace(names) == "" {
		names = usual
	}
	chosen, beyond, err := where.Columns(strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' }))
	if err != nil {
		return nil, nil, err
	}
	for _, c := range chosen {
		if c.Heading == "" || slices.Contains(always, c.Heading) {
			continue
		}
		order, _ := facts.OrderOf(c.Name, nil)
		list = append(list, column{c, order})
	}
	return list, beyond, nil
}

// linesOf returns the lines of a run in a list with these columns.
func linesOf(columns []column, run *mapping.Run) []*facts.Line {
	var list []table.Column[*facts.Line]
	for _, c := range columns {
		list = append(list, c.Column)
	}
	return facts.LinesFor(list, run)
}
