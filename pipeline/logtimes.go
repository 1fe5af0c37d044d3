package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// lastRows returns the time of the last row of each job in milliseconds since the start of the job.
func (ev *evidence) lastRows(jobs []*job) []int64 {
	times := make([]int64, len(jobs))
	var read []*job // the logs of these
	var places []int
	for i, j := range jobs {
		if times[i] = j.ran; j.readsLog() || j.entry == nil {
			read, places = append(read, j), append(places, i)
		}
	}
	if len(read) == 0 {
		return times
	}
	for i, last := range ev.reader.last(read) {
		times[places[i]] = max(last-read[i].origin, 0)
	}
	return times
}

// placeByLogs places jobs without reports by the modification times of their logs. It returns how much later than the
// first job of its host each job began. Files that were copied have the time of the copy. So it places only logs that
// follow one another.
func (p placing) placeByLogs() map[*job]time.Duration {
	later := map[*job]time.Duration{}
	byHost := map[string][]*job{}
	for _, j := range p.jobs {
		if j.start.IsZero() && j.hasRows && !j.log.File.ModTime.IsZero() {
			byHost[j.host] = append(byHost[j.host], j)
		}
	}
	for _, jobs := range byHost {
		if len(jobs) > 1 && mayFollow(jobs) {
			p.placeChain(jobs, later)
		}
	}
	return later
}

// mayFollow reports whether some jobs may have run after others. The times of the logs must be at least as far apart as
// the shortest log is long.
func mayFollow(jobs []*job) bool {
	first, last := jobs[0].log.File.ModTime, jobs[0].log.File.ModTime
	shortest := time.Duration(1<<62 - 1)
	for _, j := range jobs {
		at := j.log.File.ModTime
		first = earlier(first, at)
		if at.After(last) {
			last = at
		}
		shortest = min(shortest, time.Duration(j.leastRows()*max(j.interval, 1))*time.Millisecond)
	}
	return last.Sub(first) > max(shortest, time.Second)
}

// leastRows returns a lower bound for the number of rows of each direction in a job's log, from its size.
func (j *job) leastRows() int64 {
	const longest = 6 // bytes for each bin, as an average over a row: most bins are "0, "
	if !j.hasRows || j.log.File.Size <= 0 || j.log.segment >= 0 {
		return 0
	}
	return j.log.File.Size / (longest * int64(j.layout.Len())) / fiolog.Directions
}

// placeChain places the jobs of one host, if each began when the one before had ended.
func (p placing) placeChain(jobs []*job, later map[*job]time.Duration) {
	type span struct {
		*job
		start, end time.Time
	}
	spans := make([]span, len(jobs))
	for i, last := range p.ev.lastRows(jobs) {
		end := jobs[i].log.File.ModTime
		spans[i] = span{jobs[i], end.Add(-time.Duration(last) * time.Millisecond), end}
	}
	slices.SortFunc(spans, func(x, y span) int { return cmp.Or(x.start.Compare(y.start), cmp.Compare(x.number, y.number)) })
	first := spans[0].start
	slack := func(s span) time.Duration { return time.Duration(max(s.interval, 1000)) * time.Millisecond * 3 / 2 }
	apart := false
	for _, s := range spans {
		if s.start.Sub(first) > slack(s) {
			apart = true
			if !slices.ContainsFunc(spans, func(o span) bool { return s.start.Sub(o.end).Abs() < slack(o)+time.Second }) {
				p.problems.skip(fmt.Errorf("%s: its jobs are shown as if they began together: the times of the logs are those of several runs in "+
					"one folder, of copies, or of a clock that was changed (summer time), and nothing else shows when each began; keep "+
					"the files of each run in a folder of their own, pass fio's JSON report, or use --log_unix_epoch=1", p.title()))
				return
			}
		}
	}
	if !apart {
		return
	}
	for _, s := range spans {
		if by := s.start.Sub(first); by > slack(s) {
			later[s.job] = by
		}
	}
	p.placed = "each job by when its log was last written, less the time of its last row"
	p.problems.note("%s: its jobs ran one after another, by the modification times of their logs: their starts are as "+
		"reliable as these", p.title())
}
