package pipeline

import (
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// summary returns the run's document, made of what was read so far.
func (r *reading) summary(ref mapping.RunRef) *mapping.Run {
	lost := r.problems.Skipped()
	recovered, byDirection := r.unlogged()
	missing := byDirection[0] + byDirection[1] + byDirection[2]
	run := &mapping.Run{
		Run: mapping.RunInfo{
			ID: ref.ID, Name: ref.Name, Archive: ref.Archive, Path: r.Run.Path, Start: ref.Start, End: r.At(r.end()),
			Ingest: ref.Ingest, Labels: ref.Labels, Complete: len(lost) == 0 && missing == 0,
		},
		CBT: r.cbt, Config: r.Config,
		Fio:        r.fio(),
		Hosts:      r.Hosts(),
		Clock:      mapping.Clock{Source: r.Clock.String(), ErrorMS: r.Error.Milliseconds()},
		Weighting:  r.opt.Weighting.String(),
		IntervalMS: r.Window,
		Levels:     r.opt.levels(),
		Placed:     r.Placed,
		Recovered:  mapping.Lost{Requests: recovered},
		Missing:    mapping.Lost{Requests: missing},
		Documents:  r.made,
		Program:    mapping.Program{Version: r.opt.Program},
	}
	if r.made == (mapping.Documents{}) || len(r.Averages) > 0 {
		run.NoWindows = r.WhyNoWindows()
	}
	all, total := &hist.Histogram{}, &mapping.Totals{}
	for d, to := range [fiolog.Directions]**mapping.Totals{&run.Read, &run.Write, &run.Trim} {
		h := r.whole(fiolog.Direction(d))
		if *to = r.directionTotals(fiolog.Direction(d), h); *to != nil {
			all.Merge(h)
			total.Requests += (*to).Requests
			total.Bytes += (*to).Bytes
			total.Sums.IOPS += (*to).Sums.IOPS
			total.Sums.Bandwidth += (*to).Sums.Bandwidth
		}
	}
	run.All = r.allTotals(all, total)
	for _, list := range [][]error{lost, r.problems.Notes()} {
		for _, err := range list {
			run.Warnings = append(run.Warnings, err.Error())
		}
	}
	return run
}

// directionTotals returns the totals of one direction, whose histogram is h. Rates are over the time from the start of its
// first job to the end of its last job. It returns nil if the direction has no requests.
func (r *reading) directionTotals(d fiolog.Direction, h *hist.Histogram) *mapping.Totals {
	out := &mapping.Totals{
		Requests: int64(h.Total()), Latency: mapping.NewLatency(h, nil), Means: r.means(d), Fio: r.fioLatency(d),
	}
	uncounted := 0.0
	for _, e := range r.Entries {
		of := r.of(e)
		bytes, rates := of.reported(d)
		uncounted += estimate(&of.latest().Directions[d])
		out.Requests += of.unbinned(d)
		out.Bytes += bytes
		out.Sums.IOPS += rates.IOPS
		out.Sums.Bandwidth += rates.Bandwidth
	}
	if r.lacksReport(d) {
		out.Bytes, out.Sums = 0, mapping.Sums{}
	}
	if h.IsEmpty() { // a report without bins has only requests and means
		if out.Requests == 0 && uncounted == 0 {
			return nil
		}
		out.Latency.Mean = out.Means.Clat
	}
	out.Sums = mapping.Sums{IOPS: rounded(out.Sums.IOPS, 1e3), Bandwidth: rounded(out.Sums.Bandwidth, 1)}
	r.rate(out, func(j *plan.Job) (start, end int64, ok bool) {
		of := &r.tallies[j].directions[d]
		switch {
		case !j.Serves(d) || j.Entry != nil && j.Entry.IsMixed && of.requests == 0:
			return 0, 0, false
		case j.Entry != nil && j.Entry.Several: // only the rows show when each ran, up to the last part of an interval
			unlogged := r.endOf(j) - j.Offset - r.tallies[j].last
			return j.Offset + of.start, j.Offset + of.end + unlogged, of.requests > 0
		}
		return j.Offset, r.endOf(j), true
	})
	if out.Requests == 0 { // unknown
		out.IOPS = rounded(perSecond(uncounted, out.DurationMS), 1e3)
	}
	return out
}

// estimate returns about how many requests a direction had, if the report does not say.
func estimate(s *fiolog.DirectionStats) float64 {
	if !s.Uncounted {
		return 0
	}
	return max(s.IOPS*float64(s.Runtime)/1000, 1)
}

// lacksReport reports whether a job that served requests of a direction has no report. Then the bytes of the run and
// the rates of its jobs are unknown, because those of the other jobs would be too low.
func (r *reading) lacksReport(d fiolog.Direction) bool {
	return slices.ContainsFunc(r.Jobs, func(j *plan.Job) bool { return j.Entry == nil && r.tallies[j].directions[d].requests > 0 })
}

// allTotals completes the totals of all directions together, which have the histogram all; nil if
// there are none.
func (r *reading) allTotals(all *hist.Histogram, total *mapping.Totals) *mapping.Totals {
	for _, e := range r.Entries { // of unknown directions
		if logged, _ := r.of(e).loggedAll(); e.IsMixed && logged.IsEmpty() {
			all.Merge(e.Histogram(e.Mixed))
			total.Requests += int64(e.Mixed.TotalIOs)
			total.Bytes += int64(e.Mixed.IOBytes)
			total.Sums.IOPS += e.Mixed.IOPS
			total.Sums.Bandwidth += float64(e.Mixed.BandwidthBytes)
		}
	}
	if total.Requests == 0 {
		return nil
	}
	if r.lacksReport(fiolog.Read) || r.lacksReport(fiolog.Write) || r.lacksReport(fiolog.Trim) {
		total.Bytes, total.Sums = 0, mapping.Sums{}
	}
	total.Latency = mapping.NewLatency(all, nil)
	r.rate(total, func(j *plan.Job) (start, end int64, ok bool) { return j.Offset, r.endOf(j), true })
	total.Sums.IOPS = rounded(total.Sums.IOPS, 1e3)
	return total
}

// rate sets the time from the first start of some jobs to the last end, and the rates over that.
func (r *reading) rate(t *mapping.Totals, of func(*plan.Job) (start, end int64, ok bool)) {
	first, last, some := int64(0), int64(0), false
	for _, j := range r.Jobs {
		start, end, ok := of(j)
		if !ok {
			continue
		}
		if !some || start < first {
			first = start
		}
		last, some = max(last, end), true
	}
	t.DurationMS = max(last-first, 0)
	t.IOPS = rounded(perSecond(float64(t.Requests), t.DurationMS), 1e3)
	t.Bandwidth = rounded(perSecond(float64(t.Bytes), t.DurationMS), 1)
}

// endOf returns when a job ended, in milliseconds after the start of the run.
func (r *reading) endOf(j *plan.Job) int64 { return j.Offset + max(j.Ran, r.tallies[j].end()) }

// end returns when the last job ended, in milliseconds after the start of the run.
func (r *reading) end() (end int64) {
	for _, j := range r.Jobs {
		end = max(end, r.endOf(j))
	}
	return end
}

// whole returns the histogram of one direction over the whole run. It adds up its entries and the jobs without an
// entry. Without any entry it is the sum of the windows.
func (r *reading) whole(d fiolog.Direction) *hist.Histogram {
	if len(r.Entries) == 0 {
		return &r.windowed[d]
	}
	all := &hist.Histogram{}
	for _, e := range r.Entries {
		all.Merge(r.of(e).whole(d))
	}
	for _, j := range r.Jobs {
		if j.Entry == nil {
			all.Merge(&r.tallies[j].directions[d].sum)
		}
	}
	return all
}

// means returns fio's mean latencies over all requests of all jobs.
func (r *reading) means(d fiolog.Direction) mapping.Means {
	mean := func(of func(*fiolog.DirectionStats) *fiolog.Latency) float64 {
		sum, n := 0.0, 0.0
		for _, e := range r.Entries {
			stats := &r.of(e).latest().Directions[d]
			if l := of(stats); l.Mean > 0 {
				weight := float64(stats.TotalIOs) + estimate(stats)
				sum += l.Mean * weight
				n += weight
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

func (p *input) fio() mapping.FioInfo {
	info := mapping.FioInfo{Version: p.Version(), Options: p.Options()}
	for _, j := range p.Jobs {
		info.Jobs += j.Stands()
	}
	reported := p.Entries.Reported()
	for _, e := range reported {
		info.UsrCPU += e.UsrCPU
		info.SysCPU += e.SysCPU
	}
	if n := float64(len(reported)); n > 0 {
		info.UsrCPU, info.SysCPU = rounded(info.UsrCPU/n, 100), rounded(info.SysCPU/n, 100)
	}
	return info
}

// fioLatency returns what fio itself computed, if the run is one job without bins.
func (p *input) fioLatency(d fiolog.Direction) *mapping.FioLatency {
	if len(p.Entries) != 1 || len(p.Jobs) != 1 || p.Entries[0].Size > 1 {
		return nil
	}
	l := &p.Entries[0].Directions[d].Clat
	if len(l.Bins) > 0 || len(l.Percentiles) == 0 || l.Max == 0 {
		return nil
	}
	us := func(ns float64) float64 { return rounded(ns/1000, 1000) }
	out := &mapping.FioLatency{Min: us(float64(l.Min)), Max: us(float64(l.Max)), Mean: us(l.Mean), StdDev: us(l.StdDev)}
	for _, q := range l.Percentiles {
		out.Percentiles = append(out.Percentiles, mapping.FioPercentile{Rank: q.Rank, Value: us(float64(q.Value))})
	}
	return out
}

// reference returns the fields of the run for its interval documents, without its id and version.
func (p *input) reference() mapping.RunRef {
	return mapping.RunRef{
		Name: p.Run.Name(), Archive: p.opt.ArchiveOf(p.Run), Start: p.Start, Labels: labelsOf(nil, p.opt.Labels),
	}
}
