//go:build linux

package fiomatrix

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// failure is something that is wrong.
type failure struct {
	check, want, got string
}

// verdict is the result of the checks of a case.
type verdict struct {
	kind     kind // the accepted kind that fits best
	failures []failure
	errors   [4][]float64 // relative errors of percentiles, for windows that follow rows
	// the same for windows that cut rows
	cut [4][]float64
}

func (v *verdict) fail(check, want, format string, args ...any) {
	v.failures = append(v.failures, failure{check, want, fmt.Sprintf(format, args...)})
}

// check compares the answers of fio2es with the truth, and with the expectation that fits best.
func (s *scene) check(a *said) *verdict {
	var best *verdict
	for _, w := range s.wants {
		v := &verdict{kind: w.kind}
		s.checkOne(w, a, v)
		if best == nil || len(v.failures) < len(best.failures) {
			best = v
		}
	}
	return best
}

func (s *scene) checkOne(w want, a *said, v *verdict) {
	checkWords(w, a, v, s.stood())
	checkAgreement(a, v)
	groups := [][]*truthJob{s.truth}
	if w.groups != nil {
		groups = w.groups(s)
	}
	pairs := pairRuns(groups, a.runs)
	if len(a.runs) != len(groups) && !(w.kind == refused && len(a.runs) == 0) && !w.more {
		v.fail("runs", fmt.Sprint(len(groups)), "%d: %s", len(a.runs), names(a.runs))
	}
	for i, jobs := range groups {
		if pairs[i] == nil {
			continue
		}
		c := &comparison{scene: s, want: w, jobs: jobs, run: pairs[i], verdict: v}
		for _, x := range a.windows {
			if x.run == pairs[i].ID {
				c.windows = append(c.windows, x)
			}
		}
		c.all()
	}
	if w.more {
		s.checkOthers(groups, pairs, a, v)
	}
	if s.extra != nil {
		s.extra(a, v)
	}
}

// checkOthers: additional runs, besides those of the truth, have at most the requests of the jobs that are in no
// run.
func (s *scene) checkOthers(groups [][]*truthJob, pairs []*runDoc, a *said, v *verdict) {
	left := totalOf(s.truth)
	for _, g := range groups {
		left -= totalOf(g)
	}
	for i := range a.runs {
		if !slices.Contains(pairs, &a.runs[i]) {
			left -= a.runs[i].total()
		}
	}
	if left < 0 {
		v.fail("double", "in other runs only what is in none of these", "%d requests more: %s", -left, names(a.runs))
	}
}

func names(runs []runDoc) string {
	var out []string
	for _, r := range runs {
		out = append(out, r.Name)
	}
	return strings.Join(out, ", ")
}

// pairRuns gives each group of jobs the run that began closest to it.
func pairRuns(groups [][]*truthJob, runs []runDoc) []*runDoc {
	out := make([]*runDoc, len(groups))
	used := map[int]bool{}
	for i, jobs := range groups {
		best, far := -1, int64(math.MaxInt64)
		from, _ := spanOf(jobs)
		for k := range runs {
			away := abs(runs[k].from - from)
			if total := runs[k].total(); total != totalOf(jobs) {
				away += 1000 // another run may have begun at the same time
			}
			if !used[k] && away < far {
				best, far = k, away
			}
		}
		if best >= 0 {
			used[best] = true
			out[i] = &runs[best]
		}
	}
	return out
}

func (r *runDoc) total() int64 {
	if r.all != nil {
		return r.all.Requests
	}
	var n int64
	for _, d := range r.dirs {
		if d != nil {
			n += d.Requests
		}
	}
	return n
}

func totalOf(jobs []*truthJob) int64 {
	var n int64
	for _, j := range jobs {
		for d := range directions {
			n += j.total(d)
		}
	}
	return n
}

// spanOf returns the time from the first start to the last end, with the middle of each range.
func spanOf(jobs []*truthJob) (from, to int64) {
	from = math.MaxInt64
	for _, j := range jobs {
		from, to = min(from, j.start()), max(to, (j.endLo+j.endHi)/2)
	}
	return from, to
}

var alarm = regexp.MustCompile(`(?im)^.*\b(warning|error|panic)\b.*$`)

// stood reports whether a job completed nothing for longer than a fifth of log_hist_msec, because it was stopped or the machine
// was busy.
func (s *scene) stood() bool {
	return slices.ContainsFunc(s.truth, func(j *truthJob) bool {
		return slices.ContainsFunc(j.done[:], func(done []completion) bool {
			for i := range done[:max(len(done), 1)-1] {
				if done[i+1].at-done[i].at > int64(s.histMS/5) {
					return true
				}
			}
			return false
		})
	})
}

// estimates warns of windows of rows whose rate changes, which is true if a job stood.
var estimates = regexp.MustCompile(`(?m)^warning: .* windows are estimates, .*\n`)

// checkWords checks the exit code and stderr of ingest.
func checkWords(w want, a *said, v *verdict, stood bool) {
	stderr := a.ingest.stderr
	if stood {
		stderr = estimates.ReplaceAllString(stderr, "")
	}
	exits := w.exit
	if exits == nil {
		exits = map[kind][]int{complete: {0}, totals: {0, 3}, short: {3}, refused: {1, 3}}[w.kind]
	}
	if isExcused := stderr != a.ingest.stderr && a.ingest.exit == 3; !slices.Contains(exits, a.ingest.exit) && !isExcused {
		v.fail("exit code", fmt.Sprint(exits), "%d: %s", a.ingest.exit, firstLine(a.ingest.stderr))
	}
	for _, m := range alarm.FindAllString(stderr, -1) {
		allowed := w.mayWarn != "" && regexp.MustCompile(`(?i)`+w.mayWarn).MatchString(m)
		if w.kind == complete && len(w.says) == 0 && !allowed {
			v.fail("false warning", "silence", "%s", m)
		}
	}
	for _, x := range w.says {
		if !regexp.MustCompile(`(?is)` + x).MatchString(a.ingest.stderr) {
			v.fail("not reported", "/"+x+"/", "%s", firstLine(a.ingest.stderr))
		}
	}
	for _, x := range w.never {
		if m := regexp.MustCompile(`(?i)` + x).FindString(a.ingest.stderr); m != "" {
			v.fail("false words", "not /"+x+"/", "%s", m)
		}
	}
	if a.percentiles.exit != a.ingest.exit && (a.percentiles.exit == 0) != (a.ingest.exit == 0) {
		v.fail("percentiles, exit code", fmt.Sprint(a.ingest.exit), "%d: %s", a.percentiles.exit, firstLine(a.percentiles.stderr))
	}
}

func firstLine(s string) string {
	s, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more {
		s += " …"
	}
	if s == "" {
		return "(nothing)"
	}
	return s
}

// checkAgreement: percentiles prints the windows that ingest stores.
func checkAgreement(a *said, v *verdict) {
	lines := 0
	var printed int64
	for _, l := range a.printed {
		if l["level"] == "run" {
			continue
		}
		lines++
		if n, ok := l["requests"].(float64); ok {
			printed += int64(n)
		}
	}
	var stored int64
	for _, w := range a.windows {
		stored += w.completed
	}
	if lines != len(a.windows) || printed != stored {
		v.fail("percentiles and ingest", fmt.Sprintf("%d windows, %d requests", len(a.windows), stored), "%d, %d", lines, printed)
	}
}

// comparison is a run of fio2es and the jobs that it must have.
type comparison struct {
	*scene
	*verdict
	want    want
	jobs    []*truthJob
	run     *runDoc
	windows []window
	even    bool // where an edge cuts a row, the requests of the row are even: an estimate off by more than a tenth of them is wrong
}

// tolerance returns the tolerance of times in milliseconds. It is larger if fio itself was late.
func (c *comparison) tolerance() int64 {
	return cmp.Or(c.want.tolerance, 150*time.Millisecond).Milliseconds() + c.lag(c.jobs)
}

func (c *comparison) all() {
	c.checkTotals()
	if c.want.kind == refused {
		return
	}
	if !c.want.unplaced {
		c.checkTimes()
	}
	if c.want.kind == totals {
		if len(c.windows) > 0 {
			c.fail("invented", "no windows", "%d windows", len(c.windows))
		}
		return
	}
	if len(c.windows) == 0 {
		if totalOf(c.jobs) > 0 {
			c.fail("windows", "some", "none")
		}
		return
	}
	c.checkLevels()
	if c.want.unplaced || c.want.mixed || c.unlogged() {
		return
	}
	c.checkSpans()
	c.checkLastIOPS()
	if !c.want.noShape {
		c.checkShapes()
	}
}

// checkTotals compares the run document with the totals of the jobs.
func (c *comparison) checkTotals() {
	sum := int64(0)
	for d, name := range directions {
		var n, failed int64
		for _, j := range c.jobs {
			n += j.total(d)
		}
		if c.want.mixed {
			sum += n
			continue
		}
		got := int64(0)
		if t := c.run.dirs[d]; t != nil {
			got = t.Requests
		}
		sum += n
		failed = c.failedRequests(d)
		c.compareTotal("total "+name, n, failed, got)
		if got == n && n > 0 && c.run.missing == 0 { // else the total is fio's, and percentiles lack what is in no row
			c.checkRunPercentiles(d)
		}
	}
	got := c.run.total()
	if c.run.missing > 0 && c.want.kind == short && got < sum {
		got += c.run.missing
	}
	c.compareTotal("total", sum, c.failedRequests(-1), got)
}

// compareTotal accepts n requests, with or without the failed ones, or fewer if some are lost.
func (c *comparison) compareTotal(check string, n, failed, got int64) {
	if c.unlogged() {
		n, failed = n+failed, 0 // without a raw log, only fio's count is known
	}
	switch {
	case got == n || got == n+failed:
	case c.unlogged() && abs(got-n) <= int64(len(c.jobs)): // fio was killed while it counted
	case got > n+max(failed, 0):
		c.fail("double", fmt.Sprintf("%s: at most %d", check, n+max(failed, 0)), "%d", got)
	// the document has the missing requests only for all directions together
	case c.want.counted && check != "total":
	case (c.want.kind == short || c.want.kind == refused) && !c.want.counted:
	default:
		c.fail(check, fmt.Sprint(n), "%d", got)
	}
}

func (c *comparison) unlogged() bool {
	return slices.ContainsFunc(c.jobs, func(j *truthJob) bool { return j.unlogged })
}

// failedRequests returns how many requests of a direction, or of all (-1), fio counted in addition to those that
// completed. It is negative if fio counted fewer: requests in flight when ramp_time ended are in logs and bins, but
// not in total_ios.
func (c *comparison) failedRequests(dir int) int64 {
	var n int64
	seen := map[*process]bool{}
	for _, j := range c.jobs {
		if !seen[j.process] {
			seen[j.process] = true
			for d, m := range j.process.counted {
				if dir < 0 || d == dir {
					n += m
				}
			}
		}
	}
	if n == 0 {
		return 0
	}
	for _, j := range c.scene.truth {
		for d := range directions {
			if seen[j.process] && (dir < 0 || d == dir) {
				n -= j.total(d)
			}
		}
	}
	return n
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}
