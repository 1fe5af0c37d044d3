package main

import (
	"slices"

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
	isOpen   bool // some lie in fio's last bin, which has no end: the upper bound is none
}

var heatmapColumns = slices.Concat(
	facts.RunColumns(func(r *heatmapRow) *mapping.RunInfo { return r.run }),
	[]table.Column[*heatmapRow]{
		{
			Name: "start", Unit: "ms",
			Value: func(r *heatmapRow) any { return r.column.Start.Sub(r.run.Start).Milliseconds() },
		},
		{
			Name: "end", Unit: "ms",
			Value: func(r *heatmapRow) any { return r.column.End.Sub(r.run.Start).Milliseconds() },
		},
		{Name: "start", Sparse: true, Value: func(r *heatmapRow) any { return r.column.Start }},
		{Name: "end", Sparse: true, Value: func(r *heatmapRow) any { return r.column.End }},
		// the band: from low up to, not with, high
		{Name: "low", Unit: "us", Value: func(r *heatmapRow) any { return heatmap.Bound(r.band) }},
		{Name: "high", Unit: "us", Value: func(r *heatmapRow) any { return heatmap.Bound(r.band + 1) }},
		{Name: "requests", Value: func(r *heatmapRow) any { return r.requests }},
		{Name: "open", Sparse: true, Value: func(r *heatmapRow) any { return r.isOpen }},
	},
)
