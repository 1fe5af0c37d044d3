package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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
	x := examination{ofCBT: run.Iteration != nil}
	var err error
	x.result, err = stage.Read(ctx, nil, func(w *windows.Window) error {
		if len(w.Counts) > 0 {
			x.error = max(x.error, w.Layout.RelativeError())
		}
		return nil
	})
	if err != nil {
		return Answers{}, nil, err
	}
	a := Answers{Of: opt.ArchiveOf(run) + ":" + stage.NameIn(run.Name()), Kind: "run", Hosts: max(len(run.HostNames()), 1), From: plan.FromNothing, Whole: Unknown}
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
	ofCBT  bool
	result *pipeline.Result
	error  float64 // relative error of percentiles over time
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
	jobs := x.result.Plan.Jobs
	without := slices.DeleteFunc(slices.Clone(jobs), func(j *plan.Job) bool { return j.Source != plan.FromNothing })
	if n := len(without); n > 0 && a.hasPercentiles() {
		a.lose(fmt.Sprintf("percentiles over time of %d of %d jobs (%s): no log of theirs can be used", n, len(jobs), cmp.Or(without[0].Section(), without[0].Name())), x.changes()...)
	}
	// besides requests of jobs without a log
	isMissing := doc.Missing.Requests > 0 && (len(without) == 0 || doc.Recovered.Requests == 0)
	isUnreported := slices.ContainsFunc(jobs, func(j *plan.Job) bool { return j.Report() == "" })
	if a.From == plan.FromHist && (isMissing || isUnreported) {
		a.End = Cut
		a.lose("the end of each job, up to "+a.Every.String()+": fio does not log it, and only a report in json+ has it", x.changes()...)
	}
	if a.Whole = wholeOf(doc); a.Whole != Percentiles {
		a.lose("percentiles of the whole run: there is no report with bins (json+)", x.changes()...)
	}
	if a.Start == "mtime" && isUnreported {
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
	for _, from := range []plan.Source{plan.FromHist, plan.FromReports, plan.FromRaw} {
		if slices.ContainsFunc(x.result.Plan.Jobs, func(j *plan.Job) bool { return j.Source == from }) {
			return from
		}
	}
	return plan.FromNothing
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
