package pipeline

import (
	"fmt"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// covered is an entry of fio's output with what was read of its jobs.
type covered struct {
	*entry
	tallies []*tally // of its jobs
}

// latest is the latest report of the entry: while fio runs there are later ones.
func (c covered) latest() *fiolog.Job {
	for _, t := range c.tallies {
		if t.reports != nil && t.reports.last != nil {
			return t.reports.last
		}
	}
	return c.Job
}

// logged is the sum of the rows of one direction, which must not be changed.
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

// isTorn reports whether rows in the middle are missing, and not only at the end.
func (c covered) isTorn() bool {
	for _, t := range c.tallies {
		if t.damaged && !t.cut {
			return true
		}
	}
	return false
}

// miss counts requests in no window.
func (c covered) miss(d fiolog.Direction, n int64) { c.tallies[0].directions[d].missing += n }

// whole is the histogram of one direction over the whole run: from the report if it has the bins of all
// requests, else from the rows of the logs.
func (c covered) whole(d fiolog.Direction) *hist.Histogram {
	if c.mixed {
		return c.mixedWhole(d)
	}
	stats := &c.latest().Directions[d]
	if _, ok := c.failed(stats); ok && len(stats.Clat.Bins) > 0 {
		return c.histogram(stats)
	}
	return c.logged(d)
}

// mixedWhole is a direction of a report that has all in one: its rows, and its share of the
// other requests of the report.
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
	if c.mixed && c.Mixed.TotalIOs > 0 {
		share := c.mixedWhole(d).Total() / float64(c.Mixed.TotalIOs)
		bytes += int64(float64(c.Mixed.IOBytes) * share)
		rates.IOPS += share * c.Mixed.IOPS
		rates.Bandwidth += share * float64(c.Mixed.BandwidthBytes)
	}
	return bytes, rates
}

func (c covered) describeOf(d fiolog.Direction) string { return fmt.Sprintf("%s: %s", c.describe(), d) }
