package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/tidy"
	"github.com/fio2es/fio2es/internal/unit"
)

var errNothing = errors.New("nothing was changed")

// changeCall is a command that changes many runs. It asks the user first.
type changeCall struct {
	*env
	olderThan   string
	yes, dryRun bool
}

// addFlags adds the flags of changing. byDefault describes the default of --older-than.
func (c *changeCall) addFlags(fl *pflag.FlagSet, byDefault string) {
	addSettings(fl, "cluster")
	addWhereFlag(fl)
	fl.Var(&once{to: &c.olderThan}, "older-than", "only runs that started longer ago than `age`: 90d, 6mo, 2y; or before a date"+byDefault)
	fl.BoolVarP(&c.yes, "yes", "y", false, "do not ask")
	fl.BoolVar(&c.dryRun, "dry-run", false, "show what would be done, and change nothing")
}

// canAsk fails if the command must ask, but there is no terminal.
func (c *changeCall) canAsk() error {
	if !c.yes && !c.dryRun && terminalOf(c.stdin) == nil {
		return usagef("stdin is no terminal to ask on: give --yes to do it, or --dry-run to see what would be done")
	}
	return nil
}

func (e *env) chooseRuns(names []string, olderThan string) (tidy.Choice, error) {
	among, err := e.limit()
	choice := tidy.Choice{Names: names, Filter: among}
	if err == nil && len(names) == 0 && among.Where == nil && olderThan == "" {
		err = usagef("no run: name some by their ids (fio2es runs lists them), or choose them with --where")
	}
	if err != nil || olderThan == "" {
		return choice, err
	}
	at, ok := expr.Moment(olderThan, time.Now().In(unit.Zone()))
	if !ok {
		return choice, usagef("--older-than %s: want an age such as 90d, 6mo or 2y, or a date such as 2026-01-31", olderThan)
	}
	choice.Filter.To = at
	return choice, nil
}

// chosen opens the history for reading, or to change it, and calls do with the runs of a choice. If there are none, it
// prints on stderr what the history has, and fails. It does not fail if runs are chosen by age, because a nightly job
// finds none until some are old enough.
func (e *env) chosen(ctx context.Context, choice tidy.Choice, change bool, do func(history.Store, *query.Chosen) error) error {
	store, err := e.toChange(ctx, change)
	if err != nil {
		return err
	}
	chosen, err := choice.Find(ctx, shared.Store{Store: store}, time.Now()) // by the names of shared runs, too
	if err == nil {
		for _, skipped := range chosen.Skipped {
			e.leaveOut(skipped.Error() + ": left out")
		}
		for _, note := range chosen.Notes {
			e.log.Warn(note)
		}
		if len(chosen.Runs) > 0 {
			err = do(store, chosen)
		} else if err = e.printNoRuns(ctx, store, choice.Filter); len(choice.Names) > 0 || choice.Filter.To.IsZero() {
			err = errors.Join(err, errNothing)
		} else {
			term.Line(e.stderr, "%v", errNothing)
		}
	}
	return errors.Join(err, store.Close())
}

// ask asks on the terminal whether to do something, unless --yes is set. It waits for an answer until ctx ends.
func (c *changeCall) ask(ctx context.Context, what string) (bool, error) {
	if c.yes {
		return true, nil
	}
	fmt.Fprintf(c.stderr, "%s? [y/N] ", what)
	answer := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(c.stdin).ReadString('\n')
		answer <- text
	}()
	select {
	case text := <-answer:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "y", "yes":
			return true, nil
		}
		c.log.Info("nothing was changed")
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
