package pipeline

import (
	"errors"
	"fmt"
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// tally counts what was read of one job, row by row. All results are made from the tallies of all jobs after the last
// row. It is not safe for concurrent use.
type tally struct {
	directions [fiolog.Directions]counted
	interval   int64 // of the rows, in milliseconds
	last       int64 // end of the last row, in milliseconds since the job's start
	damaged    bool  // rows were skipped
	cut        bool  // the log ends too early
	ended      bool  // all rows were read
	split      *align.Splitter
	raw        *rawFill   // of a job with a log of completions; else nil
	reports    *reportJob // of a job with periodic reports; else nil
}

// counted is one direction of a job.
type counted struct {
	sum        hist.Histogram // of all rows, if the run has a report
	requests   uint64
	most       uint64 // in a row as long as the interval
	least      uint64 // the same
	start, end int64  // of the first row and of the last, in milliseconds since the job's start

	// Of all jobs of an entry together; its first job has them.
	recovered int64 // requests that fio did not log, in a tail
	missing   int64 // requests in no window
}

// end is when the job ended by its rows, in milliseconds since its start.
func (t *tally) end() int64 {
	switch {
	case t.raw != nil && t.raw.last > 0:
		return t.raw.last
	case t.reports != nil:
		return max(t.last, t.reports.active)
	}
	return t.last
}

// damage records an error, in the middle of a log or at its end.
func (t *tally) damage(err error) {
	if isRepeated(err) {
		return
	}
	t.damaged = true
	var bad *fiolog.SyntaxError
	switch {
	case errors.As(err, &bad):
		t.cut = t.cut || bad.Partial
	case !errors.As(err, new(rowError)):
		t.cut = true
	}
}

func (t *tally) add(row *align.Row, sums bool) {
	c := &t.directions[row.Direction]
	if c.requests == 0 {
		c.start, c.end = row.Start, row.End
	}
	c.start, c.end = min(c.start, row.Start), max(c.end, row.End)
	c.requests += row.Total
	if row.End-row.Start >= t.interval-t.interval/10 {
		if c.most == 0 {
			c.least = row.Total
		}
		c.most, c.least = max(c.most, row.Total), min(c.least, row.Total)
	}
	t.last = max(t.last, row.End)
	if sums {
		c.sum.AddBins(row.Layout, row.Bins)
	}
}

// of is an entry with what was read of it so far.
func (r *reading) of(e *plan.Entry) covered {
	c := covered{Entry: e}
	for _, j := range e.Jobs {
		c.tallies = append(c.tallies, r.tallies[j])
	}
	return c
}

// tail returns the rows of an entry that fio did not log. The caller must have read all rows of its logs.
func (r *reading) tail(e *plan.Entry) []align.Row { return tail{r.of(e), r.totals, r.problems}.rows() }

// unlogged returns how many of the requests that fio did not log are in windows, and how many of each direction are in
// none.
func (r *reading) unlogged() (recovered int64, missing [fiolog.Directions]int64) {
	for _, t := range r.tallies {
		for d := range t.directions {
			recovered += t.directions[d].recovered
			missing[d] += t.directions[d].missing
		}
	}
	return recovered, missing
}

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
