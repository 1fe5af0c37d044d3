package pipeline

import (
	"fmt"
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// covered is an entry of fio's output with what was read of its jobs.
type covered struct {
	*entry
	tallies []*tally // of its jobs
}

// latest returns the latest report of the entry. While fio runs, later ones come.
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

// loggedAll is the sum of the rows of all directions, and how many requests each direction has in
// it.
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

// last is the end of the last row, in milliseconds since the entry's start.
func (c covered) last() (last int64) {
	for _, t := range c.tallies {
		last = max(last, t.last)
	}
	return last
}

// interval is the longest interval of the jobs' rows in milliseconds; 0 if it is unknown.
func (c covered) interval() (longest int64) {
	for _, j := range c.jobs {
		longest = max(longest, j.interval)
	}
	return longest
}

// isTorn reports whether rows are missing in the middle of a log, and not only at its end.
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
	if c.mixed {
		return c.mixedWhole(d)
	}
	stats := &c.latest().Directions[d]
	if _, ok := c.failed(stats); (ok || c.isTornReport(d)) && len(stats.Clat.Bins) > 0 && !c.isOutrun(d) {
		return c.histogram(stats)
	}
	return c.logged(d)
}

// isTornReport reports whether the bins of a direction without rows have some requests more or fewer than the report
// counts: fio reads both while requests complete, so that happens in the last report of a fio that was killed.
func (c covered) isTornReport(d fiolog.Direction) bool {
	stats := &c.latest().Directions[d]
	_, ok := c.failed(stats)
	difference := math.Abs(float64(stats.TotalIOs) - c.histogram(stats).Total())
	return !ok && !c.mixed && c.logged(d).IsEmpty() && difference <= 2+float64(stats.TotalIOs)/100
}

// unbinned returns the requests of a direction that has no rows, if its report counts them and has no bins of them.
func (c covered) unbinned(d fiolog.Direction) int64 {
	stats := &c.latest().Directions[d]
	if _, ok := c.failed(stats); ok || c.mixed || !c.logged(d).IsEmpty() {
		return 0
	}
	return max(int64(stats.TotalIOs)-int64(c.whole(d).Total()), 0)
}

// isOutrun reports whether the logs of a direction are longer than its report: fio was killed, and its jobs ran until their
// end and wrote their logs; or its disk was full.
func (c covered) isOutrun(d fiolog.Direction) bool {
	const same = 10 // milliseconds by which the clocks of logs and reports may differ
	return !c.mixed && !c.several && c.ran > 0 && c.last() > c.ran+same && int64(c.requests(d)) > c.measured(&c.latest().Directions[d])
}

// mixedWhole returns the histogram of one direction if the report has all directions in one: the rows of the direction,
// and its share of the requests that are in no row.
func (c covered) mixedWhole(d fiolog.Direction) *hist.Histogram {
	logged := c.logged(d)
	all, shares := c.loggedAll()
	if all.IsEmpty() || len(c.Mixed.Clat.Bins) == 0 {
		return logged
	}
	rest := inLayoutOf(c.histogram(c.Mixed), all)
	if !rest.Subtract(all) {
		return logged
	}
	whole := shareOut(rest, shares)[d]
	whole.Merge(logged)
	return whole
}

// reported returns what the report counts for one direction: bytes, requests and bytes a second. If the report has all
// directions in one, it returns the share of the direction.
func (c covered) reported(d fiolog.Direction) (bytes int64, rates mapping.Sums) {
	own := &c.latest().Directions[d]
	bytes, rates = int64(own.IOBytes), mapping.Sums{IOPS: own.IOPS, Bandwidth: float64(own.BandwidthBytes)}
	if n := own.TotalIOs; n > 0 && c.isOutrun(d) { // the requests after the report are as large as those before
		bytes = int64(float64(bytes) * c.requests(d) / float64(n))
	}
	if c.mixed && c.Mixed.TotalIOs > 0 {
		share := c.mixedWhole(d).Total() / float64(c.Mixed.TotalIOs)
		bytes += int64(float64(c.Mixed.IOBytes) * share)
		rates.IOPS += share * c.Mixed.IOPS
		rates.Bandwidth += share * float64(c.Mixed.BandwidthBytes)
	}
	return bytes, rates
}

func (c covered) describeOf(d fiolog.Direction) string { return fmt.Sprintf("%s: %s", c.describe(), d) }
