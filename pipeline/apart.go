package pipeline

import (
	"fmt"
	"slices"
	"time"
)

// span is the time in which the jobs of a host ran.
type span struct {
	host       string
	start, end time.Time
}

// spans returns the span of each host, the earliest first. last returns the end of a job's rows, in milliseconds since
// the job's start.
func (p *plan) spans(last func(*job) int64) (all []span) {
	for _, j := range p.jobs {
		one := span{j.host, j.start, j.start.Add(time.Duration(max(j.ran, last(j))) * time.Millisecond)}
		i := slices.IndexFunc(all, func(s span) bool { return s.host == j.host })
		if i < 0 {
			all = append(all, one)
			continue
		}
		all[i].start = earlier(all[i].start, one.start)
		if one.end.After(all[i].end) {
			all[i].end = one.end
		}
	}
	slices.SortStableFunc(all, func(a, b span) int { return a.start.Compare(b.start) })
	return all
}

// apart returns a warning if a host began after all hosts before it had ended. The time of the run then includes the
// gap, so its rates are too low. unsure is the error of the starts. The text is empty if there is no such gap.
func apart(all []span, unsure time.Duration) string {
	for i := 1; i < len(all); i++ {
		end := slices.MaxFunc(all[:i], func(a, b span) int { return a.end.Compare(b.end) }).end
		if gap := all[i].start.Sub(end); gap > unsure+time.Second {
			return fmt.Sprintf("its hosts did not run at the same time: host %q began %v after the ones before it had ended, so rates of the run "+
				"are too low; keep the files of each run in a folder of their own, or correct a wrong clock with --offset",
				all[i].host, gap.Round(100*time.Millisecond))
		}
	}
	return ""
}
