package main

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// runRow is a direction of a run.
type runRow struct {
	run       *mapping.Run
	isFirst   bool // of the run
	direction mapping.DirectionTotals
	latency   answers
}

// first shows a text in the first row of a run alone.
func first(text func(*mapping.Run) string) func(*runRow) string {
	return func(r *runRow) string {
		if !r.isFirst {
			return ""
		}
		return text(r.run)
	}
}

// ifKnown is a setting, or nothing where it is not known.
func ifKnown[N int | int64](n N) any {
	if n == 0 {
		return nil
	}
	return n
}

// runsColumns repeat for programs what a run is, but no number of it: those of the run, and of
// no direction, are in its first row alone, so that sums over rows are right.
var runsColumns = slices.Concat(
	runColumns(func(r *runRow) *mapping.RunInfo { return &r.run.Run }),
	[]table.Column[*runRow]{
		{Heading: "RUN", Text: first(func(r *mapping.Run) string { return r.Run.ID[:min(8, len(r.Run.ID))] })},
		{
			Heading: "START",
			Text:    first(func(r *mapping.Run) string { return r.Run.Start.UTC().Format("2006-01-02 15:04:05") }),
		},
		{Heading: "NAME", Text: first(query.Title)},
		{Name: "start", Sparse: true, Value: func(r *runRow) any { return when(r.run.Run.Start) }},
		{Name: "benchmark", Sparse: true, Value: func(r *runRow) any { return r.run.CBT.Benchmark }},
		{Name: "mode", Sparse: true, Value: func(r *runRow) any { return r.run.CBT.Mode }},
		{Name: "op_size", Sparse: true, Value: func(r *runRow) any { return ifKnown(r.run.CBT.OpSize) }}, // bytes
		{Name: "iodepth", Sparse: true, Value: func(r *runRow) any { return ifKnown(r.run.CBT.IODepth) }},
		{Name: "complete", Value: func(r *runRow) any { return r.run.Run.Complete }},
	},
	where(func(r *runRow) bool { return r.isFirst }, []table.Column[*runRow]{
		{Name: "hosts", Heading: ">HOSTS", Value: func(r *runRow) any { return len(r.run.Hosts) }},
		{Name: "jobs", Heading: ">JOBS", Value: func(r *runRow) any { return r.run.Fio.Jobs }},
	}),
	[]table.Column[*runRow]{
		{Name: "direction", Heading: "DIR", Value: func(r *runRow) any { return r.direction.Direction }},
		counted("requests", ">REQUESTS", func(r *runRow) int64 { return r.direction.Requests }),
		{
			Name: "iops", Heading: ">IOPS",
			Value: func(r *runRow) any { return r.direction.IOPS },
			Text:  func(r *runRow) string { return unit.Rate(r.direction.IOPS) },
		},
		{Name: "bandwidth", Value: func(r *runRow) any { return r.direction.Bandwidth }}, // bytes per second
	},
	latencyColumns(func(r *runRow) *answers { return &r.latency }, "mean", "p50", "p95", "p99", "p99_9", "max"),
	where(func(r *runRow) bool { return r.isFirst }, []table.Column[*runRow]{
		{
			Name: "recovered", Heading: ">REC",
			Value: func(r *runRow) any { return r.run.Recovered.Requests },
			Text:  func(r *runRow) string { return count(r.run.Recovered.Requests) },
		},
		{
			Name: "missing", Heading: ">MISS",
			Value: func(r *runRow) any { return r.run.Missing.Requests },
			Text:  func(r *runRow) string { return count(r.run.Missing.Requests) },
		},
	}),
	[]table.Column[*runRow]{
		{Name: "state", Sparse: true, Value: func(r *runRow) any { return state(r.run) }, Text: first(state)},
	},
)

// documentFormat is the format of whole documents, one a line.
const documentFormat = "document"

// runFormats are the formats of runs.
var runFormats = append(slices.Clone(table.Formats), documentFormat)

// writeRuns writes runs, a row for each direction, or their documents without histograms.
func writeRuns(w io.Writer, runs []*mapping.Run, format string) error {
	if format == documentFormat {
		return writeDocuments(w, runs)
	}
	drop := []string{"MEAN", "JOBS", "HOSTS", "P50", "P95", "MAX", "REC", "P99.9", "IOPS", "MISS"}
	to := table.NewNarrow(w, format, runsColumns, []string{"NAME"}, drop)
	byFio := false
	for _, r := range runs {
		for i, d := range r.ByDirection() {
			a, err := answersOfTotal(d.Totals, "")
			if err != nil {
				return err
			}
			byFio = byFio || a.byFio
			if err := to.Write(&runRow{r, i == 0, d, a}); err != nil {
				return err
			}
		}
	}
	if err := to.End(fioNotes(byFio)...); err != nil {
		return err
	}
	return to.Flush()
}

func writeDocuments(w io.Writer, runs []*mapping.Run) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // rules are full of < and >
	for _, r := range runs {
		if err := enc.Encode(r.Light()); err != nil {
			return err
		}
	}
	return nil
}
