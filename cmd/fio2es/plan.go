package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// plan prints what ingest would do. It reads reports, and logs only of runs without reports.
func (e *env) plan(ctx context.Context, opt pipeline.Options, archive *pipeline.Archive, runs []*cbt.Run, restore bool) error {
	var store history.Store
	if e.hasHistory() {
		var err error
		if store, err = e.openHistory(ctx); err != nil {
			return err
		}
		defer store.Close()
	} else {
		e.log.Info(fmt.Sprintf("note: there is no history at %s yet: ingest creates it", shortHome(e.cfg.History)))
	}
	cut, drop := []string{"<PATH", "<HISTORY"}, []string{"OTHER LOGS", "SIZE", "REPORTS"}
	t := table.NewNarrow(e.stdout, table.Text, foundColumns, cut, drop)
	for _, r := range runs {
		found := &foundRun{Run: r, opt: opt, restore: restore}
		if err := found.lookUp(ctx, store); err != nil {
			return err
		}
		if err := t.Write(found); err != nil {
			return err
		}
	}
	if err := t.End(); err != nil {
		return err
	}
	e.leftOut = len(archive.Problems) > 0
	for _, r := range runs {
		for stage, err := range pipeline.Stages(ctx, r, opt, true) {
			if err == nil {
				err = e.printStage(opt, r, stage)
			}
			if err != nil {
				return err
			}
		}
	}
	for _, s := range archive.Skipped {
		term.Line(e.stdout, "skipped: %s: %s", s.Path, s.Reason)
	}
	for _, l := range archive.Left {
		term.Line(e.stdout, "no run: %s: %s", l.File.Name(), alike.And(l.Reason, l.More))
	}
	if n := len(archive.Runs) - len(runs); n > 0 {
		fmt.Fprintf(e.stdout, "not picked: %s\n", unit.Plural(n, "run"))
	}
	return nil
}

// printStage prints from which files a run would be read and when its jobs ran.
func (e *env) printStage(opt pipeline.Options, r *cbt.Run, stage *pipeline.Stage) error {
	res := stage.Planned()
	p := res.Plan
	if p == nil {
		p = &plan.Plan{Run: r}
	}
	title := term.Clean(opt.ArchiveOf(r) + ":" + stage.NameIn(r.Path))
	if !p.Start.IsZero() {
		title += fmt.Sprintf(": from %s by %s, ±%s; windows of %s", unit.Time(p.Start, unit.Moment), p.Clock,
			unit.Elapsed(p.Error), unit.Elapsed(time.Duration(p.Window)*time.Millisecond))
	}
	fmt.Fprintln(e.stdout)
	for _, text := range []string{title, p.Placed, p.NoWindows()} {
		if text != "" {
			fmt.Fprintln(e.stdout, term.FillFor(e.stdout, text))
		}
	}
	notes := res.Notes
	for _, doubt := range r.Doubts {
		notes = append(notes, fmt.Errorf("%s:%s: %s", opt.ArchiveOf(r), r.Path, doubt))
	}
	(&pipeline.Result{Skipped: res.Skipped, Notes: notes}).Log(e.log)
	cut, drop := []string{"REPORT", "FILE", "SECTION", "HOST"}, []string{"REPORT", "BY", "±"}
	t := table.NewNarrow(e.stdout, table.Text, jobColumns(p.Start), cut, drop)
	for _, j := range p.Jobs {
		if err := t.Write(j); err != nil {
			return err
		}
	}
	e.leftOut = e.leftOut || len(res.Skipped) > 0
	return t.End()
}

// foundRun is a run that was found, and what the history has of it.
type foundRun struct {
	*cbt.Run
	opt      pipeline.Options
	restore  bool
	id, have string // short id and description of the run in the history
}

// lookUp looks up the run in the history. store is nil if there is none yet.
func (r *foundRun) lookUp(ctx context.Context, store history.Store) error {
	r.id, r.have = "-", "new"
	if store == nil {
		return nil
	}
	e, err := pipeline.Look(ctx, r.Run, r.opt)
	if err != nil {
		return err
	}
	found, err := ingest.Find(ctx, store, e)
	if err == nil && len(found.Removed) > 0 {
		r.have = "removed on " + unit.Time(found.Removed[0].At, unit.Day)
		if r.restore {
			r.have = "new, " + r.have
		}
	}
	if err != nil || found.Have == nil {
		return err
	}
	have := &found.Have.Run
	r.id, r.have = facts.ShortID(have.ID), "there"
	if have.Archive != e.Run.Archive || have.Path != r.Path {
		r.have += " as " + have.Archive + ":" + have.Name
	}
	return nil
}

// basis says from which kinds of files documents will be made.
func (r *foundRun) basis() string {
	switch {
	case len(r.Logs) > 0 && !(r.opt.Source == pipeline.SourceRaw && len(r.Others) > 0):
		return "histograms"
	case len(r.Others) > 0:
		return "completions or averages"
	}
	return "reports"
}

func size(r *cbt.Run) (sum int64) {
	for _, f := range r.Files() {
		sum += max(f.Size, 0)
	}
	return sum
}

var foundColumns = []table.Column[*foundRun]{
	{Heading: "RUN", Text: func(r *foundRun) string { return r.id }},
	{Heading: "PATH", Text: func(r *foundRun) string { return r.opt.ArchiveOf(r.Run) + ":" + r.Path }},
	{Heading: ">HOSTS", Text: func(r *foundRun) string { return strconv.Itoa(max(len(r.HostNames()), 1)) }},
	{Heading: ">HIST LOGS", Text: func(r *foundRun) string { return strconv.Itoa(len(r.Logs)) }},
	{Heading: ">OTHER LOGS", Text: func(r *foundRun) string { return strconv.Itoa(len(r.Others)) }},
	{Heading: ">REPORTS", Text: func(r *foundRun) string { return strconv.Itoa(len(r.Reports)) }},
	{Heading: ">SIZE", Text: func(r *foundRun) string { return unit.Bytes(size(r.Run)) }},
	{Heading: "FROM", Text: (*foundRun).basis},
	{Heading: "HISTORY", Text: func(r *foundRun) string { return r.have }},
}

func jobColumns(start time.Time) []table.Column[*plan.Job] {
	began := func(j *plan.Job) string {
		if j.Start.IsZero() {
			return ""
		}
		return "+" + unit.Elapsed(j.Start.Sub(start))
	}
	ran := func(j *plan.Job) string {
		if j.Ran <= 0 {
			return ""
		}
		return unit.Elapsed(time.Duration(j.Ran) * time.Millisecond)
	}
	return []table.Column[*plan.Job]{
		{Heading: "HOST", Text: func(j *plan.Job) string { return j.Host }},
		{Heading: "JOB", Text: func(j *plan.Job) string { return j.Name() }},
		{Heading: "SECTION", Text: (*plan.Job).Section},
		{Heading: ">START", Text: began},
		{Heading: ">±", Text: func(j *plan.Job) string { return unit.Elapsed(j.Error) }},
		{Heading: "BY", Text: func(j *plan.Job) string { return j.Clock.String() }},
		{Heading: ">RAN", Text: ran},
		{Heading: "ROWS FROM", Text: func(j *plan.Job) string { return string(j.Source) }},
		{Heading: "FILE", Text: (*plan.Job).File},
		{Heading: "REPORT", Text: (*plan.Job).Report},
	}
}
