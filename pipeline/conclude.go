package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

func (r *reading) conclude() {
	skip, note, title := r.problems.skip, r.problems.note, r.Title()
	for _, doubt := range r.Run.Doubts {
		note("%s: %s", title, doubt)
	}
	if text := r.Run.Unsure; text != "" {
		skip(fmt.Errorf("%s: %s", title, text))
	}
	if r.Run.Cut != "" {
		skip(fmt.Errorf("%s: %s", title, r.Run.Cut))
	}
	if r.Run.IsFromTorn() {
		skip(fmt.Errorf("%s: its archive is damaged or cut short, so files of this run may be missing: copy the archive again", title))
	}
	if place := r.Run.Unread; place != "" {
		skip(fmt.Errorf("%s: %s cannot be read, so files of this run may be missing: give it the rights of the others", title, place))
	}
	if hosts := r.Run.MissingHosts(); len(hosts) > 0 {
		note("%s: no files of %s, which the configuration names; add them if these hosts took part",
			title, strings.Join(hosts, ", "))
	}
	if unread := r.unreadHosts(); len(unread) > 0 {
		note("%s: neither a log nor a report that can be used of %s; copy its files again",
			title, strings.Join(unread, ", "))
	}
	recovered, missing := r.unlogged()
	r.concludeLogs(recovered)
	r.concludeReports()
	r.concludeLate()
	if u := r.unsure; u.windows > 0 {
		skip(fmt.Errorf("%s: %d windows are estimates, the first at %.1f s: rows of its logs cross their edges, and the rate changes within "+
			"such a row, so up to %.0f %% of a window's requests may belong to the window beside it; %s",
			title, u.windows, seconds(max(u.first-r.Shift, 0)), min(100*u.share, 100), r.adviseWindows()))
	}
	for d, n := range missing {
		if n > 0 {
			note("%s: %d %s requests are in fio's total and in no window", title, n, fiolog.Direction(d))
		}
	}
	if r.Placed != "" {
		note("%s: %s", title, r.Placed)
	}
	spans := r.Spans(func(j *plan.Job) int64 { return r.tallies[j].end() })
	if r.opt.Align != AlignJob {
		if text := plan.Apart(spans, 2*r.Error); text != "" {
			skip(fmt.Errorf("%s: %s", title, text))
		} else if text := plan.Skewed(spans, 2*r.Error); text != "" {
			note("%s: %s", title, text)
		}
	}
	if text := r.Contradiction(); text != "" {
		note("%s: %s", title, text)
	}
	if text := plan.MixedGroups(r.Jobs); text != "" {
		note("%s: %s", title, text)
	}
	if r.stats.Late >= 0.5 {
		skip(fmt.Errorf("%s: %.0f requests are in rows so late, or took so long, that they count in a later window",
			title, r.stats.Late))
	}
}

func (r *reading) concludeLogs(recovered int64) {
	rows, without := 0, 0
	var empty []string // logs without rows and without a report
	for _, j := range r.Jobs {
		if j.HasRows {
			rows++
		} else if j.Source == plan.FromHist && j.Entry == nil {
			empty = append(empty, j.Log.File.Name())
		}
		if j.Entry == nil && len(r.Averages) == 0 && j.Source == plan.FromHist { // a log of completions has all requests
			without++
		}
	}
	if rows > 0 && len(empty) > 0 {
		r.problems.skip(fmt.Errorf("%s: %d of %d logs have no rows, and no report says how many requests their jobs had: the rates of "+
			"the run lack these; copy them again: %s", r.Title(), len(empty), len(r.Jobs), strings.Join(empty, ", ")))
	}
	if rows == 0 && recovered == 0 {
		r.problems.note("%s: only totals: %s", r.Title(), r.WhyNoWindows())
	}
	unwritten, last := 0, int64(0)
	isHist := func(log cbt.Log) bool { return log.Kind.IsHistogram() }
	for _, e := range r.Entries {
		if of := r.of(e); len(r.Averages) == 0 {
			r.concludeEntry(of, rows > 0)
			if of.Jobs[0].Source == plan.FromReports && e.HasOption("write_hist_log") && plan.RequestsOf(of.latest()) > 0 {
				unwritten, last = unwritten+1, max(last, e.Ran)
			}
		}
	}
	if unwritten > 0 && !slices.ContainsFunc(r.Run.Logs, isHist) { // reports may replace logs that lack rows
		r.problems.note("%s: the histogram logs of %d of %d jobs are not here, so their periodic reports are used, the last one after %.1f s: fio writes "+
			"these logs when it ends, so it was killed then, or the logs were left behind", r.Title(), unwritten, len(r.Entries), float64(last)/1000)
	}
	if without == 0 {
		return
	}
	const text = "%s: no JSON report for %d of %d logs, so the last part of an interval of each job is " +
		"missing: pass the folder, or run fio with --output-format=json+"
	if r.Run.Iteration != nil || len(r.Outputs) > 0 { // CBT always writes a report; elsewhere there are other reports
		r.problems.skip(fmt.Errorf(text, r.Title(), without, len(r.Jobs)))
	} else {
		r.problems.note(text, r.Title(), without, len(r.Jobs))
	}
}

// concludeEntry reports missing logs of an entry, if its options name logs or other jobs have logs.
func (r *reading) concludeEntry(e covered, others bool) {
	served := plan.RequestsOf(e.latest())
	logs, empty := 0, 0
	for _, j := range e.Jobs {
		if j.Source != plan.FromNothing {
			logs++
		}
		if j.Source == plan.FromHist && !j.HasRows {
			empty++
		}
	}
	wanted := e.HasOption("write_hist_log")
	switch {
	case served == 0 || e.Jobs[0].Source == plan.FromReports:
	case logs == 0 && wanted && !((r.opt.Alone || r.Run.IsLoose()) && len(r.Run.Logs) == 0): // a report named by itself
		r.problems.skip(fmt.Errorf("%s served %d requests, but its log is missing or cannot be read: they count "+
			"in the run's totals, and in no window; add the log, or copy it again", e.Describe(), served))
	case logs == 0 && others:
		r.problems.note("%s has no histogram log: its %d requests count in the run's totals, and in no window; "+
			"give its section --write_hist_log, too", e.Describe(), served)
	case empty > 0 && empty < logs:
		r.problems.skip(fmt.Errorf("%s stands for %d jobs, and %d of their logs have no rows: windows lack their requests; copy these logs again",
			e.Describe(), e.Size, empty))
	case logs > 0 && logs < e.Size:
		r.problems.skip(fmt.Errorf("%s stands for %d jobs, and only %d logs of them are there; add the others",
			e.Describe(), e.Size, logs))
	}
}

func (r *reading) concludeReports() {
	binless := false
	for _, e := range r.Entries {
		for _, s := range r.of(e).latest().All() {
			if n, _ := e.Failed(s); n > 0 {
				r.problems.note("%s: %d requests failed, or fio did not measure them: they have no latency", e.Describe(), n)
			}
			switch {
			case s.Uncounted && r.totals:
				r.problems.note("%s: %s does not report how many requests there were: only rates and latencies are known", e.Describe(),
					e.Out.Fio.Version)
			case s.TotalIOs == 0 || len(s.Clat.Bins) > 0:
			case s.Clat.Mean == 0 && s.Clat.N == 0: // the entry of several jobs has no mean
				r.problems.note("%s: completion latencies are disabled (disable_clat, disable_lat or "+
					"gtod_reduce): only requests and rates are known", e.Describe())
			case e.OptionOfOne("clat_percentiles") == "0":
				r.problems.note("%s: clat_percentiles=0 leaves the bins out of the report and the rows out of the "+
					"logs: run fio without it", e.Describe())
			default:
				binless = true
			}
		}
	}
	if binless && slices.ContainsFunc(r.Jobs, func(j *plan.Job) bool { return j.Source == plan.FromHist }) {
		r.problems.note("%s: fio's JSON has no bins, so the last part of an interval of each job is missing: run "+
			"fio with --output-format=json+", r.Title())
	}
}

// concludeLate says which periodic reports came late. What happened between them is not known as well as elsewhere.
func (r *reading) concludeLate() {
	said := map[*reportFile]bool{}
	for _, j := range r.Jobs {
		reports := r.tallies[j].reports
		if reports == nil || said[reports.reportFile] || reports.late == 0 {
			continue
		}
		f := reports.reportFile
		said[f] = true
		r.problems.skip(fmt.Errorf("%s: fio wrote reports every %.1f s, but some came late, up to %.1f s after the one before: it waits for jobs "+
			"that hang or sleep; when in that time a request completed is unknown, so such a time is one window; fio's histogram logs "+
			"show it (--write_hist_log=NAME --log_hist_msec=1000)", f.out.File.Name(), seconds(f.out.Spacing()), seconds(f.longest)))
	}
}

// adviseWindows says how windows of jobs whose rows do not come at the same moments become more certain.
func (r *reading) adviseWindows() string {
	var alone []*plan.Job // by their own time
	rows := int64(0)
	for _, j := range r.Jobs {
		own := *j
		own.Offset = 0
		alone, rows = append(alone, &own), max(rows, j.Interval)
	}
	usual := plan.UsualWindow(rows)
	if _, ok := plan.PhaseOf(alone, usual); ok && r.opt.Align != AlignJob && r.Window%usual == 0 {
		return "with the setting align: job each job counts from its own start, and windows follow the rows"
	}
	longer := usual * int64(math.Ceil(r.unsure.share/0.05*float64(r.Window)/float64(usual)))
	if longer >= r.end() {
		return "the totals of the run are right"
	}
	return fmt.Sprintf("a longer --interval, such as %v, has most of its requests for certain", time.Duration(longer)*time.Millisecond)
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }

// unreadHosts returns the hosts of which no file could be read.
func (p *input) unreadHosts() []string {
	read := plan.HostNames(p.Jobs)
	for _, out := range p.Outputs {
		read = append(read, out.Host)
	}
	return slices.DeleteFunc(p.Run.HostNames(), func(host string) bool { return slices.Contains(read, host) })
}
