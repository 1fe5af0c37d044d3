package main

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// documentFormat is the format of run documents, one on each line.
const documentFormat = "document"

var runFormats = append(slices.Clone(table.Formats), documentFormat)

// writeRuns writes the columns of runs, with a row for each direction, or their documents without histograms. Nil
// columns mean the usual ones.
func writeRuns(w io.Writer, runs []*mapping.Run, columns []table.Column[*facts.Line], format string) error {
	if format == documentFormat {
		return writeDocuments(w, runs)
	}
	if columns == nil {
		columns = usualColumns(runs)
	}
	columns = slices.Clone(columns)
	for i := range columns {
		if columns[i].Heading == "Start" {
			columns[i].Heading = "Start (UTC)"
		}
	}
	drop := []string{"BANDWIDTH", "MEAN", "JOBS", "HOSTS", "P50", "P95", "MAX", "REC", "P99.9", "IOPS", "MISS", "NOTE", "REQUESTS"}
	to := table.NewNarrow(w, format, columns, []string{"NAME", "NOTE", "STATE"}, drop)
	byFio := false
	for _, r := range runs {
		for _, line := range facts.LinesFor(columns, r) {
			byFio = byFio || line.Latencies.ByFio
			if err := to.Write(line); err != nil {
				return err
			}
		}
	}
	return to.End(facts.Notes(byFio)...)
}

// usualColumns returns the default columns for a list of these runs.
func usualColumns(runs []*mapping.Run) []table.Column[*facts.Line] {
	hidden := []string{"min", "p75", "p90", "p99_99"}
	if !slices.ContainsFunc(runs, func(r *mapping.Run) bool { return r.Run.Note != "" }) {
		hidden = append(hidden, "note")
	}
	return table.Hide(facts.Columns, hidden...)
}

func writeDocuments(w io.Writer, runs []*mapping.Run) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // otherwise < and > in rules would be escaped
	for _, r := range runs {
		if err := enc.Encode(r.Light()); err != nil {
			return err
		}
	}
	return nil
}
