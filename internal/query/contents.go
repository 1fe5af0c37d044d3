package query

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Contents is what the runs of a history can be found by.
type Contents struct {
	Runs        int
	first, last *mapping.Run // by their start
	by          [4]map[string]bool
}

// contentNames are what [Contents] lists.
var contentNames = [...]string{"names", "labels", "benchmarks", "modes"}

// ReadContents reads all runs of a history.
func ReadContents(ctx context.Context, store history.Store) (*Contents, error) {
	c := &Contents{}
	for i := range c.by {
		c.by[i] = map[string]bool{}
	}
	for run, err := range store.Runs(ctx, history.RunFilter{Light: true}) {
		if history.IsSkipped(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if c.Runs++; c.last == nil {
			c.last = run
		}
		c.first = run // the newest come first
		c.by[0][run.Run.Archive+":"+facts.ShortName(run)] = true
		for name, value := range run.Run.Labels {
			c.by[1][name+"="+value] = true
		}
		c.by[2][run.CBT.Benchmark], c.by[3][run.CBT.Mode] = true, true
	}
	return c, nil
}

// Lines list what there is: when the runs started, their names, labels, benchmarks and modes.
func (c *Contents) Lines() []string {
	if c.Runs == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("started     %s to %s", facts.Started(c.first), facts.Started(c.last))}
	for i, name := range contentNames {
		delete(c.by[i], "")
		if len(c.by[i]) > 0 {
			lines = append(lines, fmt.Sprintf("%-10s  %s", name, List(slices.Sorted(maps.Keys(c.by[i])))))
		}
	}
	return lines
}

// Count is how many runs a history has that can be read.
func Count(ctx context.Context, store history.Store) (n int, err error) {
	for _, err := range store.Runs(ctx, history.RunFilter{Light: true}) {
		if history.IsSkipped(err) {
			continue
		}
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// countText says for an error how many runs a history has.
func countText(ctx context.Context, store history.Store) string {
	n, err := Count(ctx, store)
	switch {
	case err != nil:
		return "fio2es runs lists those that there are"
	case n == 0:
		return "there are no runs yet: store some with fio2es ingest PATH"
	}
	return fmt.Sprintf("fio2es runs lists the %s that there are", unit.Plural(n, "run"))
}
