package account

import (
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Entry is the account of an entry of a report: what the logs of its jobs have beside what the report says. It is complete
// when all rows of the entry were read; while fio runs it is of the rows and reports so far.
type Entry struct {
	Tail    []align.Row              // what fio did not log, in milliseconds since the start of the first job
	Missing [fiolog.Directions]int64 // requests in no window
	Remarks assign.Remarks

	of         *assign.Entry
	report     *fiolog.Job
	last       int64           // end of the last row, since the start of the entry
	isTorn     bool            // rows are missing in the middle of a log
	all        *hist.Histogram // rows of all directions, if the report has all directions in one (unified_rw_reporting)
	directions [fiolog.Directions]direction
}

// direction is the account of one direction of an entry.
type direction struct {
	stats    *fiolog.DirectionStats // of the report
	logged   *hist.Histogram        // sum of the rows; read only
	requests float64                // in the rows
	measured int64                  // requests of the report that have a latency
	isSound  bool                   // the bins of the report have as many requests as were measured

	// isOutrun means that the logs are longer than the report. This has two causes: fio was killed and its jobs still wrote
	// complete logs, or the disk of the report was full.
	isOutrun bool
	// isKilled means that there are no rows, and that the bins of the report have some more or fewer requests than it counts.
	// fio reads both while requests complete. So the last report of a fio that was killed may have this.
	isKilled bool

	whole    *hist.Histogram // bins of all requests: of the report if it has them, otherwise of the rows; read only
	unbinned int64           // requests that the report counts and that are in no bin, neither of the report nor of the rows
	bytes    int64           // by the report
	rates    mapping.Sums    // by the report

	// rest is the share in what the report has beyond the rows, if it has all directions in one; nil if that is unknown.
	rest *hist.Histogram
}

// addRows adds the rows of all jobs of the entry up, and what the report says of their direction.
func (a *Entry) addRows(r *Read, d int) {
	of, stats := &a.directions[d], &a.report.Directions[d]
	jobs := r.Plan.JobsOf[a.of]
	of.stats, of.logged = stats, &r.Counts[jobs[0]].Directions[d].Sum
	if len(jobs) > 1 {
		of.logged = &hist.Histogram{}
	}
	for _, j := range jobs {
		rows := &r.Counts[j].Directions[d]
		of.requests += float64(rows.Requests)
		if len(jobs) > 1 {
			of.logged.Merge(&rows.Sum)
		}
	}
	of.whole, of.measured = of.logged, a.of.Measured(stats)
	_, of.isSound = a.of.Failed(stats)
	of.bytes, of.rates = int64(stats.IOBytes), mapping.Sums{IOPS: stats.IOPS, Bandwidth: float64(stats.BandwidthBytes)}
}

// compare decides which of rows and report have all requests of a direction.
func (of *direction) compare(a *Entry) {
	const same = 10 // milliseconds by which the clocks of logs and reports may differ
	e, stats := a.of, of.stats
	of.isOutrun = !stats.Uncounted && !e.Several && e.Ran > 0 && a.last > e.Ran+same && int64(of.requests) > of.measured+e.InFlight()
	bins := e.Histogram(stats)
	apart := math.Abs(float64(stats.TotalIOs) - bins.Total())
	of.isKilled = !of.isSound && of.logged.IsEmpty() && apart <= 2+float64(stats.TotalIOs)/100
	if (of.isSound || of.isKilled) && len(stats.Clat.Bins) > 0 && !of.isOutrun {
		of.whole = bins
	}
	if !of.isOutrun && (of.isSound || of.logged.IsEmpty()) { // if bins and total of a damaged report differ, the rows count
		of.unbinned = max(of.measured-int64(of.whole.Total()), 0)
	}
	if n := stats.TotalIOs; n > 0 && of.isOutrun { // requests after the report have the same size as those before
		of.bytes = int64(float64(of.bytes) * of.requests / float64(n))
	}
}

// divide divides what a report has of all directions in one. Only the rows have directions. The requests that are in no row
// are divided in proportion to them.
func (a *Entry) divide() {
	mixed := a.of.Mixed
	var shares [fiolog.Directions]float64
	for d := range a.directions {
		logged := a.directions[d].logged
		a.all.Merge(logged)
		shares[d] = logged.Total()
	}
	if !a.all.IsEmpty() && len(mixed.Clat.Bins) > 0 {
		if rest := inLayoutOf(a.of.Histogram(mixed), a.all); rest.Subtract(a.all) {
			for d, part := range shareOut(rest, shares[:]) {
				a.directions[d].rest, a.directions[d].whole = part, part.Clone()
				a.directions[d].whole.Merge(a.directions[d].logged)
			}
		}
	}
	for d := range a.directions {
		if of, n := &a.directions[d], mixed.TotalIOs; n > 0 {
			share := of.whole.Total() / float64(n)
			of.bytes += int64(float64(mixed.IOBytes) * share)
			of.rates.IOPS += share * mixed.IOPS
			of.rates.Bandwidth += share * float64(mixed.BandwidthBytes)
		}
	}
}

// inLayoutOf returns h in the layout merged with that of other. If h has this layout or other is empty, it returns h.
func inLayoutOf(h, other *hist.Histogram) *hist.Histogram {
	if l := other.Layout().Merged(h.Layout()); l != h.Layout() && !other.IsEmpty() {
		return h.To(l)
	}
	return h
}

// shareOut divides the requests of each bin in proportion to shares, into whole requests.
// Rounding errors cancel out over the bins.
func shareOut(rest *hist.Histogram, shares []float64) (parts []*hist.Histogram) {
	sum := 0.0
	for _, share := range shares {
		parts = append(parts, hist.New(rest.Layout()))
		sum += share
	}
	due, given := make([]float64, len(shares)), make([]float64, len(shares))
	for i, n := range rest.All() {
		left := n
		for d := range shares {
			due[d] += n * shares[d] / sum
			part := math.Min(math.Max(math.Round(due[d])-given[d], 0), left)
			if d == len(shares)-1 {
				part = left
			}
			parts[d].AddAt(i, part)
			given[d] += part
			left -= part
		}
	}
	return parts
}

// addMissing counts the requests of an entry none of whose jobs has rows: they are in no window. A report alone is
// complete, unless logs are here and lack the rows that the entry was to write.
func (a *Entry) addMissing(isAlone, hasLogs bool) {
	isMissing := !isAlone || a.of.WantsRows() && hasLogs
	for d := range a.directions {
		of := &a.directions[d]
		if isMissing {
			a.Missing[d] += of.measured
		}
		if !of.isSound && of.unbinned > 0 || of.isKilled {
			a.Remarks.Skip("%w", a.of.Miscounted(of.stats, of.isKilled))
		}
	}
	if a.of.Mixed != nil && isMissing {
		a.Missing[fiolog.Read] += int64(a.of.Mixed.TotalIOs)
	}
}
