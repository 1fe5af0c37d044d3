package pipeline

import (
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// summary returns the run's document, made of what was read so far.
func (r *reading) summary(ref mapping.RunRef) *mapping.Run {
	lost := r.problems.Skipped()
	recovered, byDirection := r.unlogged()
	missing := byDirection[0] + byDirection[1] + byDirection[2]
	run := &mapping.Run{
		Run: mapping.RunInfo{
			ID: ref.ID, Name: ref.Name, Archive: ref.Archive, Path: r.run.Path, Start: ref.Start, End: r.at(r.end()),
			Ingest: ref.Ingest, Labels: ref.Labels, Complete: len(lost) == 0 && missing == 0,
		},
		CBT: r.cbt, Config: r.config,
		Fio:        r.fio(),
		Hosts:      r.hosts(),
		Clock:      mapping.Clock{Source: r.clock.String(), ErrorMS: r.error.Milliseconds()},
		Weighting:  r.opt.Weighting.String(),
		IntervalMS: r.window,
		Levels:     r.opt.levels(),
		Placed:     r.placed,
		Recovered:  mapping.Lost{Requests: recovered},
		Missing:    mapping.Lost{Requests: missing},
		Documents:  r.made,
		Program:    mapping.Program{Version: r.opt.Program},
	}
	if r.made == (mapping.Documents{}) || len(r.averages) > 0 {
		run.NoWindows = r.whyNoWindows()
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
	for _, e := range r.entries {
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
	r.rate(out, func(j *job) (start, end int64, ok bool) {
		of := &r.tallies[j].directions[d]
		switch {
		case !j.serves(d) || j.entry != nil && j.entry.mixed && of.requests == 0:
			return 0, 0, false
		case j.entry != nil && j.entry.several: // only the rows show when each ran, up to the last part of an interval
			unlogged := r.endOf(j) - j.offset - r.tallies[j].last
			return j.offset + of.start, j.offset + of.end + unlogged, of.requests > 0
		}
		return j.offset, r.endOf(j), true
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
	return slices.ContainsFunc(r.jobs, func(j *job) bool { return j.entry == nil && r.tallies[j].directions[d].requests > 0 })
}

// allTotals completes the totals of all directions together, which have the histogram all; nil if
// there are none.
func (r *reading) allTotals(all *hist.Histogram, total *mapping.Totals) *mapping.Totals {
	for _, e := range r.entries { // of unknown directions
		if logged, _ := r.of(e).loggedAll(); e.mixed && logged.IsEmpty() {
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
	if r.lacksReport(fiolog.Read) || r.lacksReport(fiolog.Write) || r.lacksReport(fiolog.Trim) {
		total.Bytes, total.Sums = 0, mapping.Sums{}
	}
	total.Latency = mapping.NewLatency(all, nil)
	r.rate(total, func(j *job) (start, end int64, ok bool) { return j.offset, r.endOf(j), true })
	total.Sums.IOPS = rounded(total.Sums.IOPS, 1e3)
	return total
}

// rate sets the time from the first start of some jobs to the last end, and the rates over that.
func (r *reading) rate(t *mapping.Totals, of func(*job) (start, end int64, ok bool)) {
	first, last, some := int64(0), int64(0), false
	for _, j := range r.jobs {
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
func (r *reading) endOf(j *job) int64 { return j.offset + max(j.ran, r.tallies[j].end()) }

// end returns when the last job ended, in milliseconds after the start of the run.
func (r *reading) end() (end int64) {
	for _, j := range r.jobs {
		end = max(end, r.endOf(j))
	}
	return end
}

// whole returns the histogram of one direction over the whole run. It adds up its entries and the jobs without an
// entry. Without any entry it is the sum of the windows.
func (r *reading) whole(d fiolog.Direction) *hist.Histogram {
	if len(r.entries) == 0 {
		return &r.windowed[d]
	}
	all := &hist.Histogram{}
	for _, e := range r.entries {
		all.Merge(r.of(e).whole(d))
	}
	for _, j := range r.jobs {
		if j.entry == nil {
			all.Merge(&r.tallies[j].directions[d].sum)
		}
	}
	return all
}

// means returns fio's mean latencies over all requests of all jobs.
func (r *reading) means(d fiolog.Direction) mapping.Means {
	mean := func(of func(*fiolog.DirectionStats) *fiolog.Latency) float64 {
		sum, n := 0.0, 0.0
		for _, e := range r.entries {
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

// reference returns the fields of the run for its interval documents, without its id and version.
func (p *input) reference() mapping.RunRef {
	return mapping.RunRef{
		Name: p.run.Name(), Archive: p.opt.ArchiveOf(p.run), Start: p.start, Labels: labelsOf(nil, p.opt.Labels),
	}
}
