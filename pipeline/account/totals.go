package account

import (
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// sums are what totals are made of: those of one direction, or of all together.
type sums struct {
	bins        *hist.Histogram          // of all requests; read only
	unbinned    int64                    // more requests
	reported    []*fiolog.DirectionStats // of entries that served requests
	isMore      bool                     // there are requests beside those of the reports, or these lack some
	lacksReport bool                     // a job that served requests has no report: bytes and rates of the others would be too low
	bytes       int64
	rates       mapping.Sums                     // of the jobs
	uncounted   float64                          // requests of reports that only have a rate
	means       [3]struct{ sum, weight float64 } // of fio, by requests: slat, clat, lat
}

// totalsOf returns the totals of each direction and of all together of some jobs: the sums of their entries in fio's reports,
// and of the rows of jobs without an entry. Without any entry, they are the sums of the windows, which are of all jobs.
func (r *Read) totalsOf(entries []*Entry, jobs []*plan.Job) (all *mapping.Totals, by [fiolog.Directions]*mapping.Totals) {
	if len(entries) == 0 && len(r.Plan.Averages) > 0 {
		return r.averagedOfAll(), r.Averaged
	}
	whole := &sums{bins: &hist.Histogram{}}
	for d := range fiolog.Direction(fiolog.Directions) {
		s := r.sumsOf(d, entries, jobs)
		whole.isMore, whole.lacksReport, whole.reported = whole.isMore || s.isMore, whole.lacksReport || s.lacksReport, append(whole.reported, s.reported...)
		t := s.totals()
		if s.bins.IsEmpty() { // a report without bins has only requests and means
			if t.Requests == 0 && s.uncounted == 0 {
				continue
			}
			t.Latency.Mean = t.Means.Clat
		}
		first, last := r.timesOf(d, jobs)
		setRates(t, jobs, last-first, s.uncounted)
		by[d] = t
		whole.add(&sums{bins: s.bins, unbinned: s.unbinned, uncounted: s.uncounted, bytes: t.Bytes, rates: t.Sums})
	}
	for _, a := range entries {
		for _, part := range a.of.Parts() {
			if part.Mixed != nil {
				whole.reported = append(whole.reported, part.Mixed)
			}
		}
		if mixed := a.of.Mixed; mixed != nil && a.all.IsEmpty() { // nothing shows how its requests divide into directions
			bins := a.of.Histogram(mixed).Coarser(r.Coarseness)
			whole.add(&sums{
				bins: bins, unbinned: max(a.of.Measured(mixed)-int64(bins.Total()), 0), uncounted: uncountedOf(mixed),
				bytes: int64(mixed.IOBytes), rates: mapping.Sums{IOPS: mixed.IOPS, Bandwidth: float64(mixed.BandwidthBytes)},
			})
		}
	}
	if all = whole.totals(); all.Requests == 0 && whole.uncounted == 0 {
		return nil, by
	}
	if whole.bins.IsEmpty() && all.Fio != nil {
		all.Latency.Mean = all.Fio.Mean
	}
	first, last := int64(math.MaxInt64), int64(0)
	for _, j := range jobs {
		first, last = min(first, j.Offset), max(last, r.EndOf(j))
	}
	setRates(all, jobs, last-first, whole.uncounted)
	return all, by
}

// averagedOfAll returns the totals of all directions by averages, or nil if no rate is known.
func (r *Read) averagedOfAll() *mapping.Totals {
	all := &mapping.Totals{}
	for _, t := range r.Averaged {
		if t != nil {
			all.IOPS, all.Bandwidth, all.DurationMS = all.IOPS+t.IOPS, all.Bandwidth+t.Bandwidth, max(all.DurationMS, t.DurationMS)
		}
	}
	if all.IOPS+all.Bandwidth == 0 {
		return nil
	}
	return all
}

// sumsOf adds one direction up.
func (r *Read) sumsOf(d fiolog.Direction, entries []*Entry, jobs []*plan.Job) *sums {
	s := &sums{bins: &hist.Histogram{}}
	for _, a := range entries {
		of := &a.directions[d]
		s.add(&sums{bins: of.whole, unbinned: of.unbinned, uncounted: uncountedOf(of.stats), bytes: of.bytes, rates: of.rates})
		s.isMore = s.isMore || of.isOutrun || !of.isSound || int64(of.requests) > of.measured
		for i, l := range []*fiolog.Latency{&of.stats.Slat, &of.stats.Clat, &of.stats.Lat} {
			if weight := float64(of.stats.TotalIOs) + uncountedOf(of.stats); l.Mean > 0 {
				s.means[i].sum += l.Mean * weight
				s.means[i].weight += weight
			}
		}
		for _, part := range a.of.Parts() {
			if stats := &part.Directions[d]; stats.Served() {
				s.reported = append(s.reported, stats)
			}
		}
	}
	for _, j := range jobs {
		if rows := &r.Counts[j].Directions[d]; j.Entry == nil {
			s.bins.Merge(&rows.Sum)
			s.lacksReport = s.lacksReport || rows.Requests > 0
		}
	}
	if len(entries) == 0 {
		s.bins = &r.Windowed[d]
	}
	s.bins, s.isMore = s.bins.Coarser(r.Coarseness), s.isMore || s.lacksReport
	return s
}

// add adds the requests, bytes and rates of others.
func (s *sums) add(o *sums) {
	s.bins.Merge(o.bins)
	s.unbinned, s.uncounted, s.bytes = s.unbinned+o.unbinned, s.uncounted+o.uncounted, s.bytes+o.bytes
	s.rates.IOPS, s.rates.Bandwidth = s.rates.IOPS+o.rates.IOPS, s.rates.Bandwidth+o.rates.Bandwidth
}

// totals returns totals without those that depend on a time. Latencies come from the bins of requests, and from what fio computed
// of the same requests, which is exact.
func (s *sums) totals() *mapping.Totals {
	t := &mapping.Totals{
		Requests: int64(s.bins.Total()) + s.unbinned, Latency: mapping.NewLatency(s.bins, nil), Bytes: s.bytes,
		Sums: mapping.Sums{IOPS: mapping.Rounded(s.rates.IOPS, 1e3), Bandwidth: mapping.Rounded(s.rates.Bandwidth, 1)},
	}
	if s.lacksReport {
		t.Bytes, t.Sums = 0, mapping.Sums{}
	}
	for i, to := range []*float64{&t.Means.Slat, &t.Means.Clat, &t.Means.Lat} {
		if m := s.means[i]; m.weight > 0 {
			*to = mapping.Rounded(m.sum/m.weight/1000, 1000)
		}
	}
	isBinned, fio := !s.bins.IsEmpty(), FioLatency(s.reported)
	if fio != nil && !s.isMore && isBinned {
		t.Latency.SetExact(fio)
	}
	if s.unbinned > 0 || !isBinned {
		t.Fio = fio
	}
	if t.SetUnbinned(s.unbinned, s.bins); !isBinned && fio != nil && len(fio.Percentiles) == 0 && !s.isMore {
		t.Bounds = boundsOf(s.reported)
	}
	return t
}

// setRates sets the rates of totals over the time that some jobs took.
func setRates(t *mapping.Totals, jobs []*plan.Job, took int64, uncounted float64) {
	if len(jobs) == 0 || slices.ContainsFunc(jobs, (*plan.Job).HasLength) {
		t.DurationMS = max(took, 0)
	}
	requests := float64(t.Requests)
	if requests == 0 { // unknown
		requests = uncounted
	}
	t.IOPS = mapping.Rounded(PerSecond(requests, t.DurationMS), 1e3)
	t.Bandwidth = mapping.Rounded(PerSecond(float64(t.Bytes), t.DurationMS), 1)
}

// timesOf returns when the first of some jobs began to serve a direction, or to sync, and when the last one ended, in milliseconds
// since the start of the run.
func (r *Read) timesOf(d fiolog.Direction, jobs []*plan.Job) (first, last int64) {
	first = math.MaxInt64
	for _, j := range jobs {
		e, start, end, rows := j.Entry, j.Offset, r.EndOf(j), &r.Counts[j].Directions[d]
		hasRows := func(j *plan.Job) bool { return r.Counts[j].Directions[d].Requests > 0 }
		switch {
		case !j.Serves(d):
			continue
		case d == fiolog.Sync || e == nil:
		case rows.Requests == 0 && (e.Mixed != nil || e.Several || slices.ContainsFunc(r.Plan.JobsOf[e], hasRows)): // another job of its entry serves the direction
			continue
		case e.Several: // only the rows show when each ran, up to the last part of an interval
			unlogged := end - j.Offset - r.Counts[j].Until
			start, end = j.Offset+rows.Start, j.Offset+rows.End+unlogged
		default:
			end = min(end, j.Offset+max(r.ServedFor(j, d), rows.End))
		}
		first, last = min(first, start), max(last, end)
	}
	return first, last
}

// syncsOf returns the totals of the syncs of some jobs, or nil without any. Only reports have them. They have no IOPS: fio
// counts them apart from the requests that they follow.
func (r *Read) syncsOf(entries []*Entry, jobs []*plan.Job) *mapping.Totals {
	s := &sums{bins: &hist.Histogram{}}
	for _, a := range entries {
		for _, part := range a.of.Parts() {
			if of := &r.Report(part).Sync; of.Served() {
				bins := part.Histogram(of)
				s.add(&sums{bins: bins, unbinned: max(int64(of.TotalIOs)-int64(bins.Total()), 0)})
				s.reported, s.isMore = append(s.reported, of), s.isMore || of.Uncounted
			}
		}
	}
	if len(s.reported) == 0 {
		return nil
	}
	s.bins = s.bins.Coarser(r.Coarseness)
	t := s.totals()
	switch {
	case s.isMore: // those of some jobs do not stand for all
		t = &mapping.Totals{Fio: FioLatency(s.reported)}
		if len(s.reported) > 1 && t.Fio != nil { // each counts as many as it has
			t.Fio.Mean, t.Fio.StdDev, t.Bounds = 0, 0, boundsOf(s.reported)
		}
	case s.bins.IsEmpty() && t.Fio != nil:
		t.Latency.Mean = t.Fio.Mean
	}
	first, last := r.timesOf(fiolog.Sync, jobs)
	t.DurationMS = max(last-first, 0)
	return t
}
