package heatmap

import (
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// Row is a cell that has requests.
type Row struct {
	run      *mapping.RunInfo
	column   *Column
	band     int
	requests int64
	isOpen   bool // some lie in fio's last bin, so the cell has no upper bound
}

func (r *Row) of() *mapping.RunInfo { return r.run }

// Columns are the columns of cells for tables.
var Columns = slices.Concat(
	facts.RunColumns((*Row).of),
	facts.TimeColumns((*Row).of, func(r *Row) time.Time { return r.column.Start }, func(r *Row) time.Time { return r.column.End }),
	[]table.Column[*Row]{
		// the band is [low, high)
		{Name: "low", Unit: "us", Value: func(r *Row) any { return Bound(r.band) }},
		{Name: "high", Unit: "us", Value: func(r *Row) any { return Bound(r.band + 1) }},
		{Name: "requests", Value: func(r *Row) any { return r.requests }},
		{Name: "open", Sparse: true, Value: func(r *Row) any { return r.isOpen }},
	},
)

// Rows returns the cells that have requests, sorted by time, then by latency.
func (m *Map) Rows(run *mapping.RunInfo) (rows []*Row) {
	for i := range m.Columns {
		for band, n := range m.Columns[i].Counts {
			if n > 0 {
				rows = append(rows, &Row{run, &m.Columns[i], band, n, m.OpenUS > 0 && m.OpenUS < Bound(band+1)})
			}
		}
	}
	return rows
}
