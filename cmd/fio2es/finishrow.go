package main

import (
	"fmt"
	"strings"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/mapping"
)

// printFinished prints the rows of runs, where they are stored, and what to run next.
func (r *running) printFinished(f *finished) error {
	runs := f.runs
	if len(runs) == 0 {
		return nil
	}
	if err := r.printRows(runs); err != nil {
		return err
	}
	for _, address := range kibanaAddresses(&r.cfg, runs) {
		term.Line(r.stderr, "kibana:  %s", address)
	}
	var ids []string
	for _, run := range runs {
		ids = append(ids, facts.ShortID(run.Run.ID))
	}
	fmt.Fprintln(r.stderr)
	term.Line(r.stderr, "history: %s", r.history().name())
	for _, folder := range f.folders {
		term.Line(r.stderr, "files:   %s, %s", shortHome(folder), unit.Bytes(record.Size(folder)))
	}
	next := []string{"fio2es percentiles " + ids[0], "fio2es heatmap " + ids[0]}
	if len(ids) > 1 {
		next = []string{"fio2es compare " + strings.Join(ids, ",") + " OTHER", "fio2es runs " + strings.Join(ids, " ")}
	}
	fmt.Fprintf(r.stderr, "next:    %s\n", strings.Join(next, "\n         "))
	return nil
}

// kibanaAddresses returns the dashboards of runs, if the settings name a Kibana.
func kibanaAddresses(cfg *config.Config, runs []*mapping.Run) (list []string) {
	bundle, err := kibana.New(kibana.Options{Prefix: cfg.Prefix, Space: cfg.Kibana.Space})
	if cfg.Kibana.URL == "" || !cfg.Elasticsearch.Enabled() || err != nil { // fio2es setup reports such an error
		return nil
	}
	for _, run := range runs {
		list = append(list, bundle.RunAddress(cfg.Kibana.Name(), &run.Run))
	}
	return list
}

// printRows prints the rows of runs that have just ended.
func (e *env) printRows(runs []*mapping.Run) error {
	to := e.stderr
	if f := e.terminal(); f != nil {
		to = term.NewScreen(f, e.errors)
	}
	columns, _, err := where.Columns([]string{"run", "name", "requests", "iops", "bandwidth", "p50", "p99", "p99_9", "max", "recovered", "missing", "state"})
	if err != nil {
		return err
	}
	fmt.Fprintln(to)
	return writeRuns(to, runs, columns, table.Text)
}
