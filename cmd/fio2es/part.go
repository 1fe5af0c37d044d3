package main

import (
	"context"
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/follow"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// partCommand is what fio2es-fio starts beside fio: see [shim.Script]. It sends the reports of a fio to a run that hosts share, until that
// process has ended.
func partCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "part NAME UNIT PID FILE", Short: "Send the reports of a running fio to a run of several hosts (fio2es-fio calls it)",
		Hidden: true, Args: arguments(4, 4),
		RunE: func(cmd *cobra.Command, args []string) error {
			m := shared.Member{Name: args[0], Host: e.cfg.HostName(), Unit: args[1]}
			pid, err := strconv.Atoi(args[2])
			if err != nil || pid <= 0 {
				return usagef("%s: want the number of a process", args[2])
			}
			fio, err := os.FindProcess(pid)
			if err := errors.Join(err, e.checkShared(m.Name)); err != nil {
				return err
			}
			rules, err := e.liveRules()
			if err != nil {
				return err
			}
			to, err := e.target(cmd.Context(), rules)
			if err != nil {
				return err
			}
			p := part{env: e, to: to, rules: rules, member: m, report: args[3]}
			return errors.Join(p.send(cmd.Context(), func() bool { return fio.Signal(syscall.Signal(0)) == nil }), to.Store.Close())
		},
	}
	addSettings(cmd.Flags(), "cluster", "rule")
	return cmd
}

// part is a fio that something else has started, and the run that it is a part of.
type part struct {
	*env
	to     ingest.Target
	rules  []slo.Rule
	member shared.Member
	report string // the file that fio writes its reports to
}

// send sends the reports while fio runs, and then the rest.
func (p *part) send(ctx context.Context, runs func() bool) error {
	const look = 100 * time.Millisecond
	how := ingest.Options{Pipeline: p.options(), Log: p.log}
	with := &follow.Shared{To: p.to, Options: how, Member: p.member, Every: 2 * time.Second}
	var err error
	if with.Attempt, err = shared.Attempt(ctx, p.to.Store, p.member, true); err != nil {
		return err
	}
	exists := func() bool { _, err := os.Stat(p.report); return err == nil }
	for !exists() && runs() && ctx.Err() == nil {
		time.Sleep(look)
	}
	if !exists() {
		return nil // fio refused its options
	}
	stop := p.followFio(ctx, p.to, p.report, p.member.Host, p.rules, with, p.log, func(*window.Window) error { return nil })
	for runs() && ctx.Err() == nil {
		time.Sleep(look)
	}
	stop()
	archive, err := pipeline.Open(ctx, []string{p.report}, nil, nil)
	if err != nil {
		return err
	}
	defer archive.Close()
	archive.SetHost(p.member.Host)
	p.logProblems(archive)
	stages, err := p.endShared(ctx, with, archive.Runs, 0)
	if err == nil && len(stages) > 0 {
		var finished []*mapping.Run
		if finished, err = p.awaitShared(ctx, p.to, p.member.Name); len(finished) > 0 {
			p.log.Info("stored run " + p.member.Name + ": all its hosts have ended")
		}
	}
	return err
}
