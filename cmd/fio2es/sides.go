package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// sides reads the runs that a comparison compares.
type sides struct {
	*runReader
	query    query.Query // selects the windows that are compared
	together bool        // requests of all directions are compared as one
}

// side reads the runs that arg names, joined by commas. A path has one run, or the stages of one execution.
func (c *sides) side(ctx context.Context, arg string) (*compare.Side, error) {
	parts := []string{arg}
	isCondition := query.IsSelector(arg)
	if _, err := query.ParseSelector(arg, time.Now()); err != nil {
		isCondition = false
	}
	// commas may belong to the name of a file, or to a condition such as bs in (4k, 8k)
	if _, err := os.Lstat(arg); err != nil && !isCondition {
		parts = strings.Split(arg, ",")
	}
	side := &compare.Side{Name: arg}
	for _, part := range parts {
		if part == "" {
			return nil, usagef("%q: want runs or paths joined by commas, and there is nothing between two commas", arg)
		}
		var paths []string // if the part has several executions
		inputs, err := c.choose(ctx, []string{part}, query.IsPath)
		if err != nil {
			return nil, err
		}
		err = c.each(ctx, inputs, func(run *query.Run) error {
			if run.Stored == nil && !run.IsOnly {
				paths = append(paths, run.Path)
				return nil
			}
			return c.add(ctx, side, part, run)
		})
		if err != nil {
			return nil, err
		}
		if len(paths) > 0 {
			return nil, fmt.Errorf("%s: %d runs, want one: give the path of one, ingest them and give its id, or compare all of them with --by settings: %s",
				part, len(paths), query.List(paths))
		}
	}
	if len(side.Runs) == 0 {
		return nil, fmt.Errorf("%s: nothing to compare", arg)
	}
	return side, nil
}

// add reads a run and adds it to a side. part is the name that the user gave.
func (c *sides) add(ctx context.Context, side *compare.Side, part string, run *query.Run) error {
	one, err := c.readRun(ctx, part, run)
	if err != nil {
		return err
	}
	if one.IsEmpty() && one.Document.Run.Stages > 1 {
		c.note(one.Document.Run.Name, "left out: nothing to compare: "+report.WhyEmpty(one.Document))
		return nil
	}
	if one.IsEmpty() {
		return fmt.Errorf("%s: nothing to compare: %s", part, report.WhyEmpty(one.Document))
	}
	if !query.IsPath(part) {
		if one.Name = facts.ShortID(one.Document.Run.ID); run.Section != "" {
			one.Name += "/" + run.Section
		}
	} else if one.Document.Run.Stages > 1 {
		one.Name = filepath.Join(part, facts.StageName(one.Document))
	}
	for _, have := range side.Runs {
		if have.Name == one.Name || query.IsPath(part) && filepath.Clean(have.Name) == filepath.Clean(one.Name) {
			return usagef("%s: %s is named twice, and a run is no repetition of itself", side.Name, one.Name)
		}
	}
	side.Runs = append(side.Runs, one)
	return nil
}

// stored returns the runs of the history that a filter selects, the newest first, without histograms. Where sections are
// compared, it returns those of the runs.
func (c *sides) stored(ctx context.Context, filter history.RunFilter) ([]*mapping.Run, error) {
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	filter.Where = query.Both(filter.Where, limit.Where)
	runs, err := c.readRuns(ctx, c.store, query.Watch(filter))
	if len(c.wantedSections()) > 0 || c.flags.Lookup("by").Value.String() == bySection {
		runs = facts.Parts(runs...)
	}
	return runs, err
}

// logDoubts warns if settings of the other side's runs differ from those of the first run of the base.
func (c *sides) logDoubts(title string, base, other *compare.Side) {
	first := base.Runs[0]
	for _, one := range other.Runs {
		if differ := workload.Doubt(first.Document, one.Document); differ != "" {
			c.note(title, fmt.Sprintf("comparing %s with %s: their settings differ: %s", one.Name, first.Name, differ))
		}
	}
}

// readRun reads the windows of a run, and writes its messages to stderr. It may have no windows.
func (c *sides) readRun(ctx context.Context, name string, run *query.Run) (*compare.Run, error) {
	one, err := report.Side(ctx, run, &c.query, &compare.Run{Name: name, Together: c.together})
	c.logRun(run)
	return one, err
}

// atOnce is how many runs of the history are read at the same time. In a cluster each needs several requests.
const atOnce = 8

// storedSide reads runs of the history as one side, in this order.
func (c *sides) storedSide(ctx context.Context, name string, docs []*mapping.Run) (*compare.Side, error) {
	side, runs := &compare.Side{Name: name}, []*query.Run(nil)
	for _, doc := range docs {
		run, err := c.prepare(query.Stored(c.store, doc))
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	n := 0
	for one, err := range ahead.Map(ctx, atOnce, runs, c.readStored) {
		c.logRun(runs[n])
		n++
		if err != nil {
			return nil, err
		}
		c.progress.Show("%s: %d of %d runs", name, n, len(runs))
		if one.IsEmpty() {
			c.note("", fmt.Sprintf("%s: left out: nothing to compare: %s", one.Name, report.WhyEmpty(one.Document)))
			continue
		}
		side.Runs = append(side.Runs, one)
	}
	if len(side.Runs) == 0 {
		return nil, fmt.Errorf("%s: nothing to compare", name)
	}
	return side, nil
}

// readStored reads a run of the history whose document has no histograms.
func (c *sides) readStored(ctx context.Context, run *query.Run) (*compare.Run, error) {
	one := &compare.Run{Name: facts.ShortID(run.Stored.Run.ID), Together: c.together}
	return report.StoredSide(ctx, c.store, run, &c.query, one)
}

// selection has the runs of an argument with --by settings: runs of a path, or runs of the history that a selector
// chooses. With stages, it has those of its side.
type selection struct {
	name string
	docs []*mapping.Run
	read map[*mapping.Run]*compare.Run // the runs that are read already: those of a path, and stages
}

// hasStages reports whether a side has several stages of one execution. Their requests are never pooled.
func hasStages(side *compare.Side) bool {
	return slices.ContainsFunc(side.Runs, func(a *compare.Run) bool {
		return slices.ContainsFunc(side.Runs, func(b *compare.Run) bool {
			return facts.IsExecution([]*mapping.Run{a.Document, b.Document})
		})
	})
}

// selectionOf returns the runs of a side.
func selectionOf(side *compare.Side) *selection {
	s := &selection{name: side.Name, read: map[*mapping.Run]*compare.Run{}}
	for _, run := range side.Runs {
		s.docs, s.read[run.Document] = append(s.docs, run.Document), run
	}
	return s
}

// selection finds the runs of an argument, and reads those of a path.
func (c *sides) selection(ctx context.Context, arg string) (*selection, error) {
	s := &selection{name: arg, read: map[*mapping.Run]*compare.Run{}}
	if !query.IsPath(arg) {
		among, err := c.limit()
		if err != nil {
			return nil, err
		}
		docs, err := c.chooseStored(ctx, among, []string{arg})
		if err != nil {
			return nil, err
		}
		var notes []string
		s.docs, notes = query.Usable(docs)
		for _, text := range notes {
			c.note(arg, text)
		}
		s.docs = slices.DeleteFunc(s.docs, c.lacksDirection)
		if len(s.docs) == 0 {
			return nil, fmt.Errorf("%s: no runs to compare", arg)
		}
		return s, nil
	}
	inputs, err := c.choose(ctx, []string{arg}, query.IsPath)
	if err != nil {
		return nil, err
	}
	err = c.each(ctx, inputs, func(run *query.Run) error {
		one, err := c.readRun(ctx, run.Name, run)
		switch {
		case one != nil && c.lacksDirection(one.Document):
		case err != nil:
			return err
		case one.IsEmpty():
			c.note(one.Name, "left out: nothing to compare: "+report.WhyEmpty(one.Document))
		default:
			one.Name = facts.Title(one.Document)
			s.docs, s.read[one.Document] = append(s.docs, one.Document), one
		}
		return nil
	})
	if err == nil && len(s.docs) == 0 {
		err = fmt.Errorf("%s: no runs to compare", arg)
	}
	return s, err
}

// lacksDirection reports whether a run has none of the directions that are compared, so that among many runs it is not meant.
func (c *sides) lacksDirection(run *mapping.Run) bool {
	list := c.query.Directions
	return len(list) > 0 && !slices.ContainsFunc(run.ByDirection(), func(d mapping.DirectionTotals) bool { return slices.Contains(list, d.Direction) })
}

// sideOf returns runs of a selection as one side, the oldest first.
func (c *sides) sideOf(ctx context.Context, s *selection, docs []*mapping.Run) (*compare.Side, error) {
	if len(s.read) == 0 {
		return c.storedSide(ctx, s.name, docs)
	}
	side := &compare.Side{Name: s.name}
	for _, doc := range docs {
		side.Runs = append(side.Runs, s.read[doc])
	}
	return side, nil
}

// note writes a note about a workload, or, without a title, about the comparison.
func (c *sides) note(title, text string) {
	if title != "" {
		text = title + ": " + text
	}
	c.log.Info("note: " + text)
}
