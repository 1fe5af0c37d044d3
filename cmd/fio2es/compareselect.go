package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/mapping"
)

// selection has the runs of an argument with --by settings: runs of a path, or runs of the history that a selector
// chooses.
type selection struct {
	name string
	docs []*mapping.Run
	read map[*mapping.Run]*compare.Run // the read runs of a path
}

// selection finds the runs of an argument, and reads those of a path.
func (c *comparing) selection(ctx context.Context, arg string) (*selection, error) {
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
		if len(s.docs) == 0 {
			return nil, fmt.Errorf("%s: no runs to compare", arg)
		}
		return s, nil
	}
	err := c.runs(ctx, []string{arg}, &c.query, func(run *query.Run, _ bool) error {
		one, err := c.readRun(ctx, run.Name, run)
		switch {
		case err != nil:
			return err
		case one.IsEmpty():
			c.note(one.Name, "left out: no windows to compare: "+report.WhyEmpty(one))
		default:
			one.Name = facts.Title(one.Document)
			s.docs, s.read[one.Document] = append(s.docs, one.Document), one
		}
		return nil
	})
	if err == nil && len(s.docs) == 0 {
		err = fmt.Errorf("%s: no runs with windows to compare", arg)
	}
	return s, err
}

// sideOf returns runs of a selection as one side, the oldest first.
func (c *comparing) sideOf(ctx context.Context, s *selection, docs []*mapping.Run) (*compare.Side, error) {
	if len(s.read) == 0 {
		newest := slices.Clone(docs)
		slices.Reverse(newest)
		return c.storedSide(ctx, s.name, newest)
	}
	side := &compare.Side{Name: s.name}
	for _, doc := range docs {
		side.Runs = append(side.Runs, s.read[doc])
	}
	return side, nil
}
