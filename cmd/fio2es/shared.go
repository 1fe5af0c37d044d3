package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/follow"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
)

func addRunFlag(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "run", "", "`name` of the run that this host shares with others")
}

// checkShared fails if this host cannot take part in a run of others.
func (e *env) checkShared(name string) error {
	switch {
	case name == "":
		return nil
	case e.cfg.HostName() == "":
		return usagef("--run %s: this machine has no name: set one (FIO2ES_HOST)", name)
	case e.cfg.Interval == "auto":
		return usagef("--run %s: windows of all hosts have one length: leave out --interval auto", name)
	case e.cfg.Align == "job":
		return usagef("--run %s: windows of all hosts lie on the wall clock: leave out align: job", name)
	}
	return nil
}

// taken is which attempt at a shared run a fio takes part in.
type taken struct {
	name    string
	attempt int
}

// sharedOf returns how the fio of an entry is sent to the run that its host shares with others, or nil.
func sharedOf(to ingest.Target, how ingest.Options, entry *record.Entry) *follow.Shared {
	if entry.Shared == "" {
		return nil
	}
	return &follow.Shared{
		To: to, Options: how, Attempt: entry.Attempt, Every: 2 * time.Second,
		Member: shared.Member{Name: entry.Shared, Host: entry.Host, Unit: entry.Name},
	}
}

// endShared sends what the files of a fio that has ended say, and returns the runs that it is a part of.
func (e *env) endShared(ctx context.Context, with *follow.Shared, files []*assign.Run, exit int) (runs []*mapping.Run, err error) {
	for _, one := range files {
		infos, err := with.End(ctx, one, exit)
		if errors.Is(err, history.ErrReplaced) {
			return runs, fmt.Errorf("run %s was stored without the end of this fio, or was removed (%w)", with.Member.Name, err)
		}
		if err != nil {
			return runs, err
		}
		for _, info := range infos {
			run, err := with.To.Store.Run(ctx, info.ID)
			if err != nil {
				return runs, err
			}
			runs = append(runs, run)
		}
	}
	return runs, nil
}

// awaitShared finishes the stages of a run that hosts share when its parts have all ended, and no other part has begun for some time. It
// does not wait for other hosts, because the last of them does this.
func (e *env) awaitShared(ctx context.Context, to ingest.Target, name string) (finished []*mapping.Run, err error) {
	for isSaid := false; ; {
		some, err := shared.FinishDue(ctx, to.Store, to.Sink, name)
		if err != nil {
			return finished, err
		}
		finished = append(finished, some...)
		state, err := shared.StateOf(ctx, to.Store, name)
		switch {
		case err != nil || state == shared.Over:
			return finished, err
		case state == shared.Sending:
			e.log.Info(fmt.Sprintf("note: other hosts of run %s still run: the last of them stores the whole run", name))
			return finished, nil
		case !isSaid:
			isSaid = true
			e.log.Info(fmt.Sprintf("run %s: all hosts have ended: it is stored in %v unless another one begins (Ctrl-C ends the wait; fio2es finish %[1]s stores it)",
				name, shared.Quiet))
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return finished, nil
		}
	}
}
