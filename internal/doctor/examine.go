package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/internal/fioargs"
	windows "github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// Examine finds what fio2es can say about each run of an execution, from its files. It reads them as ingest does, but
// stores nothing. The notes are those of ingest. Examine fails only with the error of ctx.
func Examine(ctx context.Context, run *assign.Run, opt pipeline.Options) (all []Answers, notes []error, err error) {
	for stage, err := range pipeline.Stages(ctx, run, opt, false) {
		if err != nil {
			return nil, nil, err
		}
		a := Answers{Of: opt.ArchiveOf(run) + ":" + stage.NameIn(run.Name()), IsRun: true, Hosts: max(len(run.HostNames()), 1), OverTime: "nothing", Whole: "nothing"}
		result, err := stage.Read(ctx, nil, func(w *windows.Window) error {
			if len(w.Counts) > 0 {
				a.Error = max(a.Error, w.Layout.RelativeError())
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		if result.Run != nil {
			a.judge(result, run.Iteration != nil)
		}
		skipped := alike.List[error]{Shown: 1}
		for _, err := range result.Skipped {
			skipped.Add(err.Error(), err)
		}
		skipped.Each(func(text string, _ error, more int) { a.lose(alike.And(text, more)) })
		for _, note := range result.Notes {
			switch text := note.Error(); {
			case strings.Contains(text, plan.NoWindowsPrefix), a.End == "lost" && strings.Contains(text, account.NoBins): // which a loss says
			case strings.Contains(text, account.NotLogged):
				a.lose("latencies of syncs over time: "+account.NotLogged, "the next run: add fio --status-interval=1 --output-format=json+")
			default:
				notes = append(notes, note)
			}
		}
		all = append(all, a)
	}
	return all, notes, nil
}

// judge sets what is known of a run that was read, and what is lost.
func (a *Answers) judge(result *pipeline.Result, isCBT bool) {
	mend := "the next run: add fio --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+ --output=NAME.json"
	if isCBT {
		mend = "CBT's yaml: add cmd_path: " + shimPath
	}
	doc, jobs := result.Run, result.Plan.Jobs
	a.Jobs, a.Start, a.Whole = doc.Fio.Jobs, doc.Clock.Source, wholeOf(doc)
	isFrom := func(source assign.Source) bool {
		return slices.ContainsFunc(jobs, func(j *plan.Job) bool { return j.Source == source })
	}
	hasWindows, isWhole := doc.NoWindows == "", a.Whole == percentiles
	switch of := []assign.Source{assign.FromHist, assign.FromReports, assign.FromRaw}; { // logs lack the end of each job
	case hasWindows:
		a.OverTime = string(of[max(slices.IndexFunc(of, isFrom), 0)])
		a.Every, a.End = time.Duration(doc.IntervalMS)*time.Millisecond, "complete"
	case doc.Documents.All() > 0:
		a.OverTime = "averages"
	}
	if why := strings.TrimPrefix(doc.NoWindows, plan.NoWindowsPrefix); !hasWindows { // with what to do about it
		a.Error = 0
		what := "percentiles over time" + ifKnown(!isWhole, " and of the whole run")
		if a.lose(what + ": " + why); isCBT {
			a.Found[0].Changes = []string{mend}
		}
	}
	mute := slices.DeleteFunc(slices.Clone(jobs), func(j *plan.Job) bool { return j.Source != assign.FromNothing })
	if n := len(mute); n > 0 && hasWindows {
		a.lose(fmt.Sprintf("percentiles over time of %d of %d jobs (%s): no log of theirs can be used", n, len(jobs),
			cmp.Or(mute[0].Section(), mute[0].Name())), mend)
	}
	isUnreported := slices.ContainsFunc(jobs, func(j *plan.Job) bool { return j.Report() == "" })
	// besides requests of jobs without a log
	isMissing := doc.Missing.Requests > 0 && (len(mute) == 0 || doc.Recovered.Requests == 0)
	var without []string
	report := "with bins (json+)"
	if hasWindows && isFrom(assign.FromHist) && (isMissing || isUnreported) {
		a.End = "lost"
		without = append(without, fmt.Sprintf("the end of each job (up to %v)", a.Every))
	}
	if a.Start == "mtime" && isUnreported {
		report, without = "in JSON", append(without, "the exact start")
	}
	if hasWindows && !isWhole {
		without = append(without, "percentiles of the whole run")
	}
	if len(without) > 0 {
		a.lose(strings.Join(without, " and ")+": there is no report "+report, mend)
	}
	if cut, better := time.Duration(result.Plan.Cut)*time.Millisecond, rowsFor(jobs); better.Every < cut {
		if !isCBT {
			mend = "the next run: add fio --" + strings.Join(better.Options(), " --")
		}
		a.Found = append(a.Found, Finding{Kind: add, Option: "log_hist_msec", What: shorterRows(cut, better), Changes: []string{mend}})
	}
	areShort := !slices.ContainsFunc(jobs, func(j *plan.Job) bool { return j.Interval <= 0 || j.Interval >= 1000 }) && a.Error <= hist.Fio3(2).RelativeError()
	if finest := hist.Fio3(0).RelativeError(); a.Error > finest && !areShort { // else as fio2es chooses rows: see fioargs.RowsFor
		a.lose(fmt.Sprintf("accuracy: percentiles are known to ±%.1f %%, without log_hist_coarseness to ±%.1f %%", 100*a.Error, 100*finest),
			"the next run: remove log_hist_coarseness")
	}
}

// rowsFor returns the rows for the next run of some jobs, by that of their fios which keeps most rows.
func rowsFor(jobs []*plan.Job) fioargs.Rows {
	most, seconds := 0.0, map[string]float64{}
	for _, j := range jobs {
		for d := range fiolog.Direction(fiolog.Directions) {
			if fio := j.Host + "/" + j.Volume; j.Serves(d) {
				seconds[fio] += float64(j.Ran*int64(j.Stands)) / 1000
				most = max(most, seconds[fio])
			}
		}
	}
	return fioargs.RowsFor(most)
}

const percentiles = "percentiles"

// wholeOf returns what a run document says about the whole run.
func wholeOf(doc *mapping.Run) string {
	hasOwn := func(t *mapping.Totals) bool { return t != nil && t.Fio != nil && len(t.Fio.Percentiles) > 0 }
	switch {
	case doc.All == nil:
		return "nothing"
	case doc.All.Latency.HasPercentiles():
		return percentiles
	case slices.ContainsFunc([]*mapping.Totals{doc.Read, doc.Write, doc.Trim}, hasOwn):
		return "fio's own"
	}
	return "rates, mean"
}
