//go:build linux

package fiomatrix

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// within checks that a time is in [lo, hi], plus or minus the tolerance.
func (c *comparison) within(check string, at, lo, hi int64) {
	t := c.tolerance()
	if at < lo-t || at > hi+t {
		away := at - lo
		if at > hi {
			away = at - hi
		}
		c.fail(check, fmt.Sprintf("within %d ms", t), "%+d ms (truth is known to %d ms)", away, hi-lo)
	}
}

// bounds are the bounds of the first start and the last end of jobs.
type bounds struct{ startLo, startHi, endLo, endHi int64 }

func boundsOf(jobs []*truthJob) bounds {
	b := bounds{startLo: math.MaxInt64, startHi: math.MaxInt64}
	for _, j := range jobs {
		b.startLo, b.startHi = min(b.startLo, j.startLo), min(b.startHi, j.startHi)
		b.endLo, b.endHi = max(b.endLo, j.endLo), max(b.endHi, j.endHi)
	}
	return b
}

// checkTimes checks start and end of the run, and the start of each host.
func (c *comparison) checkTimes() {
	b := boundsOf(c.jobs)
	c.within("run start", c.run.from, b.startLo, b.startHi)
	c.within("run end", c.run.to, b.endLo, b.endHi)
	for host, jobs := range c.byHost() {
		at, ok := c.run.hosts[host]
		switch {
		case host == "" && len(c.run.hosts) == 1:
			for _, only := range c.run.hosts {
				at, ok = only, true
			}
		case !ok:
			c.fail("host", host, "%v", c.run.hosts)
		}
		if hb := boundsOf(jobs); ok {
			c.within("host start", at, hb.startLo, hb.startHi)
		}
	}
	c.checkRunIOPS()
}

func (c *comparison) byHost() map[string][]*truthJob {
	out := map[string][]*truthJob{}
	for _, j := range c.jobs {
		out[j.host] = append(out[j.host], j)
	}
	return out
}

// having returns the jobs that completed requests in a direction.
func having(jobs []*truthJob, dir int) []*truthJob {
	var out []*truthJob
	for _, j := range jobs {
		if j.total(dir) > 0 {
			out = append(out, j)
		}
	}
	return out
}

// checkRunIOPS: IOPS of the run are over the time from the first start of the direction's jobs to their last end.
func (c *comparison) checkRunIOPS() {
	for d, name := range directions {
		jobs := having(c.jobs, d)
		t := c.run.dirs[d]
		if len(jobs) == 0 || t == nil || c.want.kind == short || c.want.mixed {
			continue
		}
		b := boundsOf(jobs)
		c.rate("run IOPS "+name, t.IOPS, t.Requests, b.endLo-b.startHi, b.endHi-b.startLo)
	}
}

// rate checks requests per second over a time between shortest and longest. Both may be wrong by the tolerance at
// each end.
func (c *comparison) rate(check string, got float64, requests, shortest, longest int64) {
	n := float64(requests) * 1000
	lowest, highest := n/float64(longest+c.tolerance()), math.Inf(1)
	if left := shortest - c.tolerance(); left > 0 {
		highest = n / float64(left)
	}
	if got < lowest-1 || got > highest+1 {
		c.fail(check, fmt.Sprintf("%.0f to %.0f", lowest, highest), "%.1f", got)
	}
}

// checkSpans checks where the windows of each direction begin and end, at all levels.
func (c *comparison) checkSpans() {
	for d, name := range directions {
		c.span("cluster "+name, c.at("cluster", "", "", d), having(c.jobs, d), d)
		for host, jobs := range c.byHost() {
			c.span("host "+name, c.at("host", host, "", d), having(jobs, d), d)
			for _, j := range jobs {
				if w := c.at("job", host, c.label(j), d); len(w) > 0 && !c.want.oneLog {
					c.span("job "+name, w, having([]*truthJob{j}, d), d)
				}
			}
		}
	}
}

// label returns the name of a job in documents: its number, after that of the volume for CBT's files.
func (c *comparison) label(j *truthJob) string {
	number := strconv.Itoa(j.number)
	prefix, _ := j.process.option(j.section, "write_hist_log")
	if volume, ok := strings.CutPrefix(prefix, "output."); ok {
		return volume + "." + number
	}
	return number
}

// at returns the windows of a level, host, job and direction. An empty host means any.
func (c *comparison) at(level, host, job string, dir int) []window {
	var out []window
	for _, w := range c.windows {
		if w.level == level && w.dir == dir && (host == "" || w.host == host) && (job == "" || w.job == job) {
			out = append(out, w)
		}
	}
	return out
}

// span checks that the first window begins with the jobs, or less than a window earlier. The last must end with
// them, or less than a window later, but not after the run.
func (c *comparison) span(name string, windows []window, jobs []*truthJob, dir int) {
	if len(windows) == 0 || len(jobs) == 0 {
		if len(jobs) > 0 && c.want.kind == complete {
			c.fail("windows "+name, "some", "none")
		}
		return
	}
	from, to := int64(math.MaxInt64), int64(0)
	var longest int64
	for _, w := range windows {
		if w.completed > 0 {
			from, to, longest = min(from, w.from), max(to, w.to), max(longest, w.length())
		}
	}
	run, b := boundsOf(c.jobs), boundsOf(jobs)
	first, last := int64(math.MaxInt64), int64(0)
	for _, j := range jobs {
		first, last = min(first, j.first(dir)), max(last, j.last(dir))
	}
	c.within("first window, "+name, from, max(run.startLo, b.startLo-longest), max(first, b.startHi))
	if c.want.kind == short || strings.HasPrefix(name, "job ") && c.sharedEnd(dir) {
		c.within("last window, "+name, to, 0, min(run.endHi, b.endHi+longest))
		return
	}
	c.within("last window, "+name, to, last, min(run.endHi, b.endHi+longest))
}

// sharedEnd reports whether the requests after the last rows are in a series without a job's name, because fio
// reports the jobs together.
func (c *comparison) sharedEnd(dir int) bool {
	return slices.ContainsFunc(c.at("job", "", "", dir), func(w window) bool { return w.job == "" })
}

// checkLastIOPS: IOPS of the last window of each direction are over its actual length.
func (c *comparison) checkLastIOPS() {
	for d, name := range directions {
		windows, jobs := c.at("cluster", "", "", d), having(c.jobs, d)
		if len(windows) == 0 || len(jobs) == 0 || c.want.kind == short {
			continue
		}
		w := windows[0]
		for _, x := range windows {
			if x.to > w.to {
				w = x
			}
		}
		b := boundsOf(jobs)
		c.rate("last IOPS "+name, w.iops, w.completed, min(w.to, b.endLo)-w.from, min(w.to, b.endHi)-w.from)
	}
}
