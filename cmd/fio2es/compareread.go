package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// readRun reads the windows of a run, and writes its messages to stderr. It may have no windows.
func (c *comparing) readRun(ctx context.Context, name string, run *query.Run) (*compare.Run, error) {
	one, err := c.windowsOf(ctx, name, run)
	c.logRun(run)
	return one, err
}

// windowsOf reads the windows of a run. Several goroutines may call it, each for another run.
func (c *comparing) windowsOf(ctx context.Context, name string, run *query.Run) (*compare.Run, error) {
	one := &compare.Run{Name: name}
	doc, err := run.Read(ctx, &c.query, func(w *window.Window) error {
		requests, err := w.Histogram()
		if err == nil {
			one.Add(w, requests)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return nil, fmt.Errorf("%s: no windows to compare", name)
	}
	one.End(doc)
	if one.IsEmpty() && !one.OnlyAverages() && c.query.String() != "" {
		return nil, run.NoMatch(doc)
	}
	return one, nil
}

// atOnce is how many lists of runs of the history are read at the same time. In a cluster each needs several
// requests.
const atOnce = 4

// together has runs that were read together. err says why the next run could not be read.
type together struct {
	runs []*compare.Run
	err  error
}

// readTogether reads the windows of runs of the history. Several goroutines may call it.
func (c *comparing) readTogether(ctx context.Context, runs []*query.Run) (read together, _ error) {
	query.Prefetch(ctx, runs, &c.query)
	for _, run := range runs {
		one, err := c.windowsOf(ctx, facts.ShortID(run.Stored.Run.ID), run)
		if err != nil {
			read.err = err
			break
		}
		read.runs = append(read.runs, one)
	}
	return read, nil
}

// storedSide reads runs of the history as one side, the oldest first.
func (c *comparing) storedSide(ctx context.Context, name string, docs []*mapping.Run) (*compare.Side, error) {
	side, runs := &compare.Side{Name: name}, []*query.Run(nil)
	for _, doc := range slices.Backward(docs) {
		run, err := c.prepare(query.Stored(c.store, doc))
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	n := 0
	for read := range ahead.Map(ctx, atOnce, query.Together(runs, &c.query), c.readTogether) {
		for _, one := range read.runs {
			c.logRun(runs[n])
			n++
			c.progress.Show("%s: %d of %d runs", name, n, len(runs))
			if one.IsEmpty() {
				c.note("", fmt.Sprintf("%s: left out: no windows to compare: %s", one.Name, report.WhyEmpty(one)))
				continue
			}
			side.Runs = append(side.Runs, one)
		}
		if read.err != nil {
			c.logRun(runs[n])
			return nil, read.err
		}
	}
	if len(side.Runs) == 0 {
		return nil, fmt.Errorf("%s: no windows to compare", name)
	}
	return side, nil
}
