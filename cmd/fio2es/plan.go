package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// plan prints what ingest would do. It reads reports, and logs only of runs without reports.
func (e *env) plan(ctx context.Context, opt pipeline.Options, archive *pipeline.Archive, runs []*assign.Run, restore bool) error {
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
	var all []*foundRun
	for _, r := range runs {
		found := &foundRun{Run: r, opt: opt, restore: restore}
		if err := found.lookUp(ctx, store); err != nil {
			return err
		}
		all = append(all, found)
	}
	isLong := len(all) > mostPlanned
	if err := e.printFound(all, isLong); err != nil {
		return err
	}
	e.leftOut = len(archive.Problems) > 0
	for _, r := range runs {
		for stage, err := range pipeline.Stages(ctx, r, opt, true) {
			if err == nil {
				err = e.printStage(opt, r, stage, isLong)
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
	if isLong {
		term.Line(e.stdout, "%s: the files and jobs of each are printed for up to %d: choose some with --include", unit.Plural(len(all), "run"), mostPlanned)
	}
	return nil
}

// mostPlanned is for how many runs each is printed: of more, runs of the same test are one line.
const mostPlanned = 20

// printFound prints the runs that were found, those of the same test in one line if there are many.
func (e *env) printFound(all []*foundRun, isLong bool) error {
	columns, cut, drop := foundColumns, []string{"<PATH", "<HISTORY"}, []string{"OTHER LOGS", "SIZE", "REPORTS"}
	if isLong {
		columns, cut, drop = testColumns, nil, append(drop, "HIST LOGS", "FROM", "HOSTS")
	}
	t := table.NewNarrow(e.stdout, table.Text, columns, cut, drop)
	var rows []*foundRun
	of := map[string]*foundRun{} // the row of a test
	for _, r := range all {
		key := r.Test()
		for _, c := range foundColumns {
			if isKey := isLong && !slices.Contains([]string{"RUN", "PATH", "HISTORY", ">SIZE"}, c.Heading); isKey {
				key += "\n" + c.Text(r)
			}
		}
		if of[key] == nil || !isLong {
			of[key], rows = r, append(rows, r)
		}
		of[key].same = append(of[key].same, r)
	}
	for _, r := range rows {
		if err := t.Write(r); err != nil {
			return err
		}
	}
	return t.End()
}

// printStage prints from which files a run would be read and when its jobs ran, or only its notes.
func (e *env) printStage(opt pipeline.Options, r *assign.Run, stage *pipeline.Stage, onlyNotes bool) error {
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
	if !onlyNotes {
		fmt.Fprintln(e.stdout)
	}
	for _, text := range []string{title, p.Placed, p.NoWindows()} {
		if text != "" && !onlyNotes {
			fmt.Fprintln(e.stdout, term.FillFor(e.stdout, text))
		}
	}
	notes := res.Notes
	for _, doubt := range r.Doubts {
		notes = append(notes, fmt.Errorf("%s:%s: %s", opt.ArchiveOf(r), r.Path, doubt))
	}
	(&pipeline.Result{Skipped: res.Skipped, Notes: notes}).Log(e.log)
	if e.leftOut = e.leftOut || len(res.Skipped) > 0; onlyNotes {
		return nil
	}
	cut, drop := []string{"REPORT", "FILE", "SECTION", "HOST"}, []string{"REPORT", "BY", "±"}
	t := table.NewNarrow(e.stdout, table.Text, jobColumns(p.Start), cut, drop)
	for _, j := range p.Jobs {
		if err := t.Write(j); err != nil {
			return err
		}
	}
	return t.End()
}

// foundRun is a run that was found, and what the history has of it.
type foundRun struct {
	*assign.Run
	opt      pipeline.Options
	restore  bool
	id, have string      // short id and description of the run in the history
	same     []*foundRun // this run and others of the same test, if these are one line
}

// states says what the history has of the runs of a test.
func (r *foundRun) states() string {
	counts := map[string]int{}
	for _, one := range r.same {
		have, _, _ := strings.Cut(one.have, " as ")
		counts[have]++
	}
	var texts []string
	for _, have := range slices.Sorted(maps.Keys(counts)) {
		if texts = append(texts, fmt.Sprintf("%d %s", counts[have], have)); len(counts) == 1 {
			return have
		}
	}
	return strings.Join(texts, ", ")
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

func size(r *assign.Run) (sum int64) {
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

// testColumns are those of tests with several runs: hosts and files are those of each run, the size that of all.
var testColumns = slices.Concat([]table.Column[*foundRun]{
	{Heading: ">RUNS", Text: func(r *foundRun) string { return strconv.Itoa(len(r.same)) }},
	{Heading: "TEST", Text: func(r *foundRun) string { return r.Test() }},
}, foundColumns[2:6], []table.Column[*foundRun]{
	{Heading: ">SIZE", Text: func(r *foundRun) string {
		sum := int64(0)
		for _, one := range r.same {
			sum += size(one.Run)
		}
		return unit.Bytes(sum)
	}},
	foundColumns[7],
	{Heading: "HISTORY", Text: (*foundRun).states},
})

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
