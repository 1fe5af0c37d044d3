//go:build linux

package fiomatrix

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// reportLateness is the largest difference between the time of a report and that of its counts.
const reportLateness = 60 // in ms

// wholeRow is the default of the setting tolerance: by which share of its length a row may extend beyond a window and still
// count completely in it.
const wholeRow = 0.05

// checkLevels: at each level the windows add up to the requests that completed.
func (c *comparison) checkLevels() {
	if c.unlogged() || c.want.mixed {
		c.checkSums()
		return
	}
	for d, name := range directions {
		var n int64
		for _, j := range c.jobs {
			n += j.total(d)
		}
		for _, level := range []string{"cluster", "host", "job"} {
			var got int64
			for _, w := range c.at(level, "", "", d) {
				got += w.completed
			}
			switch {
			case got > n:
				c.fail("double", fmt.Sprintf("%s %s: %d", level, name, n), "%d", got)
			case got < n && c.want.kind == short:
				if least := c.logged(d); got < least {
					c.fail("level "+level+" "+name, fmt.Sprintf("%d to %d", least, n), "%d", got)
				}
			case got < n:
				c.fail("level "+level+" "+name, fmt.Sprint(n), "%d", got)
			}
		}
	}
}

// checkSums: at each level all windows add up to the run.
func (c *comparison) checkSums() {
	sums := map[string]int64{}
	for _, w := range c.windows {
		sums[w.level] += w.completed
	}
	for _, level := range []string{"cluster", "host", "job"} {
		if n := c.run.total(); sums[level] != n {
			c.fail("level "+level, fmt.Sprint(n), "%d", sums[level])
		}
	}
}

// logged returns how many requests completed before the last row of each job's log. These are known even if
// everything else is lost.
func (c *comparison) logged(dir int) int64 {
	var n int64
	for _, j := range c.jobs {
		if rows := j.rows[dir]; len(rows) > 0 && !j.lost {
			n += int64(j.until(dir, rows[len(rows)-1]-reportLateness))
		}
	}
	return n
}

// until returns how many requests completed at a time or before.
func (j *truthJob) until(dir int, at int64) int {
	return sort.Search(len(j.done[dir]), func(i int) bool { return j.done[dir][i].at > at })
}

// edge returns the least and the most requests of a job that fio2es can count before a time. If a row ends there,
// both are equal. If the time cuts a row, the requests of the row are open.
func (c *comparison) edge(j *truthJob, dir int, at, slack int64) (least, most int) {
	rows := j.rows[dir]
	switch {
	case c.want.source == fromRaw || j.lost && c.want.kind == complete:
		return j.until(dir, at-slack-2), j.until(dir, at+slack+2)
	case c.want.source == fromReports:
		rows = j.process.reports
		slack += reportLateness // the time of a report is when it was written
	}
	near := slack + int64(wholeRow*float64(c.histMS)) + 2
	i, _ := slices.BinarySearch(rows, at)
	for _, k := range []int{i - 1, i} {
		if k >= 0 && k < len(rows) && abs(rows[k]-at) <= near {
			return c.follow(j, dir, rows, k, at, slack)
		}
	}
	if i > 0 {
		least = j.until(dir, rows[i-1]-slack)
	}
	most = len(j.done[dir])
	if i < len(rows) {
		most = j.until(dir, rows[i]+slack)
	}
	if margin := 1 + (most-least)/10; c.even {
		least, most = max(least, j.until(dir, at-slack)-margin), min(most, j.until(dir, at+slack)+margin)
	}
	if at < j.startLo-near-c.tolerance() {
		most = 0
	}
	if at > j.endHi+near {
		least = len(j.done[dir])
	}
	return least, most
}

// follow returns the same as edge, for a time near the end of row k. fio2es may take the end of the row instead, or
// cut this row or the next one, by the share of its length.
func (c *comparison) follow(j *truthJob, dir int, rows []int64, k int, at, slack int64) (least, most int) {
	row, before, after := rows[k], j.startLo, j.endHi
	if k > 0 {
		before = rows[k-1]
	}
	if k < len(rows)-1 {
		after = rows[k+1]
	}
	part := func(from, to int64) int {
		n := j.until(dir, to) - j.until(dir, from)
		length := max(1, min(to-from, int64(c.histMS))) // requests of a late row completed before the row was due
		return int(math.Ceil(float64(n) * min(1, float64(abs(row-at)+slack)/float64(length))))
	}
	count := j.until(dir, row)
	least = min(j.until(dir, min(at, row)-slack), count-part(before, row))
	most = max(j.until(dir, max(at, row)+slack), count+part(row, after))
	return least, most
}

// view has the windows of one level and direction, and their jobs.
type view struct {
	name    string
	windows []window
	jobs    []*truthJob
	dir     int
	shift   int64 // difference between the truth and the times of fio2es, in milliseconds
	slack   int64 // uncertainty of the jobs' times after the shift, in milliseconds
}

// checkShapes checks counts and percentiles of windows.
func (c *comparison) checkShapes() {
	for d, name := range directions {
		c.checkView(view{name: "cluster " + name, windows: c.at("cluster", "", "", d), jobs: having(c.jobs, d), dir: d}, true)
		for host, jobs := range c.byHost() {
			if host != "" {
				c.checkView(view{name: "host " + name, windows: c.at("host", host, "", d), jobs: having(jobs, d), dir: d}, false)
			}
			for _, j := range jobs {
				w := c.at("job", host, c.label(j), d)
				if _, grouped := j.process.option(j.section, "group_reporting"); !grouped && len(w) > 0 {
					c.checkView(view{name: "job " + name, windows: w, jobs: having([]*truthJob{j}, d), dir: d}, false)
				}
			}
		}
	}
}

func (c *comparison) checkView(v view, measure bool) {
	if len(v.windows) == 0 || len(v.jobs) == 0 {
		return
	}
	slices.SortFunc(v.windows, func(a, b window) int { return int(a.from - b.from) })
	together := v.settle(c)
	c.checkCounts(v)
	c.checkRanks(v)
	if measure && together {
		c.measure(v)
	}
}

// jitter is the largest difference between the starts of a section's jobs.
const jitter = 40 // in ms

// hostShift returns the error of the start that fio2es gives to a job's host.
func (c *comparison) hostShift(j *truthJob) int64 {
	at, ok := c.run.hosts[j.host]
	if !ok {
		at = c.run.from
	}
	b := boundsOf(c.byHost()[j.host])
	return (b.startLo+b.startHi)/2 - at
}

// settle finds the error of fio2es's times within the tolerance: the one with which the fewest windows are wrong.
// Jobs that did not start together can have different errors. Then the tolerance itself is the slack.
func (v *view) settle(c *comparison) (together bool) {
	var width int64
	first, alone := v.jobs[0], true
	for _, j := range v.jobs {
		width = max(width, j.startHi-j.startLo)
		alone = alone && j.process == first.process && j.section == first.section
	}
	v.slack = 10 + width/2
	if !alone {
		v.slack += c.tolerance()
		return false
	}
	middle, reach := c.hostShift(first), width+jitter
	if first.startLo > boundsOf(c.jobs).startHi+jitter { // these jobs waited for others, and are placed separately
		middle, reach = 0, width+c.tolerance()
	}
	best, bestWrong, bestOff := int64(0), math.MaxInt, int64(math.MaxInt64)
	for shift := middle - reach; shift <= middle+reach; shift++ {
		v.shift = shift
		var off int64
		for _, w := range v.windows {
			off += abs(int64(v.count(w)) - w.completed)
		}
		wrong, _ := c.wrongCounts(*v)
		if cmp.Or(cmp.Compare(wrong, bestWrong), cmp.Compare(off, bestOff), cmp.Compare(abs(shift-middle), abs(best-middle))) < 0 {
			best, bestWrong, bestOff = shift, wrong, off
		}
	}
	v.shift = best
	return true
}

// count returns how many requests completed in a window.
func (v *view) count(w window) int {
	n := 0
	for _, j := range v.jobs {
		n += j.until(v.dir, w.to+v.shift) - j.until(v.dir, w.from+v.shift)
	}
	return n
}

// limits returns the least and the most requests that a window may have, if times have an uncertainty of slack.
func (c *comparison) limits(v view, w window, slack int64) (least, most int) {
	for _, j := range v.jobs {
		fromLeast, fromMost := c.edge(j, v.dir, w.from+v.shift, slack)
		toLeast, toMost := c.edge(j, v.dir, w.to+v.shift, slack)
		least += max(0, toLeast-fromMost)
		most += toMost - fromLeast
	}
	return least, most
}

func (c *comparison) checkCounts(v view) {
	if wrong, last := c.wrongCounts(v); wrong > 0 {
		c.fail("counts "+v.name, "the requests that completed", "%d of %d windows wrong, the last: %s", wrong, len(v.windows), last)
	}
}

// wrongCounts returns how many windows have an impossible number of requests, and describes the last of them.
func (c *comparison) wrongCounts(v view) (wrong int, last string) {
	const rounding, atEnds = 1, 150 // in requests and ms: the run may begin and end as much earlier or later
	for i, w := range v.windows {
		slack := v.slack
		if c.even && (i == 0 || i == len(v.windows)-1) {
			slack += atEnds
		}
		least, most := c.limits(v, w, slack)
		if c.want.kind == short && !c.even {
			least = 0
		}
		if n := int(w.completed); n < least-rounding || n > most+rounding {
			wrong++
			last = fmt.Sprintf("%d, not %d to %d, from %d to %d ms", n, least, most, w.from-c.run.from, w.to-c.run.from)
		}
	}
	return wrong, last
}

// content has the true requests of a window.
type content struct {
	latencies []int64 // in ns, ascending
	// long means that a request in flight took longer than the window. Then the percentiles are not those of
	// completions.
	long bool
	// exact means that the window begins and ends with rows of each job, and has as many requests as these rows. So
	// it has these requests, except for open ones, which completed about when a row ended.
	exact bool
	open  int
	// cut means that an edge cuts a row, so it is not known which requests completed before it.
	cut bool
}

// content returns the true requests of a window: those that completed in it, or in the rows that it follows.
func (c *comparison) content(v *view, w window) content {
	var t content
	for _, j := range v.jobs {
		from, fromOpen := c.snap(v, j, w.from+v.shift)
		to, toOpen := c.snap(v, j, w.to+v.shift)
		t.cut = t.cut || fromOpen < 0 || toOpen < 0
		t.open += max(0, fromOpen) + max(0, toOpen)
		for _, x := range j.done[v.dir][j.until(v.dir, from):] {
			if x.at <= to {
				t.latencies = append(t.latencies, x.latency)
			}
			if x.latency > w.length()*1e6 && x.at-x.latency/1e6 <= to {
				t.long = true
			}
		}
	}
	slices.Sort(t.latencies)
	t.exact = !t.cut && int64(len(t.latencies)) == w.completed
	return t
}

// snap returns the end of the row that an edge follows, and how many requests are open there: those of its last
// millisecond, and the share of a row between it and the edge. If the edge follows no row, snap returns the edge and
// -1.
func (c *comparison) snap(v *view, j *truthJob, at int64) (edge int64, open int) {
	rows := j.rows[v.dir]
	switch {
	case c.want.source == fromRaw || j.lost:
		return at, j.until(v.dir, at) - j.until(v.dir, at-1)
	case c.want.source == fromReports:
		rows = j.process.reports
	}
	if at < j.first(v.dir) || at >= j.last(v.dir) {
		return at, 0
	}
	near := int64(wholeRow*float64(c.histMS)) + 2
	i, _ := slices.BinarySearch(rows, at)
	for _, k := range []int{i - 1, i} {
		if k >= 0 && k < len(rows) && abs(rows[k]-at) <= near {
			least, most := c.follow(j, v.dir, rows, k, at, 0)
			return rows[k], most - least + j.until(v.dir, rows[k]) - j.until(v.dir, rows[k]-1)
		}
	}
	return at, -1
}

// binOf returns the width of a latency's bin.
func (c *comparison) binOf(latency float64) float64 {
	return max(1, latency/64) * math.Exp2(float64(c.coarse))
}

// rankOff returns the difference between the rank of a value and a share of the requests, beyond the width of the
// value's bin.
func (c *comparison) rankOff(sorted []int64, share, value float64) float64 {
	n, bin := float64(len(sorted)), c.binOf(value)
	below := sort.Search(len(sorted), func(i int) bool { return float64(sorted[i]) >= value-bin })
	upTo := sort.Search(len(sorted), func(i int) bool { return float64(sorted[i]) > value+bin })
	return max(0, float64(below)/n-share, share-float64(upTo)/n)
}

// checkRanks: the share of requests up to each percentile is right, within two requests and those that the counts
// leave open.
func (c *comparison) checkRanks(v view) {
	wrong, worst := 0, ""
	for _, w := range v.windows {
		t := c.content(&v, w)
		n := len(t.latencies)
		if n < 10 || t.long {
			continue
		}
		if !t.exact {
			least, most := c.limits(v, w, v.slack)
			t.open = most - least
			if c.want.kind == short {
				t.open += n - int(w.completed) // lost requests are not in the window
			}
		}
		allowed := (2 + float64(t.open)) / float64(n)
		for i, p := range w.percentiles {
			if off := c.rankOff(t.latencies, share[i], p); off > allowed {
				wrong++
				worst = fmt.Sprintf("p%v = %.0f ns, rank off by %.3f, at most %.3f, %d requests, from %d ms", share[i]*100, p, off, allowed, n, w.from-c.run.from)
				break
			}
		}
	}
	if wrong > 0 {
		c.fail("percentiles "+v.name, "ranks", "%d of %d windows wrong, the last: %s", wrong, len(v.windows), worst)
	}
}

// measure collects the relative errors of percentiles in windows that have exactly the true requests. Windows that
// cut rows are estimates; their errors are printed, but not checked.
func (c *comparison) measure(v view) {
	var errors [4][]float64
	for _, w := range v.windows {
		t := c.content(&v, w)
		if len(t.latencies) < 100 || t.long || !t.exact && !t.cut {
			continue
		}
		into := &c.errors
		if t.cut {
			into = &c.cut
		}
		for i, q := range share {
			into[i] = append(into[i], c.relative(t.latencies, q, w.percentiles[i], 0))
			if t.exact {
				errors[i] = append(errors[i], c.relative(t.latencies, q, w.percentiles[i], t.open))
			}
		}
	}
	for i := range errors {
		limit := 0.01 * math.Exp2(float64(c.coarse))
		if m := median(errors[i]); len(errors[i]) >= 5 && m > limit {
			c.fail(fmt.Sprintf("median error p%v", share[i]*100), fmt.Sprintf("at most %.2f %%", limit*100), "%.2f %% in %d windows, %s", m*100, len(errors[i]), v.name)
		}
	}
}

// relative returns the relative error of a percentile. Up to open requests may differ from the true ones. An error
// of one bin of one nanosecond counts as 0.
func (c *comparison) relative(sorted []int64, q, value float64, open int) float64 {
	rank := int(math.Ceil(q * float64(len(sorted))))
	at := func(rank int) float64 { return float64(sorted[min(max(rank, 1), len(sorted))-1]) }
	off, truth := max(0, at(rank-open)-value, value-at(rank+open)), at(rank)
	if off <= math.Exp2(float64(c.coarse)) {
		return 0
	}
	return off / max(truth, 1)
}

// checkRunPercentiles: the percentiles of the whole run are right within a bin.
func (c *comparison) checkRunPercentiles(dir int) {
	var sorted []int64
	for _, j := range c.jobs {
		for _, x := range j.done[dir] {
			sorted = append(sorted, x.latency)
		}
	}
	if len(sorted) < 10 {
		return
	}
	slices.Sort(sorted)
	for i, p := range c.run.dirs[dir].Latency.nanoseconds() {
		if off := c.rankOff(sorted, share[i], p); p > 0 && off > 2/float64(len(sorted)) {
			c.fail("run percentiles "+directions[dir], "ranks", "p%v = %.0f ns, rank off by %.4f", share[i]*100, p, off)
			return
		}
	}
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
