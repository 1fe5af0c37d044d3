package account

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// conclude says what is missing in the run, and what else its reader should know, after all rows. missing are requests in no
// window, and recovered those in windows that are in no log. lacks is how many clients and volumes are not here.
func (r *Read) conclude(missing [fiolog.Directions]int64, recovered int64) (lacks string, said assign.Remarks) {
	p, skip, note := r.Plan, said.Skip, said.Note
	lacks = r.noteFiles(&said)
	r.noteLogs(&said, recovered)
	isBinless := r.noteReports(&said)
	if u := r.Unsure; u.Windows > 0 {
		note("%s: %d windows are estimates, the first at %.1f s: rows of its logs cross their edges, and the rate changes within "+
			"such a row, so up to %.0f %% of a window's requests may belong to the window beside it; %s",
			p.Title, u.Windows, seconds(max(u.First-p.Shift, 0)), min(100*u.Share, 100), r.adviseWindows())
	}
	var requests []string
	for d, n := range missing {
		if n > 0 {
			requests = append(requests, fmt.Sprintf("%d %s requests", n, fiolog.Direction(d)))
		}
	}
	switch list := strings.Join(requests, " and "); {
	case isBinless && list != "":
		note("%s: %s are in fio's total and in no window, and "+NoBins+" to recover them from: run fio with --output-format=json+", p.Title, list)
	case isBinless:
		note("%s: "+NoBins+", so the last part of an interval of each job is missing: run fio with --output-format=json+", p.Title)
	case list != "":
		note("%s: %s are in fio's total and in no window", p.Title, list)
	}
	if !r.ByJob {
		text, isDoubt := p.Apart(func(j *plan.Job) int64 { return r.Counts[j].End() })
		switch {
		case isDoubt:
			note("%s: %s", p.Title, text)
		case text != "":
			skip("%s: %s", p.Title, text)
		}
	}
	if config, text := p.Run.Config, contradiction(p); config != nil && text != "" {
		note("%s: %s has %s: its settings may be those of another run; put the configuration of this run there", p.Title, config.Name(), text)
	}
	if least := reachOf(p.Jobs); least > 0 {
		note("%s: its fios were built with different numbers of groups of bins, so latencies above %v are \"or more\" in all "+
			"its numbers; read its hosts apart to see more", p.Title, least.Round(time.Millisecond))
	}
	if r.Late >= 0.5 {
		note("%s: %.0f requests are in rows so late, or took so long, that they count in a later window", p.Title, r.Late)
	}
	return lacks, said
}

// noteFiles says which files of the run are not here or cannot be read, and which jobs ended early. It returns how many clients
// and volumes are not here.
func (r *Read) noteFiles(said *assign.Remarks) (lacks string) {
	p, skip, note := r.Plan, said.Skip, said.Note
	for _, doubt := range p.Run.Doubts {
		note("%s: %s", p.Title, doubt)
	}
	if p.Run.Cut != "" {
		skip("%s: %s", p.Title, p.Run.Cut)
	}
	if p.Run.IsFromTorn() {
		skip("%s: its archive is damaged or cut short, so files of this run may be missing: copy the archive again", p.Title)
	}
	if place := p.Run.Unread; place != "" {
		skip("%s: %s cannot be read, so files of this run may be missing: give it the rights of the others", p.Title, place)
	}
	lacks, text, isLost := r.lacking()
	switch {
	case isLost:
		skip("%s: %s", p.Title, text)
	case lacks != "":
		note("%s: %s", p.Title, text)
	}
	if text := r.stopped(); text != "" {
		note("%s: %s", p.Title, text)
	}
	isRead := func(host string) bool {
		return slices.ContainsFunc(p.Jobs, func(j *plan.Job) bool { return j.Host == host }) ||
			slices.ContainsFunc(p.Outputs, func(o *assign.Output) bool { return o.Host == host })
	}
	if unread := slices.DeleteFunc(p.Run.HostNames(), isRead); len(unread) > 0 {
		note("%s: neither a log nor a report that can be used of %s; copy its files again", p.Title, strings.Join(unread, ", "))
	}
	return lacks
}

// noteLogs says which logs lack rows or are not here.
func (r *Read) noteLogs(said *assign.Remarks, recovered int64) {
	p := r.Plan
	rows, without := 0, 0
	var empty []string // logs without rows and without a report
	for _, j := range p.Jobs {
		if j.HasRows {
			rows++
		} else if j.Source == assign.FromHist && j.Entry == nil {
			empty = append(empty, j.Log.File.Name())
		}
		if j.Entry == nil && len(p.Averages) == 0 && j.Source == assign.FromHist { // a log of completions has all requests
			without++
		}
	}
	if rows > 0 && len(empty) > 0 {
		said.Skip("%s: %d of %d logs have no rows, and no report says how many requests their jobs had: the rates of "+
			"the run lack these; their jobs ended before a row was due, or the logs were not copied whole: %s",
			p.Title, len(empty), len(p.Jobs), strings.Join(empty, ", "))
	}
	if rows == 0 && recovered == 0 {
		said.Note("%s: %s", p.Title, p.WhyNoWindows())
	}
	r.noteLogsOfEntries(said)
	if without > 0 {
		add := said.Note
		if p.Run.Iteration != nil || len(p.Outputs) > 0 { // CBT always writes a report; elsewhere there are other reports
			add = said.Skip
		}
		add("%s: no JSON report for %d of %d logs, so the last part of an interval of each job is "+
			"missing: pass the folder, or run fio with --output-format=json+", p.Title, without, len(p.Jobs))
	}
}

// noteLogsOfEntries says which entries lack logs, or rows in them.
func (r *Read) noteLogsOfEntries(said *assign.Remarks) {
	p, hasRows := r.Plan, r.hasRows()
	unwritten, last := 0, int64(0)
	for _, e := range p.Entries {
		served, wants, hasReports := r.Report(e).Requests(), e.HasOption("write_hist_log"), e.Jobs[0].Source == assign.FromReports
		if served == 0 || len(p.Averages) > 0 {
			continue
		}
		logs, empty := 0, 0
		for _, j := range e.Jobs {
			if j.Source != assign.FromNothing {
				logs++
			}
			if j.Source == assign.FromHist && !j.HasRows {
				empty++
			}
		}
		isAlone := !hasRows && len(p.Run.Logs) == 0 && !p.Run.ByCBT() // people keep reports without logs; CBT does not
		switch {
		case hasReports && wants:
			unwritten, last = unwritten+1, max(last, e.Ran)
		case hasReports:
		case logs == 0 && wants && !isAlone:
			said.Lack("%s served %d requests, but its log is missing or cannot be read: they count "+
				"in the run's totals, and in no window; add the log, or copy it again", e.Describe(), served)
		case logs == 0 && hasRows:
			said.Note("%s has no histogram log: its %d requests count in the run's totals, and in no window; "+
				"give its section --write_hist_log, too", e.Describe(), served)
		case empty > 0 && empty < logs:
			said.Lack("%s stands for %d jobs, and %d of their logs have no rows: windows lack their requests: these jobs ended "+
				"before a row was due, or the logs were not copied whole", e.Describe(), e.Size, empty)
		case logs > 0 && logs < e.Size:
			said.Lack("%s stands for %d jobs, and only %d logs of them are there; add the others", e.Describe(), e.Size, logs)
		}
	}
	isHist := func(log assign.Log) bool { return log.Kind.IsHistogram() }
	if unwritten > 0 && !p.Run.OnlyReports && !slices.ContainsFunc(p.Run.Logs, isHist) { // reports may replace logs that lack rows
		said.Note("%s: the histogram logs of %d of %d jobs are not here, so their periodic reports are used, the last one after %.1f s: fio writes "+
			"these logs when it ends, so it was killed then, or the logs were left behind", p.Title, unwritten, len(p.Entries), seconds(last))
	}
}

// noteReports says what the reports lack, and which periodic reports came late. What happened between these is not
// known as well as elsewhere. It returns whether a report lacks the bins that recover the ends of histogram logs.
func (r *Read) noteReports(said *assign.Remarks) (isBinless bool) {
	p, binless := r.Plan, false
	for _, e := range p.Entries {
		for _, s := range r.Report(e).All() {
			if n, _ := e.Failed(s); n > 0 {
				said.Note("%s: %d requests failed, or fio did not measure them: they have no latency", e.Describe(), n)
			}
			switch {
			case s.Uncounted && !r.hasRows():
				said.Note("%s: %s in %s does not report how many requests there were: only rates and latencies are known%s", e.Describe(),
					e.Out.Fio.Version, e.Out.Fio.Format, e.TerseDoubts(s))
			case e.Out.Fio.Format == fiolog.Terse && s.TotalIOs > 0:
				said.Note("%s: its number of requests is its bytes by bs of the job file, because terse output has none", e.Describe())
			case s.TotalIOs == 0 && !s.Uncounted || len(s.Clat.Bins) > 0:
			case s.Clat.Mean == 0 && s.Clat.N == 0: // the entry of several jobs has no mean
				said.Note("%s: completion latencies are disabled (disable_clat, disable_lat or "+
					"gtod_reduce): only requests and rates are known", e.Describe())
			case e.OptionOfOne("clat_percentiles") == "0":
				said.Note("%s: clat_percentiles=0 leaves the bins out of the report and the rows out of the "+
					"logs: run fio without it", e.Describe())
			default:
				binless = true
			}
		}
	}
	r.noteSyncs(said)
	isBinless = binless && slices.ContainsFunc(p.Jobs, func(j *plan.Job) bool { return j.Source == assign.FromHist })
	longest, late := map[*assign.Output]int64{}, map[*assign.Output]int64{} // a late row of each file; a report on its grid
	isPeriodic := func(j *plan.Job) bool { return j.Source == assign.FromReports }
	for _, j := range p.Jobs {
		if isPeriodic(j) {
			longest[j.Entry.Out] = max(longest[j.Entry.Out], r.Counts[j].Longest)
			late[j.Entry.Out] = max(late[j.Entry.Out], r.Counts[j].Late)
		}
	}
	for _, j := range p.Jobs {
		if !isPeriodic(j) {
			continue
		}
		out, logs := j.Entry.Out, ""
		if out.Grid == 0 { // fio2es run adds these logs
			logs = "; fio's histogram logs show it (--write_hist_log=NAME --log_hist_msec=1000)"
		}
		switch share := float64(late[out]) / float64(out.Spacing()); {
		case longest[out] > 0:
			said.Note("%s: fio wrote reports every %.1f s, but some came late, up to %.1f s after the one before: it waits for jobs "+
				"that hang or sleep, and longer on a busy host; when in that time a request completed is unknown, so such a time is one window%s", out.File.Name(),
				seconds(out.Spacing()), seconds(longest[out]), logs)
		case share > 0.05:
			said.Note("%s: fio wrote reports up to %d ms after it was asked for them, because the host was busy: windows may lack up to %.0f %% of "+
				"their time, and have as much of the next window's: --reports with a longer time makes this share smaller", out.File.Name(), late[out], 100*share)
		}
		delete(longest, out)
		delete(late, out)
	}
	return isBinless
}

// NoBins is a part of the note on logs whose ends no report has.
const NoBins = "fio's report has no bins"

// NotLogged begins the note on syncs that are in no window.
const NotLogged = "fio's logs do not have syncs"

// noteSyncs says that syncs are in no window, and which reports do not have them at all.
func (r *Read) noteSyncs(said *assign.Remarks) {
	isLogged := false
	for _, e := range r.Plan.Entries {
		for _, part := range e.Parts() {
			if s := &r.Report(part).Sync; s.Uncounted && s.Clat.Mean == 0 {
				said.Note("%s: its job file has it sync, and terse output does not have these latencies: run fio with --output-format=json+", part.Describe())
			}
		}
		isLogged = isLogged || e.Jobs[0].Serves(fiolog.Sync) && e.ReadsLogs() && !e.HasPeriodic()
	}
	if isLogged {
		said.Note("%s: "+NotLogged+" (fsync, fdatasync, sync_file_range): they count in the run's totals, and are in "+
			"no window; periodic reports show them over time (--status-interval=1 --output-format=json+)", r.Plan.Title)
	}
}

// adviseWindows says how windows of jobs whose rows do not come at the same moments become more certain.
func (r *Read) adviseWindows() string {
	var alone []*plan.Job // by their own time
	rows := int64(0)
	for _, j := range r.Plan.Jobs {
		own := *j
		own.Offset = 0
		alone, rows = append(alone, &own), max(rows, j.Interval)
	}
	usual, window := plan.UsualWindow(rows), r.Plan.Window
	if _, ok := plan.PhaseOf(alone, usual); ok && !r.ByJob && window%usual == 0 {
		return "with the setting align: job each job counts from its own start, and windows follow the rows"
	}
	longer := usual * int64(math.Ceil(r.Unsure.Share/0.05*float64(window)/float64(usual)))
	if longer >= r.End() {
		return "the totals of the run are right"
	}
	return fmt.Sprintf("a longer --interval, such as %v, has most of its requests for certain", time.Duration(longer)*time.Millisecond)
}

// contradiction says what the configuration of CBT has otherwise than fio's report.
func contradiction(p *plan.Plan) string {
	set, ran := p.Settings(), p.FioSettings()
	mode, _ := fioargs.ParseMode(set.Mode)
	switch {
	case mode != "" && ran.Mode != "" && mode != ran.Mode:
		return fmt.Sprintf("mode %s, and fio's report %s", set.Mode, ran.Mode)
	case set.OpSize > 0 && ran.OpSize > 0 && set.OpSize != ran.OpSize:
		return fmt.Sprintf("%d bytes a request, and fio's report %d", set.OpSize, ran.OpSize)
	}
	return ""
}

// reachOf returns the largest latency that all fios of some jobs have bins for, if those of one have much more, or else 0.
func reachOf(jobs []*plan.Job) time.Duration {
	var layouts []hist.Layout
	for _, j := range jobs {
		if j.HasRows {
			layouts = append(layouts, j.Layout)
		}
	}
	if len(layouts) == 0 {
		return 0
	}
	merged := layouts[0]
	for _, l := range layouts {
		merged = merged.Merged(l)
	}
	const much = 1.05 // fio 2 and 3 differ by 2 %
	if !slices.ContainsFunc(layouts, func(l hist.Layout) bool { return float64(l.Reach()) > much*float64(merged.Reach()) }) {
		return 0
	}
	least, _ := merged.Bounds(merged.Len() - 1)
	return time.Duration(least)
}
