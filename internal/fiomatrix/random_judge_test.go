//go:build linux

package fiomatrix

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// judge returns what the program says of a random execution and is not so. Other than check, it expects nothing: what the
// program does not say is not wrong, and an estimate has to be near the truth.
func (s *scene) judge(a *said) []failure {
	var best *verdict
	sources := []source{fromRows}
	switch {
	case !s.random.logs:
		sources = []source{fromReports}
	case s.random.periodic:
		sources = []source{fromRows, fromReports}
	}
	for _, from := range sources {
		v := &verdict{}
		s.judgeFrom(from, a, v)
		if best == nil || len(v.failures) < len(best.failures) {
			best = v
		}
	}
	return best.failures
}

func (s *scene) judgeFrom(from source, a *said, v *verdict) {
	checkAgreement(a, v)
	groups := byStage(s)
	if len(a.runs) != len(groups) {
		v.fail("runs", fmt.Sprint(len(groups)), "%d: %s", len(a.runs), names(a.runs))
		return
	}
	for i, run := range pairRuns(groups, a.runs) {
		tolerance := max(150*time.Millisecond, time.Duration(run.clockError)*time.Millisecond)
		c := &comparison{scene: s, verdict: v, jobs: groups[i], run: run, even: true, want: want{source: from, tolerance: tolerance}}
		for _, w := range a.windows {
			if w.run == run.ID {
				c.windows = append(c.windows, w)
			}
		}
		c.judgeTotals(a)
		c.checkTimes()
		c.judgeWindows()
	}
}

// reports begins the names of checks against fio's own report.
const reports = "fio's "

// number returns a number of a line of JSON.
func (l line) number(key string) (float64, bool) { n, ok := l[key].(float64); return n, ok }

// line is a line that the program prints as JSON.
type line map[string]any

// rowsOf returns the lines of a run at a level.
func rowsOf(lines []map[string]any, run *runDoc, level string) []line {
	var out []line
	for _, l := range lines {
		if l["level"] == level && l["name"] == run.Name {
			out = append(out, l)
		}
	}
	return out
}

// judgeTotals compares the lines of the whole run, and of each host, with all of its requests.
func (c *comparison) judgeTotals(a *said) {
	var unknown bool
	for _, l := range rowsOf(a.printed, c.run, "run") {
		d := slices.Index(directions[:], text0(l["direction"]))
		if d < 0 {
			continue // all directions together, or sync
		}
		c.judgeLine("run "+directions[d], l, c.jobs, d)
		if t := c.run.dirs[d]; t != nil && t.Bytes > 0 {
			c.judgeBytes(d, t.Bytes)
		}
		_, known := l.number("requests")
		unknown = unknown || !known
	}
	if !unknown {
		c.compareTotal("total", totalOf(c.jobs), c.failedRequests(-1), c.run.total())
	}
	for _, l := range rowsOf(a.totals, c.run, "host") {
		d, host := slices.Index(directions[:], text0(l["direction"])), text0(l["host"])
		if jobs := c.byHost()[host]; d >= 0 && jobs != nil {
			c.judgeLine("host "+directions[d], l, jobs, d)
		}
	}
}

// judgeBytes: bytes are those of the requests. fio's text has them only rounded.
func (c *comparison) judgeBytes(d int, got int64) {
	var n, largest int64
	for _, j := range c.jobs {
		for _, x := range j.done[d] {
			n += x.size
			largest = max(largest, x.size)
		}
	}
	off := max(0, -c.failedRequests(d)) * largest
	if !strings.Contains(c.random.form, "json") {
		off += n / 50
	}
	if got > n || got < n-off {
		c.fail("bytes "+directions[d], fmt.Sprint(n), "%d", got)
	}
}

// judgeLine compares a line of totals with the requests of jobs.
func (c *comparison) judgeLine(name string, l line, jobs []*truthJob, d int) {
	var sorted []int64
	for _, j := range jobs {
		for _, x := range j.done[d] {
			sorted = append(sorted, x.latency)
		}
	}
	slices.Sort(sorted)
	if n, known := l.number("requests"); known {
		c.compareTotal("total "+name, int64(len(sorted)), c.failedRequests(d), int64(n))
	}
	if len(sorted) < 10 {
		return
	}
	rounded := l["source"] == "fio" && !strings.Contains(c.random.form, "json")
	open := text0(l["open"])
	for _, p := range []struct {
		key   string
		share float64
	}{{"min", 0}, {"p50", .5}, {"p75", .75}, {"p90", .9}, {"p95", .95}, {"p99", .99}, {"p99_9", .999}, {"max", 1}} {
		v, known := l.number(p.key + "_us")
		low, high := v, v
		if !known {
			low, _ = l.number(p.key + "_low_us")
			if high, known = l.number(p.key + "_high_us"); !known {
				high = math.Inf(1)
			}
		}
		if strings.Contains(open, p.key) {
			high = math.Inf(1)
		}
		if rounded {
			low, high = low*0.99-1, high*1.01+1
		}
		if truth := c.outside(sorted, p.share, low*1000, high*1000); truth != 0 {
			c.fail(p.key+" of "+name, fmt.Sprintf("%.3f us", float64(truth)/1000), "%.3f to %.3f us", low, high)
		} else if exact := sorted[int(p.share)*(len(sorted)-1)]; known && low == high && (p.share == 0 || p.share == 1) && c.reported() && math.Abs(v*1000-float64(exact)) > 1 {
			c.fail(reports+p.key, fmt.Sprintf("%d ns", exact), "%.0f ns, %s", v*1000, name)
		}
	}
	var sum float64
	for _, x := range sorted {
		sum += float64(x)
	}
	mean := sum / float64(len(sorted))
	if v, known := l.number("mean_us"); known && !strings.Contains(open, "mean") {
		off := 0.01 * math.Exp2(float64(c.coarse)) * mean
		if rounded {
			off += 1000
		}
		if math.Abs(v*1000-mean) > off+1 {
			c.fail("mean of "+name, fmt.Sprintf("%.0f ns", mean), "%.0f ns", v*1000)
		} else if c.reported() && math.Abs(v*1000-mean) > mean/1000+1 {
			c.fail(reports+"mean", fmt.Sprintf("%.0f ns", mean), "%.0f ns, %s", v*1000, name)
		}
	}
}

// reported reports whether the minimum, maximum and mean of all requests are in fio's report, to the digit.
func (c *comparison) reported() bool {
	return strings.Contains(c.random.form, "json") && c.failedRequests(-1) == 0
}

// outside returns the true latency of a share if it is not between low and high within a bin and two ranks, else 0.
func (c *comparison) outside(sorted []int64, share, low, high float64) int64 {
	at := func(rank int) float64 { return float64(sorted[min(max(rank, 1), len(sorted))-1]) }
	rank, near := int(math.Ceil(share*float64(len(sorted))-1e-9)), 0
	if share > 0 && share < 1 {
		near = 1
	}
	least, most := at(rank-near), at(rank+near)
	if low-c.binOf(low) > most || high+c.binOf(high) < least {
		return int64(at(rank))
	}
	return 0
}

// judgeWindows compares windows with what completed in them. The ends of logs that no report has the bins of are in no window;
// the run says how many these are.
func (c *comparison) judgeWindows() {
	if len(c.windows) == 0 {
		return
	}
	all := c.jobs
	if c.run.missing > 0 {
		c.want.kind = short
		c.jobs = c.withoutEnds()
	}
	sums := map[string]int64{}
	for _, w := range c.windows {
		sums[w.level] += w.completed
		if n := w.iops * float64(w.length()) / 1000; w.length() > 150 && w.iops > 0 && math.Abs(n-float64(w.completed)) > max(3, 0.03*float64(w.completed)) {
			c.fail("iops of a window", fmt.Sprintf("%d in %d ms", w.completed, w.length()), "%.1f", w.iops)
		}
	}
	for _, level := range []string{"cluster", "host", "job"} {
		if n, got := totalOf(all), sums[level]; got+c.run.missing != n && got+c.run.missing != n+c.failedRequests(-1) {
			c.fail("sum of level "+level, fmt.Sprint(n), "%d, and %d missing", got, c.run.missing)
		}
	}
	c.checkSpans()
	c.checkLastIOPS()
	c.checkShapes()
	c.jobs = all
}

// disturbed returns by how many milliseconds the machine was too late for a case to be judged: jobs that fio did not start when
// they were due, logs that it wrote late, or times that are not known.
func (s *scene) disturbed() int64 {
	const most = 200
	due := func(j *truthJob) int64 {
		x := j.process.sections[j.section]
		delay, _ := x.options.value("startdelay")
		seconds, _ := strconv.ParseInt(delay, 10, 64)
		return seconds*1000 + rampOf(j.process, j.section)
	}
	var worst int64
	for _, jobs := range groupBy(s, func(j *truthJob) string { return fmt.Sprint(j.process.number, stage(j)) }) {
		base := int64(math.MaxInt64)
		for _, j := range jobs {
			base = min(base, j.start()-due(j))
		}
		for _, j := range jobs {
			worst = max(worst, j.start()-due(j)-base, 2*(j.startHi-j.startLo), s.lag(jobs))
		}
	}
	if worst <= most {
		return 0
	}
	return worst
}

// withoutEnds returns the jobs without what completed after the last row of their logs.
func (c *comparison) withoutEnds() []*truthJob {
	var out []*truthJob
	for _, j := range c.jobs {
		x := *j
		for d := range directions {
			n := 0
			if rows := j.rows[d]; len(rows) > 0 {
				n = j.until(d, rows[len(rows)-1])
			}
			x.done[d] = j.done[d][:n]
		}
		out = append(out, &x)
	}
	return out
}
