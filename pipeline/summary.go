package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// summary returns the run's document, made of what was read so far.
func (r *runReader) summary() *mapping.Run {
	e, ref := r.execution, r.execution.Run
	skipped, notes := r.problems.all()
	recovered, byDirection := r.unlogged()
	missing := byDirection[0] + byDirection[1] + byDirection[2]
	run := &mapping.Run{
		Run: mapping.RunInfo{
			ID: ref.ID, Name: ref.Name, Archive: ref.Archive, Path: r.Run.Path, Start: ref.Start, End: r.At(r.end()),
			Ingest: ref.Ingest, Labels: ref.Labels, Complete: len(skipped) == 0 && missing == 0 && r.lacks == "", Partial: r.problems.partial() || r.lacks != "", Lacks: r.lacks,
			Edited: e.edited, Note: e.note, Execution: e.ID, Stage: r.Stage, Stages: r.Stages, StageName: r.Name,
		},
		Source: e.Source, CBT: r.cbt, Config: r.Config,
		Fio:        mapping.FioInfo{Version: r.Version(), Format: r.Format(), Options: r.Options()},
		Hosts:      r.Hosts(),
		Clock:      mapping.Clock{Source: r.Clock.String(), ErrorMS: r.Error.Milliseconds()},
		Weighting:  r.opt.Weighting.String(),
		IntervalMS: r.Window,
		Levels:     r.opt.Levels,
		Placed:     r.Placed,
		Recovered:  mapping.Lost{Requests: recovered},
		Missing:    mapping.Lost{Requests: missing},
		Documents:  r.made,
		Program:    mapping.Program{Version: r.opt.Program},
	}
	if r.made == (mapping.Documents{}) || len(r.Averages) > 0 {
		run.NoWindows = r.WhyNoWindows()
	}
	run.Fio.Jobs = stands(r.Jobs)
	reported := r.Reported()
	for _, e := range reported {
		run.Fio.UsrCPU += e.UsrCPU
		run.Fio.SysCPU += e.SysCPU
		run.Fio.Switches += e.Switches
	}
	if n := float64(len(reported)); n > 0 {
		run.Fio.UsrCPU, run.Fio.SysCPU = rounded(run.Fio.UsrCPU/n, 100), rounded(run.Fio.SysCPU/n, 100)
	}
	var by [fiolog.Directions]*mapping.Totals
	run.All, by = r.totalsOf(r.Entries, r.Jobs)
	run.Read, run.Write, run.Trim = by[fiolog.Read], by[fiolog.Write], by[fiolog.Trim]
	run.Sync = r.syncsOf(r.Entries, r.Jobs)
	run.Sections = r.sections()
	run.Workload = r.known().Workload
	for i := range run.Sections {
		run.Sections[i].Workload = r.known().Sections[i].Workload
	}
	r.setHosts(run.Hosts)
	for _, err := range slices.Concat(skipped, notes) {
		run.Warnings = append(run.Warnings, err.Error())
	}
	return run
}

// stands returns how many jobs of fio some jobs are.
func stands(jobs []*plan.Job) (n int) {
	for _, j := range jobs {
		n += j.Stands()
	}
	return n
}

// known returns what interval documents have of the run's document ([mapping.Interval.Describe]). It follows from the plan,
// so it is known before all rows are read.
func (r *runReader) known() *mapping.Run {
	if r.ofRun != nil {
		return r.ofRun
	}
	run := &mapping.Run{
		Run: mapping.RunInfo{Name: r.execution.Run.Name, Execution: r.execution.ID, Stage: r.Stage}, CBT: r.cbt, Hosts: r.Hosts(),
		Fio: mapping.FioInfo{Format: r.Format(), Options: r.Options(), Jobs: stands(r.Jobs)},
	}
	if r.HasSections() {
		for _, of := range r.Sections {
			run.Sections = append(run.Sections, mapping.RunSection{Name: of.Name, CBT: of.Settings, Options: of.Options, Jobs: stands(of.Jobs)})
		}
	}
	rule.Set(run)
	r.ofRun = run
	return run
}

// totalsOf returns the totals of each direction and of all together of some jobs: the sums of their entries in fio's reports,
// and of the rows of jobs without an entry. Without any entry, they are the sums of the windows, which are of all jobs.
func (r *runReader) totalsOf(entries []*plan.Entry, jobs []*plan.Job) (whole *mapping.Totals, by [fiolog.Directions]*mapping.Totals) {
	var sums [fiolog.Directions]struct { // over the entries of the run
		bins        *hist.Histogram // of all requests
		unbinned    int64
		bytes       int64
		rates       mapping.Sums                     // of the jobs
		uncounted   float64                          // requests of reports that only have a rate
		means       [3]struct{ sum, weight float64 } // of fio, by requests: slat, clat, lat
		lacksReport bool                             // a job that served requests has no report: bytes and rates of the others would be too low
		reported    []*fiolog.DirectionStats         // of entries that served requests
		isMore      bool                             // there are requests beside those of the reports, or these lack some
	}
	all, total := &hist.Histogram{}, &mapping.Totals{}
	for d := range sums {
		sums[d].bins = &hist.Histogram{}
	}
	var unknown []*plan.Entry             // nothing shows how their requests divide into directions
	uncounted := 0.0                      // requests, by rates
	var reported []*fiolog.DirectionStats // of all directions
	for _, e := range entries {
		a := r.account(e)
		for _, part := range e.Parts() {
			for d := range sums {
				if s := &part.Directions[d]; s.TotalIOs > 0 || s.Uncounted {
					sums[d].reported, reported = append(sums[d].reported, s), append(reported, s)
				}
			}
			if part.Mixed != nil {
				reported = append(reported, part.Mixed)
			}
		}
		for d := range sums {
			to, of := &sums[d], &a.directions[d]
			to.bins.Merge(of.whole)
			to.unbinned += of.unbinned
			to.isMore = to.isMore || of.isOutrun || !of.isSound || int64(of.requests) > of.measured
			to.bytes += of.bytes
			to.rates.IOPS += of.rates.IOPS
			to.rates.Bandwidth += of.rates.Bandwidth
			stats := of.stats
			to.uncounted += uncountedOf(stats)
			for i, l := range []*fiolog.Latency{&stats.Slat, &stats.Clat, &stats.Lat} {
				if weight := float64(stats.TotalIOs) + uncountedOf(stats); l.Mean > 0 {
					to.means[i].sum += l.Mean * weight
					to.means[i].weight += weight
				}
			}
		}
		if e.Mixed != nil && a.all.IsEmpty() {
			unknown = append(unknown, e)
		}
	}
	for _, j := range jobs {
		for d := range sums {
			if of := &r.rows[j].directions[d]; j.Entry == nil {
				sums[d].lacksReport = sums[d].lacksReport || of.requests > 0
				if len(entries) > 0 {
					sums[d].bins.Merge(&of.sum)
				}
			}
		}
	}
	hasLength := len(jobs) == 0 || slices.ContainsFunc(jobs, (*plan.Job).HasLength)
	setRates := func(t *mapping.Totals, first, last int64) { // over the time from first to last, in milliseconds
		if hasLength {
			t.DurationMS = max(last-first, 0)
		}
		t.IOPS = rounded(perSecond(float64(t.Requests), t.DurationMS), 1e3)
		t.Bandwidth = rounded(perSecond(float64(t.Bytes), t.DurationMS), 1)
	}
	lacksReport, averaged, isMore, unbinned := false, &mapping.Totals{}, false, int64(0)
	for d := range sums {
		of := &sums[d]
		if len(entries) == 0 {
			of.bins = &r.windowed[d]
		}
		of.bins = of.bins.Coarser(r.opt.Coarseness)
		lacksReport = lacksReport || of.lacksReport
		out := &mapping.Totals{
			Bytes: of.bytes, Sums: mapping.Sums{IOPS: rounded(of.rates.IOPS, 1e3), Bandwidth: rounded(of.rates.Bandwidth, 1)},
		}
		setLatencies(out, of.bins, of.unbinned, of.reported, of.isMore || of.lacksReport)
		isMore, unbinned = isMore || of.isMore || of.lacksReport, unbinned+of.unbinned
		for i, to := range []*float64{&out.Means.Slat, &out.Means.Clat, &out.Means.Lat} {
			if m := of.means[i]; m.weight > 0 {
				*to = rounded(m.sum/m.weight/1000, 1000)
			}
		}
		if of.lacksReport {
			out.Bytes, out.Sums = 0, mapping.Sums{}
		}
		if len(entries) == 0 && len(r.Averages) > 0 {
			if by[d] = r.averaged[d].totals(); by[d] != nil {
				averaged.IOPS, averaged.Bandwidth = averaged.IOPS+by[d].IOPS, averaged.Bandwidth+by[d].Bandwidth
				averaged.DurationMS = max(averaged.DurationMS, by[d].DurationMS)
			}
			continue
		}
		if of.bins.IsEmpty() { // a report without bins has only requests and means
			if out.Requests == 0 && of.uncounted == 0 {
				continue
			}
			out.Latency.Mean = out.Means.Clat
		}
		first, last := int64(math.MaxInt64), int64(0) // from the start of the first job to the end of the last one
		for _, j := range jobs {
			start, end, rows := j.Offset, r.endOf(j), &r.rows[j].directions[d]
			hasRows := func(j *plan.Job) bool { return r.rows[j].directions[d].requests > 0 }
			isOther := j.Entry != nil && rows.requests == 0 && (j.Entry.Mixed != nil || j.Entry.Several || slices.ContainsFunc(j.Entry.Jobs, hasRows))
			switch {
			case !j.Serves(fiolog.Direction(d)) || isOther: // another job of its entry serves the direction
				continue
			case j.Entry != nil && j.Entry.Several: // only the rows show when each ran, up to the last part of an interval
				unlogged := end - j.Offset - r.rows[j].until
				start, end = j.Offset+rows.start, j.Offset+rows.end+unlogged
			case j.Entry != nil:
				end = min(end, j.Offset+max(r.servedFor(j, fiolog.Direction(d)), rows.end))
			}
			first, last = min(first, start), max(last, end)
		}
		setRates(out, first, last)
		if out.Requests == 0 { // unknown
			out.IOPS = rounded(perSecond(of.uncounted, out.DurationMS), 1e3)
		}
		by[d], uncounted = out, uncounted+of.uncounted
		all.Merge(of.bins)
		total.Bytes += out.Bytes
		total.Sums.IOPS += out.Sums.IOPS
		total.Sums.Bandwidth += out.Sums.Bandwidth
	}
	for _, e := range unknown {
		bins := e.Histogram(e.Mixed).Coarser(r.opt.Coarseness)
		all.Merge(bins)
		unbinned += max(e.Measured(e.Mixed)-int64(bins.Total()), 0)
		uncounted += uncountedOf(e.Mixed)
		total.Bytes += int64(e.Mixed.IOBytes)
		total.Sums.IOPS += e.Mixed.IOPS
		total.Sums.Bandwidth += float64(e.Mixed.BandwidthBytes)
	}
	if averaged.IOPS+averaged.Bandwidth > 0 {
		return averaged, by
	}
	setLatencies(total, all, unbinned, reported, isMore)
	if total.Requests == 0 && uncounted == 0 {
		return nil, by
	}
	if lacksReport {
		total.Bytes, total.Sums = 0, mapping.Sums{}
	}
	if all.IsEmpty() && total.Fio != nil {
		total.Latency.Mean = total.Fio.Mean
	}
	first := int64(math.MaxInt64)
	last := int64(0)
	for _, j := range jobs {
		first, last = min(first, j.Offset), max(last, r.endOf(j))
	}
	if setRates(total, first, last); total.Requests == 0 { // unknown
		total.IOPS = rounded(perSecond(uncounted, total.DurationMS), 1e3)
	}
	total.Sums.IOPS = rounded(total.Sums.IOPS, 1e3)
	return total, by
}

// setLatencies sets the requests and latencies of totals: from the bins of requests, and from what fio computed of the same
// requests, which is exact. Of unbinned more requests nothing else is known. isMore means that the reports are of other requests, too,
// or not of all.
func setLatencies(t *mapping.Totals, bins *hist.Histogram, unbinned int64, reported []*fiolog.DirectionStats, isMore bool) {
	t.Requests, t.Latency = int64(bins.Total())+unbinned, mapping.NewLatency(bins, nil)
	fio := fioLatency(reported)
	if fio != nil && !isMore && !bins.IsEmpty() {
		t.Latency.SetExact(fio)
	}
	if unbinned > 0 || bins.IsEmpty() {
		t.Fio = fio
	}
	if t.SetUnbinned(unbinned, bins); bins.IsEmpty() && fio != nil && len(fio.Percentiles) == 0 && !isMore {
		t.Bounds = boundsOf(reported)
	}
}

// boundsOf returns between which latencies the percentiles of several entries without bins lie: a percentile of all requests lies
// between the lowest and the highest of those of the entries. It is nil if an entry lists none.
func boundsOf(reported []*fiolog.DirectionStats) *mapping.Bounds {
	out, half := &mapping.Bounds{Confidence: 1}, hist.Fio3(0).RelativeError() // fio prints middles of bins
	for i := range mapping.Percentiles {
		low, high := math.Inf(1), 0.0
		for _, of := range reported {
			k := slices.IndexFunc(of.Clat.Percentiles, func(p fiolog.Percentile) bool {
				return math.Abs(p.Rank-mapping.Percentiles[i].Rank) < 1e-9
			})
			if k < 0 {
				low = math.Inf(1)
				break
			}
			ns, step := float64(of.Clat.Percentiles[k].Value), float64(of.Clat.PercentileStep)/2
			low, high = min(low, ns*(1-half)-step), max(high, ns*(1+half)+step)
		}
		if !math.IsInf(low, 1) {
			out.Set(i, mapping.Between{Low: rounded(max(low, 0)/1000, 1000), High: rounded(high/1000, 1000)})
		}
	}
	if *out == (mapping.Bounds{Confidence: 1}) {
		return nil
	}
	return out
}

// uncountedOf returns about how many requests there were, if a report only has a rate.
func uncountedOf(s *fiolog.DirectionStats) float64 {
	if !s.Uncounted {
		return 0
	}
	return max(s.IOPS*float64(s.Runtime)/1000, 1)
}

// sections returns the sections of a run whose jobs did not all do the same, if reports cover all of them.
func (r *runReader) sections() (list []mapping.RunSection) {
	if !r.HasSections() {
		return nil
	}
	for _, of := range r.Sections {
		var entries []*plan.Entry
		s := mapping.RunSection{Name: of.Name, CBT: of.Settings, Options: of.Options}
		for _, j := range of.Jobs {
			if s.Jobs += j.Stands(); !slices.Contains(entries, j.Entry) {
				entries = append(entries, j.Entry)
			}
		}
		var by [fiolog.Directions]*mapping.Totals
		s.All, by = r.totalsOf(entries, of.Jobs)
		s.Read, s.Write, s.Trim = by[fiolog.Read], by[fiolog.Write], by[fiolog.Trim]
		s.Sync = r.syncsOf(entries, of.Jobs)
		list = append(list, s)
	}
	return list
}

// setHosts sets the totals of hosts, if there are several and reports cover all jobs.
func (r *runReader) setHosts(hosts []mapping.RunHost) {
	if len(hosts) < 2 || slices.ContainsFunc(r.Jobs, func(j *plan.Job) bool { return j.Entry == nil }) {
		return
	}
	for i := range hosts {
		h := &hosts[i]
		var jobs []*plan.Job
		var entries []*plan.Entry
		for _, j := range r.Jobs {
			if j.Host != h.Name {
				continue
			}
			if jobs = append(jobs, j); !slices.Contains(entries, j.Entry) {
				entries = append(entries, j.Entry)
			}
		}
		if slices.ContainsFunc(entries, func(e *plan.Entry) bool {
			return e.Mixed != nil || slices.ContainsFunc(e.Jobs, func(j *plan.Job) bool { return j.Host != h.Name })
		}) {
			continue
		}
		_, by := r.totalsOf(entries, jobs)
		totals := append(by[:], r.syncsOf(entries, jobs))
		for d, to := range []**mapping.HostTotals{&h.Read, &h.Write, &h.Trim, &h.Sync} {
			if t := totals[d]; t != nil && t.Requests > 0 {
				*to = &mapping.HostTotals{Requests: t.Requests, IOPS: t.IOPS}
				if l := &t.Latency; l.Exact {
					(*to).Latency = mapping.HostLatency{Min: l.Min, Mean: l.Mean, Max: l.Max, StdDev: l.StdDev}
				}
			}
		}
	}
}

// endOf returns when a job ended, in milliseconds after the start of the run.
func (r *runReader) endOf(j *plan.Job) int64 { return j.Offset + max(j.Ran, r.rows[j].endByRows()) }

// end returns when the last job ended, in milliseconds after the start of the run.
func (r *runReader) end() (end int64) {
	for _, j := range r.Jobs {
		end = max(end, r.endOf(j))
	}
	return end
}

// fioLatency returns what fio itself computed of requests, or nil if it did not of all.
// Percentiles of several entries cannot be merged, so there are none; extremes, means and deviations can.
func fioLatency(list []*fiolog.DirectionStats) *mapping.FioLatency {
	us := func(ns float64) float64 { return rounded(ns/1000, 1000) }
	var n, sum, squares, stddev float64
	out := &mapping.FioLatency{Min: math.Inf(1)}
	for _, of := range list {
		l, weight := &of.Clat, max(float64(of.TotalIOs), uncountedOf(of))
		if l.Mean == 0 || of.FromSubmission { // completion latencies are disabled, or have no bins
			l = &of.Lat
		}
		if l.Mean == 0 {
			return nil
		}
		stddev = l.StdDev
		n, sum, squares = n+weight, sum+weight*l.Mean, squares+weight*(l.Mean*l.Mean+l.StdDev*l.StdDev)
		out.Min, out.Max = min(out.Min, us(float64(l.Min))), max(out.Max, us(float64(l.Max)))
		out.Step, out.PercentileStep = max(out.Step, us(float64(l.Step))), max(out.PercentileStep, us(float64(l.PercentileStep)))
		for _, q := range l.Percentiles {
			if len(list) == 1 {
				out.Percentiles = append(out.Percentiles, mapping.FioPercentile{Rank: q.Rank, Value: us(float64(q.Value))})
			}
		}
	}
	if n == 0 {
		return nil
	}
	out.Mean = us(sum / n)
	if out.StdDev = us(math.Sqrt(max(squares/n-sum/n*sum/n, 0))); len(list) == 1 {
		out.StdDev = us(stddev)
	}
	return out
}

// conclude says what is missing in the run, and what else its reader should know, after all rows.
func (r *runReader) conclude() {
	skip, note, title := r.problems.skip, r.problems.note, r.Title
	for _, doubt := range r.Run.Doubts {
		note("%s: %s", title, doubt)
	}
	if r.Run.Cut != "" {
		skip("%s: %s", title, r.Run.Cut)
	}
	if r.Run.IsFromTorn() {
		skip("%s: its archive is damaged or cut short, so files of this run may be missing: copy the archive again", title)
	}
	if place := r.Run.Unread; place != "" {
		skip("%s: %s cannot be read, so files of this run may be missing: give it the rights of the others", title, place)
	}
	short, text, isLost := r.lacking()
	switch r.lacks = short; {
	case isLost:
		skip("%s: %s", title, text)
	case short != "":
		note("%s: %s", title, text)
	}
	if text := r.stopped(); text != "" {
		note("%s: %s", title, text)
	}
	read := plan.HostNames(r.Jobs)
	for _, out := range r.Outputs {
		read = append(read, out.Host)
	}
	isRead := func(host string) bool { return slices.Contains(read, host) }
	if unread := slices.DeleteFunc(r.Run.HostNames(), isRead); len(unread) > 0 {
		note("%s: neither a log nor a report that can be used of %s; copy its files again",
			title, strings.Join(unread, ", "))
	}
	recovered, missing := r.unlogged()
	r.concludeLogs(recovered)
	r.concludeReports()
	if u := r.unsure; u.windows > 0 {
		note("%s: %d windows are estimates, the first at %.1f s: rows of its logs cross their edges, and the rate changes within "+
			"such a row, so up to %.0f %% of a window's requests may belong to the window beside it; %s",
			title, u.windows, seconds(max(u.first-r.Shift, 0)), min(100*u.share, 100), r.adviseWindows())
	}
	var lacks []string
	for d, n := range missing {
		if n > 0 {
			lacks = append(lacks, fmt.Sprintf("%d %s requests", n, fiolog.Direction(d)))
		}
	}
	if len(lacks) > 0 {
		note("%s: %s are in fio's total and in no window", title, strings.Join(lacks, " and "))
	}
	if r.opt.Align != AlignJob {
		text, isDoubt := r.Apart(func(j *plan.Job) int64 { return r.rows[j].endByRows() })
		switch {
		case isDoubt:
			note("%s: %s", title, text)
		case text != "":
			skip("%s: %s", title, text)
		}
	}
	if config := r.Run.Config; config != nil {
		set, ran := r.Settings(), r.FioSettings()
		mode, _ := fioargs.ParseMode(set.Mode)
		text := ""
		switch {
		case mode != "" && ran.Mode != "" && mode != ran.Mode:
			text = fmt.Sprintf("mode %s, and fio's report %s", set.Mode, ran.Mode)
		case set.OpSize > 0 && ran.OpSize > 0 && set.OpSize != ran.OpSize:
			text = fmt.Sprintf("%d bytes a request, and fio's report %d", set.OpSize, ran.OpSize)
		}
		if text != "" {
			note("%s: %s has %s: its settings may be those of another run; put the configuration of this run there",
				title, config.Name(), text)
		}
	}
	var layouts []hist.Layout // of the fios
	for _, j := range r.Jobs {
		if j.HasRows {
			layouts = append(layouts, j.Layout)
		}
	}
	if len(layouts) > 0 {
		merged := layouts[0]
		for _, l := range layouts {
			merged = merged.Merged(l)
		}
		const much = 1.05 // fio 2 and 3 differ by 2 %
		if slices.ContainsFunc(layouts, func(l hist.Layout) bool { return float64(l.Reach()) > much*float64(merged.Reach()) }) {
			least, _ := merged.Bounds(merged.Len() - 1)
			note("%s: its fios were built with different numbers of groups of bins, so latencies above %v are \"or more\" in all "+
				"its numbers; read its hosts apart to see more", title, time.Duration(least).Round(time.Millisecond))
		}
	}
	if r.stats.Late >= 0.5 {
		note("%s: %.0f requests are in rows so late, or took so long, that they count in a later window",
			title, r.stats.Late)
	}
}

// concludeLogs says which logs lack rows or are not here, by entry. recovered is the number of requests that fio did not
// log and that are in windows.
func (r *runReader) concludeLogs(recovered int64) {
	skip, note := r.problems.skip, r.problems.note
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
		skip("%s: %d of %d logs have no rows, and no report says how many requests their jobs had: the rates of "+
			"the run lack these; their jobs ended before a row was due, or the logs were not copied whole: %s",
			r.Title, len(empty), len(r.Jobs), strings.Join(empty, ", "))
	}
	if rows == 0 && recovered == 0 {
		note("%s: %s", r.Title, r.WhyNoWindows())
	}
	unwritten, last := 0, int64(0)
	for _, e := range r.Entries {
		served, wants, hasReports := r.latest(e).Requests(), e.HasOption("write_hist_log"), e.Jobs[0].Source == plan.FromReports
		if served == 0 || len(r.Averages) > 0 {
			continue
		}
		logs, empty := 0, 0
		for _, j := range e.Jobs {
			if j.Source != plan.FromNothing {
				logs++
			}
			if j.Source == plan.FromHist && !j.HasRows {
				empty++
			}
		}
		isAlone := r.totals && len(r.Run.Logs) == 0 && !r.Run.ByCBT() // people keep reports without logs; CBT does not
		switch {
		case hasReports && wants:
			unwritten, last = unwritten+1, max(last, e.Ran)
		case hasReports:
		case logs == 0 && wants && !isAlone:
			r.problems.lack("%s served %d requests, but its log is missing or cannot be read: they count "+
				"in the run's totals, and in no window; add the log, or copy it again", e.Describe(), served)
		case logs == 0 && rows > 0:
			note("%s has no histogram log: its %d requests count in the run's totals, and in no window; "+
				"give its section --write_hist_log, too", e.Describe(), served)
		case empty > 0 && empty < logs:
			r.problems.lack("%s stands for %d jobs, and %d of their logs have no rows: windows lack their requests: these jobs ended "+
				"before a row was due, or the logs were not copied whole", e.Describe(), e.Size, empty)
		case logs > 0 && logs < e.Size:
			r.problems.lack("%s stands for %d jobs, and only %d logs of them are there; add the others", e.Describe(), e.Size, logs)
		}
	}
	isHist := func(log cbt.Log) bool { return log.Kind.IsHistogram() }
	if unwritten > 0 && !slices.ContainsFunc(r.Run.Logs, isHist) { // reports may replace logs that lack rows
		note("%s: the histogram logs of %d of %d jobs are not here, so their periodic reports are used, the last one after %.1f s: fio writes "+
			"these logs when it ends, so it was killed then, or the logs were left behind", r.Title, unwritten, len(r.Entries), seconds(last))
	}
	if without > 0 {
		add := note
		if r.Run.Iteration != nil || len(r.Outputs) > 0 { // CBT always writes a report; elsewhere there are other reports
			add = skip
		}
		add("%s: no JSON report for %d of %d logs, so the last part of an interval of each job is "+
			"missing: pass the folder, or run fio with --output-format=json+", r.Title, without, len(r.Jobs))
	}
}

// concludeReports says what the reports lack, and which periodic reports came late. What happened between these is not
// known as well as elsewhere.
func (r *runReader) concludeReports() {
	note := r.problems.note
	binless := false
	for _, e := range r.Entries {
		for _, s := range r.latest(e).All() {
			if n, _ := e.Failed(s); n > 0 {
				note("%s: %d requests failed, or fio did not measure them: they have no latency", e.Describe(), n)
			}
			switch {
			case s.Uncounted && r.totals:
				note("%s: %s in %s does not report how many requests there were: only rates and latencies are known%s", e.Describe(),
					e.Out.Fio.Version, e.Out.Fio.Format, e.TerseDoubts(s))
			case e.Out.Fio.Format == fiolog.Terse && s.TotalIOs > 0:
				note("%s: its number of requests is its bytes by bs of the job file, because terse output has none", e.Describe())
			case s.TotalIOs == 0 && !s.Uncounted || len(s.Clat.Bins) > 0:
			case s.Clat.Mean == 0 && s.Clat.N == 0: // the entry of several jobs has no mean
				note("%s: completion latencies are disabled (disable_clat, disable_lat or "+
					"gtod_reduce): only requests and rates are known", e.Describe())
			case e.OptionOfOne("clat_percentiles") == "0":
				note("%s: clat_percentiles=0 leaves the bins out of the report and the rows out of the "+
					"logs: run fio without it", e.Describe())
			default:
				binless = true
			}
		}
	}
	r.noteSyncs()
	if binless && slices.ContainsFunc(r.Jobs, func(j *plan.Job) bool { return j.Source == plan.FromHist }) {
		note("%s: fio's report has no bins, so the last part of an interval of each job is missing: run "+
			"fio with --output-format=json+", r.Title)
	}
	for _, j := range r.Jobs {
		if f := r.rows[j].reports; f != nil && f.late > 0 && f == f.jobs[0] { // once for the file
			r.problems.note("%s: fio wrote reports every %.1f s, but some came late, up to %.1f s after the one before: it waits for jobs "+
				"that hang or sleep; when in that time a request completed is unknown, so such a time is one window; fio's histogram logs "+
				"show it (--write_hist_log=NAME --log_hist_msec=1000)", f.out.File.Name(), seconds(f.out.Spacing()), seconds(f.longest))
		}
	}
}

// adviseWindows says how windows of jobs whose rows do not come at the same moments become more certain.
func (r *runReader) adviseWindows() string {
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
