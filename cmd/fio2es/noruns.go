package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// contents is what the runs of a history can be found by.
type contents struct {
	runs              int
	first, last       *mapping.Run // by their start
	benchmarks, modes map[string]bool
	names, labels     map[string]bool
}

// contentsOf reads all runs of a history.
func contentsOf(ctx context.Context, store history.Store) (*contents, error) {
	c := &contents{benchmarks: map[string]bool{}, modes: map[string]bool{}, names: map[string]bool{}, labels: map[string]bool{}}
	for run, err := range store.Runs(ctx, history.RunFilter{Light: true}) {
		if history.IsSkipped(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if c.runs++; c.last == nil {
			c.last = run
		}
		c.first = run // the newest come first
		c.benchmarks[run.CBT.Benchmark], c.modes[run.CBT.Mode] = true, true
		c.names[run.Run.Archive+":"+facts.ShortName(run)] = true
		for name, value := range run.Run.Labels {
			c.labels[name+"="+value] = true
		}
	}
	return c, nil
}

// historyText says for an error how many runs there are.
func historyText(ctx context.Context, store history.Store) string {
	c, err := contentsOf(ctx, store)
	switch {
	case err != nil:
		return "fio2es runs lists those that there are"
	case c.runs == 0:
		return "there are no runs yet: store some with fio2es ingest PATH"
	}
	return fmt.Sprintf("fio2es runs lists the %s that there are", unit.Plural(c.runs, "run"))
}

// tellNoRuns says on stderr that no run matches, and what there is.
func (a *app) tellNoRuns(ctx context.Context, store history.Store, f history.RunFilter) error {
	c, err := contentsOf(ctx, store)
	if err != nil {
		return err
	}
	if c.runs == 0 {
		term.Line(a.stderr, "no runs in %s; store some with: fio2es ingest PATH", a.historyName())
		return nil
	}
	term.Line(a.stderr, "no runs match%s; %s has %s:", filterText(&f), a.historyName(), unit.Plural(c.runs, "run"))
	day := func(r *mapping.Run) string { return r.Run.Start.UTC().Format("2006-01-02 15:04:05") }
	term.Line(a.stderr, "  started     %s to %s", day(c.first), day(c.last))
	for _, l := range []struct {
		name string
		set  map[string]bool
	}{{"names", c.names}, {"labels", c.labels}, {"benchmarks", c.benchmarks}, {"modes", c.modes}} {
		delete(l.set, "")
		if len(l.set) > 0 {
			term.Line(a.stderr, "  %-10s  %s", l.name, listText(slices.Sorted(maps.Keys(l.set))))
		}
	}
	return nil
}

// filterText is a filter as the user wrote it, each part with a space before it.
func filterText(f *history.RunFilter) string {
	var b strings.Builder
	add := func(flag, value string) {
		if value != "" {
			b.WriteString(" " + flag + value)
		}
	}
	add("", f.Text)
	add("--benchmark ", f.Benchmark)
	add("--mode ", f.Mode)
	for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
		add("--label ", name+"="+f.Labels[name])
	}
	const layout = "2006-01-02T15:04:05Z"
	if !f.From.IsZero() {
		add("--since ", f.From.UTC().Format(layout))
	}
	if !f.To.IsZero() {
		add("--until ", f.To.UTC().Format(layout))
	}
	return b.String()
}
