package pipeline

import (
	"fmt"
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// covered is an entry of fio's output together with the tallies of its jobs.
type covered struct {
	*plan.Entry
	tallies []*tally // of its jobs
}

// latest returns the latest report of the entry. While fio runs, newer reports follow.
func (c covered) latest() *fiolog.Job {
	for _, t := range c.tallies {
		if t.reports != nil && t.reports.last != nil {
			return t.reports.last
		}
	}
	return c.Job
}

// logged returns the sum of the rows of one direction. The caller must not change it.
func (c covered) logged(d fiolog.Direction) *hist.Histogram {
	if len(c.tallies) == 1 {
		return &c.tallies[0].directions[d].sum
	}
	sum := &hist.Histogram{}
	for _, t := range c.tallies {
		sum.Merge(&t.directions[d].sum)
	}
	return sum
}

// loggedAll returns the sum of the rows of all directions, and the number of requests of each direction.
func (c covered) loggedAll() (all *hist.Histogram, requests [fiolog.Directions]float64) {
	all = &hist.Histogram{}
	for d := range fiolog.Direction(fiolog.Directions) {
		h := c.logged(d)
		requests[d] = h.Total()
		all.Merge(h)
	}
	return all, requests
}

func (c covered) requests(d fiolog.Direction) (sum float64) {
	for _, t := range c.tallies {
		sum += float64(t.directions[d].requests)
	}
	return sum
}

// last returns the end of the last row, in milliseconds since the start of the entry.
func (c covered) last() (last int64) {
	for _, t := range c.tallies {
		last = max(last, t.last)
	}
	return last
}

// interval returns the longest interval of the jobs' rows in milliseconds, or 0 if unknown.
func (c covered) interval() (longest int64) {
	for _, j := range c.Jobs {
		longest = max(longest, j.Interval)
	}
	return longest
}

// isTorn reports whether rows are missing in the middle of a log.
func (c covered) isTorn() bool {
	for _, t := range c.tallies {
		if t.damaged && !t.cut {
			return true
		}
	}
	return false
}

// miss counts n requests of a direction as missing: they are in no window.
func (c covered) miss(d fiolog.Direction, n int64) { c.tallies[0].directions[d].missing += n }

// whole returns the histogram of one direction over the whole run: from the report if it has the bins of all requests,
// otherwise from the rows of the logs.
func (c covered) whole(d fiolog.Direction) *hist.Histogram {
	if c.IsMixed {
		return c.mixedWhole(d)
	}
	stats := &c.latest().Directions[d]
	if _, ok := c.Failed(stats); (ok || c.isTornReport(d)) && len(stats.Clat.Bins) > 0 && !c.isOutrun(d) {
		return c.Histogram(stats)
	}
	return c.logged(d)
}

// isTornReport reports whether a direction without rows has more or fewer requests in its bins than the report counts.
// fio reads both while requests complete. So the last report of a fio that was killed may have this.
func (c covered) isTornReport(d fiolog.Direction) bool {
	stats := &c.latest().Directions[d]
	_, ok := c.Failed(stats)
	difference := math.Abs(float64(stats.TotalIOs) - c.Histogram(stats).Total())
	return !ok && !c.IsMixed && c.logged(d).IsEmpty() && difference <= 2+float64(stats.TotalIOs)/100
}

// unbinned returns the number of requests of a direction that its report counts and that are in no bin, neither of the
// report nor of the logs: all of a report without bins less the rows. If bins and total of a damaged report differ, the
// rows count.
func (c covered) unbinned(d fiolog.Direction) int64 {
	stats := &c.latest().Directions[d]
	if _, ok := c.Failed(stats); c.IsMixed || c.isOutrun(d) || !ok && !c.logged(d).IsEmpty() {
		return 0
	}
	return max(c.Measured(stats)-int64(c.whole(d).Total()), 0)
}

// isOutrun reports whether the logs of a direction are longer than its report. This has two causes: fio was killed and
// its jobs still wrote complete logs, or the disk of the report was full.
func (c covered) isOutrun(d fiolog.Direction) bool {
	const same = 10 // milliseconds by which the clocks of logs and reports may differ
	if c.latest().Directions[d].Uncounted {
		return false
	}
	return !c.IsMixed && !c.Several && c.Ran > 0 && c.last() > c.Ran+same && int64(c.requests(d)) > c.Measured(&c.latest().Directions[d])
}

// mixedWhole returns the histogram of one direction if the report has all directions in one. It is the sum of the rows
// of the direction and its share of the requests that are in no row.
func (c covered) mixedWhole(d fiolog.Direction) *hist.Histogram {
	logged := c.logged(d)
	all, shares := c.loggedAll()
	if all.IsEmpty() || len(c.Mixed.Clat.Bins) == 0 {
		return logged
	}
	rest := inLayoutOf(c.Histogram(c.Mixed), all)
	if !rest.Subtract(all) {
		return logged
	}
	whole := shareOut(rest, shares)[d]
	whole.Merge(logged)
	return whole
}

// reported returns what the report counts for one direction: bytes, requests and bytes per second. If the report has
// all directions in one, it returns the share of the direction.
func (c covered) reported(d fiolog.Direction) (bytes int64, rates mapping.Sums) {
	own := &c.latest().Directions[d]
	bytes, rates = int64(own.IOBytes), mapping.Sums{IOPS: own.IOPS, Bandwidth: float64(own.BandwidthBytes)}
	if n := own.TotalIOs; n > 0 && c.isOutrun(d) { // requests after the report have the same size as those before
		bytes = int64(float64(bytes) * c.requests(d) / float64(n))
	}
	if c.IsMixed && c.Mixed.TotalIOs > 0 {
		share := c.mixedWhole(d).Total() / float64(c.Mixed.TotalIOs)
		bytes += int64(float64(c.Mixed.IOBytes) * share)
		rates.IOPS += share * c.Mixed.IOPS
		rates.Bandwidth += share * float64(c.Mixed.BandwidthBytes)
	}
	return bytes, rates
}

func (c covered) describeOf(d fiolog.Direction) string { return fmt.Sprintf("%s: %s", c.Describe(), d) }
