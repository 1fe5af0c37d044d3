package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// dryRun lists what ingest would do. It reads reports, and logs only of runs without.
func (a *app) dryRun(ctx context.Context, opt pipeline.Options, archive *pipeline.Archive, runs []*cbt.Run) error {
	var store history.Store
	if a.historyExists() {
		s, closeStore, err := a.openHistory(ctx)
		if err != nil {
			return err
		}
		defer closeStore()
		store = s
	}
	t := term.NewTable("RUN", "PATH", ">HOSTS", ">HIST LOGS", ">OTHER LOGS", ">REPORTS", ">SIZE", "FROM", "HISTORY")
	for _, r := range runs {
		id, have, err := a.inHistory(ctx, opt, store, r)
		if err != nil {
			return err
		}
		size := int64(0)
		for _, f := range r.Files() {
			size += max(f.Size, 0)
		}
		t.Add(id, archiveName(opt, r)+":"+r.Path, strconv.Itoa(max(len(r.HostNames()), 1)), strconv.Itoa(len(r.Logs)),
			strconv.Itoa(len(r.Others)), strconv.Itoa(len(r.Reports)), unit.Bytes(size), basis(opt, r), have)
	}
	if err := t.Write(a.stdout); err != nil {
		return err
	}
	for _, s := range archive.Skipped {
		fmt.Fprintf(a.stdout, "skipped: %s: %s\n", s.Path, s.Reason)
	}
	for _, l := range archive.Left {
		fmt.Fprintf(a.stdout, "no run: %s: %s\n", l.File.Name(), l.Reason+andMore(l.More))
	}
	if n := len(archive.Runs) - len(runs); n > 0 {
		fmt.Fprintf(a.stdout, "not picked: %s\n", plural(n, "run"))
	}
	if len(archive.Problems) > 0 {
		return errLeftOut
	}
	return nil
}

// basis is what documents will be made of, as far as names tell.
func basis(opt pipeline.Options, r *cbt.Run) string {
	switch {
	case len(r.Logs) > 0 && !(opt.Source == pipeline.SourceRaw && len(r.Others) > 0):
		return "histograms"
	case len(r.Others) > 0:
		return "completions or averages"
	}
	return "reports"
}

// inHistory is what the history has of a run: the beginning of its id, and in words.
func (a *app) inHistory(ctx context.Context, opt pipeline.Options, store history.Store, r *cbt.Run) (id, words string, err error) {
	if store == nil {
		return "-", "new", nil
	}
	e, err := pipeline.Look(ctx, r, opt)
	if err != nil {
		return "", "", err
	}
	_, have, _, err := newIdentities(a, store).find(ctx, e)
	if err != nil || have == nil {
		return "-", "new", err
	}
	words = "there"
	if have.Run.Archive != e.Run.Archive || have.Run.Path != r.Path {
		words = "there as " + have.Run.Archive + ":" + have.Run.Name
	}
	return have.Run.ID[:8], words + ", began " + have.Run.Start.UTC().Format("2006-01-02 15:04:05"), nil
}
