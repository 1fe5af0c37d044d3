package query

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Contents counts the readable runs of a history, and lists what they can be found by: when they started, and their
// names, labels, benchmarks and modes. For a filter that selects no run, it lists instead how many runs each part of
// the filter selects, and which run meets most parts.
func Contents(ctx context.Context, store history.Store, f history.RunFilter) (runs int, lines []string, err error) {
	var first, last *mapping.Run
	seen, parts := newNames(), partsOf(f)
	for run, err := range store.Runs(ctx, history.RunFilter{Light: true, Brief: parts.onBrief()}) {
		if history.IsSkipped(err) {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		if runs++; runs == 1 { // the newest come first
			last = run
		}
		first = run
		if len(parts.list) == 0 {
			seen.add(run)
		} else {
			parts.add(run)
		}
	}
	if runs == 0 {
		return 0, nil, nil
	}
	rows := append(append([]row{{"started", facts.Started(first) + " to " + facts.StartedUTC(last)}}, seen.rows()...), parts.rows()...)
	width := 10
	for _, r := range rows {
		width = max(width, min(utf8.RuneCountInString(r.name), 30))
	}
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, r.name, r.text))
	}
	return runs, lines, nil
}

// row is a line of the contents of a history.
type row struct{ name, text string }

// names are what runs can be found by.
type names struct{ names, labels, benchmarks, modes map[string]bool }

func newNames() names {
	return names{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

func (n names) add(run *mapping.Run) {
	n.names[run.Run.Archive+":"+facts.ShortName(run)] = true
	for name, value := range run.Run.Labels {
		n.labels[name+"="+value] = true
	}
	n.benchmarks[run.CBT.Benchmark], n.modes[run.CBT.Mode] = true, true
}

func (n names) rows() (list []row) {
	for _, of := range []struct {
		name  string
		texts map[string]bool
	}{{"names", n.names}, {"labels", n.labels}, {"benchmarks", n.benchmarks}, {"modes", n.modes}} {
		delete(of.texts, "")
		if len(of.texts) > 0 {
			list = append(list, row{of.name, List(slices.Sorted(maps.Keys(of.texts)))})
		}
	}
	return list
}
