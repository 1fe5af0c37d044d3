package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	windows "github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// Examine finds what fio2es can say about each run of an execution, from its files. It reads them as ingest does, but
// stores nothing. The results have the messages of that. Examine fails only with the error of ctx.
func Examine(ctx context.Context, run *cbt.Run, opt pipeline.Options) (all []Answers, results []*pipeline.Result, err error) {
	for stage, err := range pipeline.Stages(ctx, run, opt, false) {
		var a Answers
		var result *pipeline.Result
		if err == nil {
			a, result, err = examine(ctx, run, opt, stage)
		}
		if err != nil {
			return nil, nil, err
		}
		all, results = append(all, a), append(results, result)
	}
	return all, results, nil
}

// examine finds what fio2es can say about one run.
func examine(ctx context.Context, run *cbt.Run, opt pipeline.Options, stage *pipeline.Stage) (Answers, *pipeline.Result, error) {
	x := examination{name: opt.ArchiveOf(run) + ":" + stage.NameIn(run.Name()), ofCBT: run.Iteration != nil}
	var err error
	if x.result, err = stage.Read(ctx, nil, x.window); err != nil {
		return Answers{}, nil, err
	}
	a := Answers{Of: x.name, Kind: "run", Hosts: max(len(run.HostNames()), 1), From: plan.FromNothing, Whole: Unknown}
	if x.result.Run != nil {
		x.answer(&a)
	}
	for _, err := range x.result.Skipped {
		a.lose(err.Error())
	}
	return a, x.result, nil
}

// examination collects what is read of a run.
type examination struct {
	name   string
	ofCBT  bool
	result *pipeline.Result
	error  float64 // relative error of percentiles over time
}

// window is called with each window.
func (x *examination) window(w *windows.Window) error {
	if len(w.Counts) > 0 {
		x.error = max(x.error, w.Layout.RelativeError())
	}
	return nil
}

// answer sets the answers that come from the run document.
func (x *examination) answer(a *Answers) {
	doc := x.result.Run
	a.Jobs, a.Start = doc.Fio.Jobs, doc.Clock.Source
	if a.From = x.from(); a.hasPercentiles() {
		a.Every, a.Error, a.End = time.Duration(doc.IntervalMS)*time.Millisecond, x.error, Complete
	} else {
		a.lose("percentiles over time: "+strings.TrimPrefix(doc.NoWindows, plan.NoWindowsPrefix), x.changes()...)
	}
	without := x.jobs(func(j *plan.Job) bool { return j.Source == plan.FromNothing })
	if n := len(without); n > 0 && a.hasPercentiles() {
		a.lose(fmt.Sprintf("percentiles over time of %d of %d jobs (%s): no log of theirs can be used", n, len(x.result.Plan.Jobs), without[0]), x.changes()...)
	}
	// besides requests of jobs without a log
	isMissing := doc.Missing.Requests > 0 && (len(without) == 0 || doc.Recovered.Requests == 0)
	if a.From == plan.FromHist && (isMissing || len(x.unreported()) > 0) {
		a.End = Cut
		a.lose("the end of each job, up to "+a.Every.String()+": fio does not log it, and only a report in json+ has it", x.changes()...)
	}
	if a.Whole = wholeOf(doc); a.Whole != Percentiles {
		a.lose("percentiles of the whole run: there is no report with bins (json+)", x.changes()...)
	}
	if a.Start == "mtime" && len(x.unreported()) > 0 {
		a.lose("a start that is better known than the files' times: there is no report in JSON", x.changes()...)
	}
	if finest := hist.Fio3(0).RelativeError(); a.Error > finest {
		a.lose(fmt.Sprintf("accuracy: percentiles are known to ±%.1f %%, without log_hist_coarseness to ±%.1f %%", 100*a.Error, 100*finest),
			Change{Where: "the next run", Old: "log_hist_coarseness"})
	}
}

// from returns the source of percentiles over time. Of several it returns the one that lacks most: logs lack the end
// of each job.
func (x *examination) from() plan.Source {
	switch {
	case x.result.Run.NoWindows == "":
	case x.result.Run.Documents.All() > 0:
		return Averages
	default:
		return plan.FromNothing
	}
	has := map[plan.Source]bool{}
	for _, j := range x.result.Plan.Jobs {
		has[j.Source] = true
	}
	for _, from := range []plan.Source{plan.FromHist, plan.FromReports, plan.FromRaw} {
		if has[from] {
			return from
		}
	}
	return plan.FromNothing
}

// jobs returns the names of the jobs for which is returns true.
func (x *examination) jobs(is func(*plan.Job) bool) (names []string) {
	for _, j := range x.result.Plan.Jobs {
		if is(j) {
			names = append(names, cmp.Or(j.Section(), j.Name()))
		}
	}
	return names
}

// unreported returns the jobs without a report.
func (x *examination) unreported() []string {
	return x.jobs(func(j *plan.Job) bool { return j.Report() == "" })
}

// wholeOf returns what a run document says about the whole run.
func wholeOf(doc *mapping.Run) Whole {
	if doc.All == nil {
		return Unknown
	}
	if doc.All.Latency.HasPercentiles() {
		return Percentiles
	}
	for _, t := range []*mapping.Totals{doc.Read, doc.Write, doc.Trim} {
		if t != nil && t.Fio != nil && len(t.Fio.Percentiles) > 0 {
			return FioOwn
		}
	}
	return Rates
}

// changes returns what to change before the next run.
func (x *examination) changes() []Change {
	if x.ofCBT {
		return []Change{{Where: "CBT's yaml", Line: "cmd_path: " + shimPath}}
	}
	return []Change{{Where: "the next run", Line: "fio --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+ --output=NAME.json"}}
}
