package main

import (
	"context"
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// plan prints what ingest would do. It reads reports, and logs only of runs without reports.
func (g *ingesting) plan(ctx context.Context, opt pipeline.Options, archive *pipeline.Archive, runs []*cbt.Run) error {
	var store history.Store
	if g.history().exists() {
		var err error
		if store, err = g.history().open(ctx); err != nil {
			return err
		}
		defer store.Close()
	} else {
		g.log.Info(fmt.Sprintf("note: there is no history at %s yet: ingest creates it", shortHome(g.cfg.History)))
	}
	cut, drop := []string{"PATH", "HISTORY"}, []string{"OTHER LOGS", "SIZE", "REPORTS"}
	t := table.NewNarrow(g.stdout, table.Text, foundColumns, cut, drop)
	for _, r := range runs {
		found := &foundRun{Run: r, opt: opt, restore: g.restore}
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
	leftOut := len(archive.Problems) > 0
	for _, r := range runs {
		lost, err := g.printPlan(ctx, opt, r)
		if err != nil {
			return err
		}
		leftOut = leftOut || lost
	}
	for _, s := range archive.Skipped {
		term.Line(g.stdout, "skipped: %s: %s", s.Path, s.Reason)
	}
	for _, l := range archive.Left {
		term.Line(g.stdout, "no run: %s: %s", l.File.Name(), l.Reason+andMore(l.More))
	}
	if n := len(archive.Runs) - len(runs); n > 0 {
		fmt.Fprintf(g.stdout, "not picked: %s\n", unit.Plural(n, "run"))
	}
	return leftOutIf(nil, leftOut)
}

// printPlan prints from which files a run would be read and when its jobs ran. leftOut reports whether something
// would be left out.
func (g *ingesting) printPlan(ctx context.Context, opt pipeline.Options, r *cbt.Run) (leftOut bool, err error) {
	p, err := pipeline.MakePlan(ctx, r, opt)
	if err != nil {
		return false, err
	}
	title := term.Clean(opt.ArchiveOf(r) + ":" + r.Path)
	if !p.Start.IsZero() {
		title += fmt.Sprintf(": from %s by %s, ±%s; windows of %s", p.Start.UTC().Format("2006-01-02 15:04:05.000"), p.Clock,
			unit.Elapsed(p.Error), unit.Elapsed(p.Window))
	}
	fmt.Fprintln(g.stdout)
	for _, text := range []string{title, p.Placed, p.NoWindows} {
		if text != "" {
			fmt.Fprintln(g.stdout, term.FillFor(g.stdout, text))
		}
	}
	(&pipeline.Result{Skipped: p.Skipped, Notes: p.Notes}).Log(g.log)
	cut, drop := []string{"REPORT", "FILE", "SECTION", "HOST"}, []string{"REPORT", "BY", "±"}
	t := table.NewNarrow(g.stdout, table.Text, jobColumns(p.Start), cut, drop)
	for i := range p.Jobs {
		if err := t.Write(&p.Jobs[i]); err != nil {
			return false, err
		}
	}
	return len(p.Skipped) > 0, t.End()
}
