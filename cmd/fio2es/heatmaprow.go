package main

import (
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// heatmapRow is a cell that has requests.
type heatmapRow struct {
	run      *mapping.RunInfo
	column   *heatmap.Column
	band     int
	requests int64
	isOpen   bool // some lie in fio's last bin, so the cell has no upper bound
}

func (r *heatmapRow) of() *mapping.RunInfo { return r.run }

var heatmapColumns = slices.Concat(
	facts.RunColumns((*heatmapRow).of),
	facts.TimeColumns((*heatmapRow).of, func(r *heatmapRow) time.Time { return r.column.Start }, func(r *heatmapRow) time.Time { return r.column.End }),
	[]table.Column[*heatmapRow]{
		// the band is [low, high)
		{Name: "low", Unit: "us", Value: func(r *heatmapRow) any { return heatmap.Bound(r.band) }},
		{Name: "high", Unit: "us", Value: func(r *heatmapRow) any { return heatmap.Bound(r.band + 1) }},
		{Name: "requests", Value: func(r *heatmapRow) any { return r.requests }},
		{Name: "open", Sparse: true, Value: func(r *heatmapRow) any { return r.isOpen }},
	},
)
