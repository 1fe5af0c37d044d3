package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// side reads the runs that arg names, joined by commas.
func (c *comparing) side(ctx context.Context, arg string) (*compare.Side, error) {
	parts := []string{arg}
	// not if such a file exists, because its name may have a comma
	if _, err := os.Lstat(arg); err != nil && !hasCommas(arg) {
		parts = strings.Split(arg, ",")
	}
	side := &compare.Side{Name: arg}
	for _, part := range parts {
		if part == "" {
			return nil, usagef("%q: want runs or paths joined by commas, and there is nothing between two commas", arg)
		}
		var paths []string
		err := c.runs(ctx, []string{part}, &c.query, func(run *query.Run, many bool) error {
			if run.Stored != nil {
				return c.add(ctx, side, part, run)
			}
			if paths = append(paths, run.Path); many {
				return nil
			}
			return c.add(ctx, side, part, run)
		})
		if err != nil {
			return nil, err
		}
		if len(paths) > 1 {
			return nil, fmt.Errorf("%s: %d runs, want one: give the path of one, ingest them and give its id, or compare all of them with --by settings: %s",
				part, len(paths), query.List(paths))
		}
	}
	return side, nil
}

// hasCommas reports whether the commas of an argument belong to a condition, such as bs in (4k, 8k).
func hasCommas(arg string) bool {
	_, err := query.ParseSelector(arg, time.Now())
	return query.IsSelector(arg) && err == nil
}

// add reads a run and adds it to a side. part is the name that the user gave.
func (c *comparing) add(ctx context.Context, side *compare.Side, part string, run *query.Run) error {
	one, err := c.readRun(ctx, part, run)
	if err != nil {
		return err
	}
	if one.IsEmpty() {
		return fmt.Errorf("%s: no windows to compare: %s", part, report.WhyEmpty(one))
	}
	if !query.IsPath(part) {
		one.Name = facts.ShortID(one.Document.Run.ID)
	}
	for _, have := range side.Runs {
		if have.Name == one.Name || query.IsPath(part) && filepath.Clean(have.Name) == filepath.Clean(one.Name) {
			return usagef("%s: %s is named twice, and a run is no repetition of itself", side.Name, one.Name)
		}
	}
	side.Runs = append(side.Runs, one)
	return nil
}

// stored returns the runs of the history that a filter selects, the newest first, without histograms.
func (c *comparing) stored(ctx context.Context, filter history.RunFilter) ([]*mapping.Run, error) {
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	filter.Where = query.Both(filter.Where, limit.Where)
	runs, skipped, err := c.readRuns(ctx, c.store, query.Watch(filter))
	c.leftOut = c.leftOut || skipped
	return runs, err
}

// logDoubts warns if settings of the other side's runs differ from those of the first run of the base.
func (c *comparing) logDoubts(title string, base, other *compare.Side) {
	first := base.Runs[0]
	for _, one := range other.Runs {
		if differ := workload.Doubt(first.Document, one.Document); differ != "" {
			c.note(title, fmt.Sprintf("comparing %s with %s is doubtful: %s", one.Name, first.Name, differ))
		}
	}
}
