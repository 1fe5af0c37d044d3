package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/window"
)

// side reads the runs that arg names, joined by commas.
func (c *comparing) side(ctx context.Context, arg string) (*compare.Side, error) {
	parts := []string{arg}
	if _, err := os.Lstat(arg); err != nil { // a file may have a comma in its name
		parts = strings.Split(arg, ",")
	}
	side := &compare.Side{Name: arg}
	for _, part := range parts {
		if part == "" {
			return nil, usagef("%q: want runs or paths joined by commas, and there is nothing between two commas", arg)
		}
		var paths []string
		err := c.runs(ctx, []string{part}, func(run *query.Run, many bool) error {
			if paths = append(paths, run.Path); many {
				return nil
			}
			return c.add(ctx, side, part, run)
		})
		if err != nil {
			return nil, err
		}
		if len(paths) > 1 {
			return nil, fmt.Errorf("%s: %d runs, want one: give the path of one, or ingest them and give its id: %s",
				part, len(paths), query.List(paths))
		}
	}
	return side, nil
}

// add reads a run, which the user named, and adds it to a side.
func (c *comparing) add(ctx context.Context, side *compare.Side, part string, run *query.Run) error {
	one := &compare.Run{Name: part}
	doc, err := c.read(ctx, run, &query.Query{}, func(w *window.Window) error {
		requests, err := w.Histogram()
		if err == nil {
			one.Add(w, requests)
		}
		return err
	})
	if err != nil {
		return err
	}
	if doc == nil {
		return fmt.Errorf("%s: no windows to compare", part)
	}
	one.End(doc)
	if one.IsEmpty() {
		return fmt.Errorf("%s: no windows to compare: %s", part, report.WhyEmpty(one))
	}
	if !query.IsPath(part) {
		one.Name = facts.ShortID(doc.Run.ID)
	}
	for _, have := range side.Runs {
		if have.Name == one.Name || query.IsPath(part) && filepath.Clean(have.Name) == filepath.Clean(one.Name) {
			return usagef("%s: %s is there twice, which makes no repetition", side.Name, one.Name)
		}
	}
	side.Runs = append(side.Runs, one)
	return nil
}

// logDoubts notes in what the runs of other differ from the baseline's first.
func (c *comparing) logDoubts(base, other *compare.Side) {
	first := base.Runs[0]
	for _, one := range other.Runs {
		if differ := compare.Doubt(first.Document, one.Document); differ != "" {
			c.log.Info(fmt.Sprintf("note: comparing %s with %s is doubtful: %s", one.Name, first.Name, differ))
		}
	}
}
