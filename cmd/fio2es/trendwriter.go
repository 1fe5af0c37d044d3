package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
)

// trendWriter writes series and their changes, and counts them.
type trendWriter struct {
	*table.Writer[*workload.Row]
	w                            io.Writer
	format                       string
	runs, numbers, changes, rows int
	workloads                    map[*workload.Workload]bool
	differs                      []string // differences at changes, without repetitions
}

func newTrendWriter(w io.Writer, format string) *trendWriter {
	drop := []string{"RUNS", "99% INTERVAL", "RUN", "WAS"}
	return &trendWriter{
		Writer: table.NewNarrow(w, format, workload.Columns, []string{"WORKLOAD"}, drop), w: w, format: format, workloads: map[*workload.Workload]bool{},
	}
}

// series writes the changes of a series. With all, it also writes a series without changes.
func (t *trendWriter) series(s *workload.Series, all bool) error {
	if !t.workloads[s.Workload] {
		t.workloads[s.Workload] = true
		t.runs += len(s.Workload.Runs)
	}
	t.numbers++
	t.changes += len(s.Changes)
	for _, row := range s.Rows() {
		if !row.HasChange() && !all {
			continue
		}
		if text := row.Circumstances(); text != "" && !slices.Contains(t.differs, text) {
			t.differs = append(t.differs, text)
		}
		t.rows++
		if err := t.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// end ends the table with the differences, and says which runs were examined.
func (t *trendWriter) end() error {
	summary := fmt.Sprintf("%s of %s in %s: %s", unit.Plural(t.numbers, "number"), unit.Plural(len(t.workloads), "workload"),
		unit.Plural(t.runs, "run"), unit.Plural(t.changes, "change"))
	if t.rows == 0 && t.format == table.Text {
		_, err := fmt.Fprintln(t.w, summary)
		return err
	}
	return t.End(append(t.differs, summary)...)
}
