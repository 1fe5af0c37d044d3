package main

import (
	"context"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

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
		r.have = "removed on " + found.Removed[0].At.Format(time.DateOnly)
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
	r.have += ", began " + facts.StartedUTC(found.Have)
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

// jobColumns returns the columns of the jobs of a run that began at start.
func jobColumns(start time.Time) []table.Column[*pipeline.PlanJob] {
	began := func(j *pipeline.PlanJob) string {
		if j.Start.IsZero() {
			return ""
		}
		return "+" + unit.Elapsed(j.Start.Sub(start))
	}
	ran := func(j *pipeline.PlanJob) string {
		if j.Ran <= 0 {
			return ""
		}
		return unit.Elapsed(j.Ran)
	}
	return []table.Column[*pipeline.PlanJob]{
		{Heading: "HOST", Text: func(j *pipeline.PlanJob) string { return j.Host }},
		{Heading: "JOB", Text: func(j *pipeline.PlanJob) string { return j.Name }},
		{Heading: "SECTION", Text: func(j *pipeline.PlanJob) string { return j.Section }},
		{Heading: ">START", Text: began},
		{Heading: ">±", Text: func(j *pipeline.PlanJob) string { return unit.Elapsed(j.Error) }},
		{Heading: "BY", Text: func(j *pipeline.PlanJob) string { return j.Clock }},
		{Heading: ">RAN", Text: ran},
		{Heading: "ROWS FROM", Text: func(j *pipeline.PlanJob) string { return j.Source }},
		{Heading: "FILE", Text: func(j *pipeline.PlanJob) string { return j.File }},
		{Heading: "REPORT", Text: func(j *pipeline.PlanJob) string { return j.Report }},
	}
}
