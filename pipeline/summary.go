package pipeline

import (
	"maps"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// summary makes the run's document after all windows have been read.
func (p *plan) summary(ref mapping.RunRef, t *tallies) *mapping.Run {
	lost := t.problems.Skipped()
	run := &mapping.Run{
		Run: mapping.RunInfo{
			ID: ref.ID, Name: ref.Name, Archive: ref.Archive, Path: p.run.Path, Start: ref.Start, End: p.at(p.end(t)),
			Ingest: ref.Ingest, Labels: ref.Labels, Complete: len(lost) == 0 && t.missing.total() == 0,
		},
		CBT: p.settings(), Config: p.config,
		Fio:        p.fio(),
		Hosts:      p.runHosts(),
		Clock:      mapping.Clock{Source: p.clock.String(), ErrorMS: p.error.Milliseconds()},
		Weighting:  p.opt.Weighting.String(),
		IntervalMS: p.window,
		Levels:     p.opt.levels(),
		Placed:     p.placed,
		Recovered:  mapping.Lost{Requests: t.recovered.total()},
		Missing:    mapping.Lost{Requests: t.missing.total()},
		Documents:  t.made,
	}
	if t.made == (mapping.Documents{}) || len(p.averages) > 0 {
		run.NoWindows = p.whyNoWindows()
	}
	var whole [fiolog.Directions]*hist.Histogram
	for d, to := range [fiolog.Directions]**mapping.Totals{&run.Read, &run.Write, &run.Trim} {
		whole[d] = p.whole(fiolog.Direction(d), t)
		*to = p.totals(fiolog.Direction(d), whole[d], t)
	}
	run.All = p.allTotals(run, &whole, t)
	for _, list := range [][]error{lost, t.problems.Notes()} {
		for _, err := range list {
			run.Warnings = append(run.Warnings, err.Error())
		}
	}
	return run
}

// totals are the totals of one direction with the histogram h, over the time from the start of
// its first job to the end of its last; nil if it has no requests.
func (p *plan) totals(d fiolog.Direction, h *hist.Histogram, t *tallies) *mapping.Totals {
	reported := p.reported(d, t)
	if h.IsEmpty() && reported == 0 {
		return nil
	}
	out := &mapping.Totals{
		Requests: int64(h.Total()), Latency: mapping.NewLatency(h, nil),
		Means: p.means(d, t), Sums: p.sums(d, t), Fio: p.fioLatency(d),
	}
	if h.IsEmpty() { // a report without bins has only requests and means
		out.Requests, out.Latency.Mean = reported, out.Means.Clat
	}
	for _, e := range p.entries {
		mixed, share := p.mixed(e, d, t)
		out.Bytes += int64(t.report(e).Directions[d].IOBytes) + int64(float64(mixed.IOBytes)*share)
	}
	out.DurationMS = p.duration(func(j *job) (start, end int64, ok bool) {
		of := t.jobs[j]
		switch {
		case !j.serves(d) || j.entry != nil && j.entry.mixed && of.requests[d] == 0:
			return 0, 0, false
		case j.entry != nil && j.entry.several: // only the rows show when each ran
			return j.offset + of.spans[d].start, j.offset + of.spans[d].end, of.requests[d] > 0
		}
		return j.offset, p.endOf(j, t), true
	})
	rate(out)
	return out
}

// rate sets the rates from requests, bytes and time.
func rate(t *mapping.Totals) {
	t.IOPS = rounded(perSecond(float64(t.Requests), t.DurationMS), 1e3)
	t.Bandwidth = rounded(perSecond(float64(t.Bytes), t.DurationMS), 1)
}

// allTotals are the totals of all directions together; nil if there are none.
func (p *plan) allTotals(run *mapping.Run, whole *[fiolog.Directions]*hist.Histogram, t *tallies) *mapping.Totals {
	all, total := &hist.Histogram{}, &mapping.Totals{}
	for d, of := range []*mapping.Totals{run.Read, run.Write, run.Trim} {
		if of != nil {
			all.Merge(whole[d])
			total.Requests += of.Requests
			total.Bytes += of.Bytes
			total.Sums.IOPS += of.Sums.IOPS
			total.Sums.Bandwidth += of.Sums.Bandwidth
		}
	}
	for _, e := range p.entries { // of unknown directions
		if e.mixed && !p.hasLogged(e, t) {
			all.Merge(e.histogram(e.Mixed))
			total.Requests += int64(e.Mixed.TotalIOs)
			total.Bytes += int64(e.Mixed.IOBytes)
			total.Sums.IOPS += e.Mixed.IOPS
			total.Sums.Bandwidth += float64(e.Mixed.BandwidthBytes)
		}
	}
	if total.Requests == 0 {
		return nil
	}
	total.Latency = mapping.NewLatency(all, nil)
	total.DurationMS = p.duration(func(j *job) (start, end int64, ok bool) { return j.offset, p.endOf(j, t), true })
	rate(total)
	total.Sums.IOPS = rounded(total.Sums.IOPS, 1e3)
	return total
}

// duration is the time from the first start of some jobs to the last end, in milliseconds.
func (p *plan) duration(of func(*job) (start, end int64, ok bool)) int64 {
	first, last, some := int64(0), int64(0), false
	for _, j := range p.jobs {
		start, end, ok := of(j)
		if !ok {
			continue
		}
		if !some || start < first {
			first = start
		}
		last, some = max(last, end), true
	}
	return max(last-first, 0)
}

// endOf is when a job ended, in milliseconds after the run's start.
func (p *plan) endOf(j *job, t *tallies) int64 {
	return j.offset + max(j.ran, t.jobs[j].end())
}

// end is when the last job ended, in milliseconds after the run's start.
func (p *plan) end(t *tallies) (end int64) {
	for _, j := range p.jobs {
		end = max(end, p.endOf(j, t))
	}
	return end
}

// whole is the histogram of the whole run and one direction: from fio's report if it has the
// bins of all requests, else from the logs' rows.
func (p *plan) whole(d fiolog.Direction, t *tallies) *hist.Histogram {
	if len(p.entries) == 0 {
		return &t.windowed[d]
	}
	all := &hist.Histogram{}
	for _, e := range p.entries {
		stats := &t.report(e).Directions[d]
		switch _, err := e.failed(stats); {
		case e.mixed:
			all.Merge(p.mixedWhole(e, d, t))
		case err == nil && len(stats.Clat.Bins) > 0:
			all.Merge(e.histogram(stats))
		default:
			logged, _ := t.logged(e, d)
			all.Merge(logged)
		}
	}
	for _, j := range p.jobs {
		if j.entry == nil {
			all.Merge(&t.jobs[j].sums[d])
		}
	}
	return all
}

// mixedWhole is a direction of a report that has all in one: its rows, and its share of the
// other requests of the report.
func (p *plan) mixedWhole(e *entry, d fiolog.Direction, t *tallies) *hist.Histogram {
	logged, _ := t.logged(e, d)
	all, shares, _ := t.loggedAll(e)
	if all.IsEmpty() || len(e.Mixed.Clat.Bins) == 0 {
		return logged
	}
	rest := inLayoutOf(e.histogram(e.Mixed), all)
	if !rest.Subtract(all) {
		return logged
	}
	whole := shareOut(rest, shares)[d]
	whole.Merge(logged)
	return whole
}

// mixed is the report's sum of all directions and the share of one direction in it. Both are
// zero if the report has directions.
func (p *plan) mixed(e *entry, d fiolog.Direction, t *tallies) (all fiolog.DirectionStats, share float64) {
	if !e.mixed || e.Mixed.TotalIOs == 0 {
		return all, 0
	}
	return *e.Mixed, p.mixedWhole(e, d, t).Total() / float64(e.Mixed.TotalIOs)
}

// hasLogged reports whether an entry's logs have any row.
func (p *plan) hasLogged(e *entry, t *tallies) bool {
	all, _, _ := t.loggedAll(e)
	return !all.IsEmpty()
}

// reported is the number of requests in fio's reports.
func (p *plan) reported(d fiolog.Direction, t *tallies) int64 {
	sum := uint64(0)
	for _, e := range p.entries {
		sum += t.report(e).Directions[d].TotalIOs
	}
	return int64(sum)
}

// fio is fio's version, options and CPU use.
func (p *plan) fio() mapping.FioInfo {
	info := mapping.FioInfo{Version: p.version(), Options: p.options()}
	jobs := 0.0
	for _, j := range p.jobs {
		info.Jobs += max(j.stands(), 1)
	}
	for _, e := range p.entries {
		info.UsrCPU += e.UsrCPU
		info.SysCPU += e.SysCPU
		jobs++
	}
	if jobs > 0 {
		info.UsrCPU, info.SysCPU = rounded(info.UsrCPU/jobs, 100), rounded(info.SysCPU/jobs, 100)
	}
	return info
}

// stands is the number of fio's jobs that a job stands for: with group_reporting and without
// logs of each, all of the group.
func (j *job) stands() int {
	if j.entry != nil && len(j.entry.jobs) == 1 && j.source != fromHist && j.source != fromRaw {
		return j.entry.size
	}
	return 1
}

// fioLatency is what fio itself computed, if the run is one job without bins.
func (p *plan) fioLatency(d fiolog.Direction) *mapping.FioLatency {
	if len(p.entries) != 1 || len(p.jobs) != 1 || p.entries[0].size > 1 {
		return nil
	}
	l := &p.entries[0].Directions[d].Clat
	if len(l.Bins) > 0 || len(l.Percentiles) == 0 {
		return nil
	}
	us := func(ns float64) float64 { return rounded(ns/1000, 1000) }
	out := &mapping.FioLatency{Min: us(float64(l.Min)), Max: us(float64(l.Max)), Mean: us(l.Mean), StdDev: us(l.StdDev)}
	for _, q := range l.Percentiles {
		out.Percentiles = append(out.Percentiles, mapping.FioPercentile{Rank: q.Rank, Value: us(float64(q.Value))})
	}
	return out
}

// means are fio's mean latencies over all requests of all jobs.
func (p *plan) means(d fiolog.Direction, t *tallies) mapping.Means {
	mean := func(of func(*fiolog.DirectionStats) *fiolog.Latency) float64 {
		sum, n := 0.0, 0.0
		for _, e := range p.entries {
			s := &t.report(e).Directions[d]
			if l := of(s); l.Mean > 0 {
				sum += l.Mean * float64(s.TotalIOs)
				n += float64(s.TotalIOs)
			}
		}
		if n == 0 {
			return 0
		}
		return rounded(sum/n/1000, 1000)
	}
	return mapping.Means{
		Slat: mean(func(s *fiolog.DirectionStats) *fiolog.Latency { return &s.Slat }),
		Clat: mean(func(s *fiolog.DirectionStats) *fiolog.Latency { return &s.Clat }),
		Lat:  mean(func(s *fiolog.DirectionStats) *fiolog.Latency { return &s.Lat }),
	}
}

// sums are the sums of fio's IOPS and bandwidths over all jobs.
func (p *plan) sums(d fiolog.Direction, t *tallies) mapping.Sums {
	var sum mapping.Sums
	for _, e := range p.entries {
		s := &t.report(e).Directions[d]
		mixed, share := p.mixed(e, d, t)
		sum.IOPS += s.IOPS + share*mixed.IOPS
		sum.Bandwidth += float64(s.BandwidthBytes) + share*float64(mixed.BandwidthBytes)
	}
	return mapping.Sums{IOPS: rounded(sum.IOPS, 1e3), Bandwidth: rounded(sum.Bandwidth, 1)}
}

// options are fio's options that are the same for all jobs.
func (p *plan) options() map[string]string {
	var same map[string]string
	for _, e := range p.entries {
		job := maps.Clone(e.out.fio.GlobalOptions)
		if job == nil {
			job = map[string]string{}
		}
		maps.Copy(job, e.Options)
		if same == nil {
			same = job
		}
		maps.DeleteFunc(same, func(k, v string) bool { return job[k] != v })
	}
	return same
}

func (p *plan) runHosts() []mapping.RunHost {
	var hosts []mapping.RunHost
	for _, j := range p.jobs {
		i := slices.IndexFunc(hosts, func(h mapping.RunHost) bool { return h.Name == j.host })
		if i < 0 {
			hosts = append(hosts, mapping.RunHost{
				Name: j.host, Start: j.start, Clock: j.clock.String(), ClockErrorMS: j.error.Milliseconds(),
			})
			i = len(hosts) - 1
		}
		h := &hosts[i]
		h.Jobs += max(j.stands(), 1)
		h.Start = earlier(h.Start, j.start).UTC()
		if !p.start.IsZero() {
			h.SkewMS = h.Start.Sub(p.start).Milliseconds()
		}
	}
	return hosts
}

// nameHosts collects the names of all hosts of the run.
func (p *plan) nameHosts() {
	for _, j := range p.jobs {
		if j.host != "" && !slices.Contains(p.hosts, j.host) {
			p.hosts = append(p.hosts, j.host)
		}
	}
	slices.Sort(p.hosts)
}

// hostsOf names the hosts whose requests a document has: the host itself or, for the cluster,
// all hosts that have names.
func (p *plan) hostsOf(host string) mapping.HostsRef {
	if host != "" {
		return mapping.HostsRef{Name: []string{host}}
	}
	return mapping.HostsRef{Name: p.hosts}
}

// whyNoWindows is why there are no windows with percentiles, and what to do.
func (p *plan) whyNoWindows() string {
	const options = "run fio with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	hist, msec, latency, percentiles := false, false, len(p.entries) == 0, true
	for _, j := range p.jobs {
		hist = hist || j.source == fromHist
		msec = msec || j.interval > 0
	}
	for _, e := range p.entries {
		for _, s := range e.All() {
			latency = latency || s.Clat.Mean > 0 && !e.total
		}
		percentiles = percentiles && e.option("clat_percentiles") != "0"
		msec = msec || milliseconds(e.option("log_hist_msec")) > 0
	}
	switch {
	case len(p.averages) > 0:
		return "its logs are averages (log_avg_msec), which have no percentiles: " + options +
			", or without log_avg_msec"
	case !latency:
		return "completion latencies are disabled (disable_clat, disable_lat or gtod_reduce): run fio without " +
			"that option, and with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	case !percentiles:
		return "clat_percentiles=0 leaves the rows out of histogram logs: run fio without it"
	case !hist && len(p.run.Logs) > 0:
		return "none of its histogram logs can be used, as the warnings say: keep fio's logs as they are, or " + options
	case hist && !msec:
		return "log_hist_msec is not set, so that the histogram logs are empty: " + options
	case hist:
		return "its histogram logs have no rows: they were cut, or the run took less than an interval: keep them " +
			"whole, or set --log_hist_msec to less"
	}
	return "no histogram logs and no logs of single completions: " + options
}
