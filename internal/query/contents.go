package query

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Contents counts the runs of a history that can be read, and lists what they can be found by: when they started, their
// names, labels, benchmarks and modes.
func Contents(ctx context.Context, store history.Store) (runs int, lines []string, err error) {
	var first, last *mapping.Run
	names, labels, benchmarks, modes := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for run, err := range store.Runs(ctx, history.RunFilter{Brief: true}) {
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
		names[run.Run.Archive+":"+facts.ShortName(run)] = true
		for name, value := range run.Run.Labels {
			labels[name+"="+value] = true
		}
		benchmarks[run.CBT.Benchmark], modes[run.CBT.Mode] = true, true
	}
	if runs == 0 {
		return 0, nil, nil
	}
	lines = append(lines, fmt.Sprintf("started     %s to %s", facts.Started(first), facts.Started(last)))
	for _, of := range []struct {
		name  string
		texts map[string]bool
	}{{"names", names}, {"labels", labels}, {"benchmarks", benchmarks}, {"modes", modes}} {
		delete(of.texts, "")
		if len(of.texts) > 0 {
			lines = append(lines, fmt.Sprintf("%-10s  %s", of.name, List(slices.Sorted(maps.Keys(of.texts)))))
		}
	}
	return runs, lines, nil
}

// Count is how many runs a history has that can be read.
func Count(ctx context.Context, store history.Store) (n int, err error) {
	n, _, err = Contents(ctx, store)
	return n, err
}
