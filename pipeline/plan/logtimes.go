package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// lastRows returns the time of the last row of each job in milliseconds since the start of the job.
func (ev *Evidence) lastRows(jobs []*Job) []int64 {
	times := make([]int64, len(jobs))
	var read []*Job // the logs of these
	var places []int
	for i, j := range jobs {
		if times[i] = j.Ran; j.ReadsLog() || j.Entry == nil {
			read, places = append(read, j), append(places, i)
		}
	}
	if len(read) == 0 {
		return times
	}
	for i, last := range ev.Reader.Last(read) {
		times[places[i]] = max(last-read[i].Origin, 0)
	}
	return times
}

// placeByLogs places jobs without reports by the modification times of their logs. It returns how much later than the
// first job of its host each job began. Files that were copied have the time of the copy. So it places only logs that
// follow one another.
func (p placing) placeByLogs() map[*Job]time.Duration {
	later := map[*Job]time.Duration{}
	byHost := map[string][]*Job{}
	for _, j := range p.Jobs {
		if j.Start.IsZero() && j.HasRows && !j.Log.File.ModTime.IsZero() {
			byHost[j.Host] = append(byHost[j.Host], j)
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
func mayFollow(jobs []*Job) bool {
	first, last := jobs[0].Log.File.ModTime, jobs[0].Log.File.ModTime
	shortest := time.Duration(1<<62 - 1)
	for _, j := range jobs {
		at := j.Log.File.ModTime
		first = Earlier(first, at)
		if at.After(last) {
			last = at
		}
		shortest = min(shortest, time.Duration(j.leastRows()*max(j.Interval, 1))*time.Millisecond)
	}
	return last.Sub(first) > max(shortest, time.Second)
}

// leastRows returns a lower bound for the number of rows of each direction in a job's log, from its size.
func (j *Job) leastRows() int64 {
	const longest = 6 // bytes for each bin, as an average over a row: most bins are "0, "
	if !j.HasRows || j.Log.File.Size <= 0 || j.Log.Segment >= 0 {
		return 0
	}
	return j.Log.File.Size / (longest * int64(j.Layout.Len())) / fiolog.Directions
}

// placeChain places the jobs of one host, if each began when the one before had ended.
func (p placing) placeChain(jobs []*Job, later map[*Job]time.Duration) {
	type span struct {
		*Job
		start, end time.Time
	}
	spans := make([]span, len(jobs))
	for i, last := range p.ev.lastRows(jobs) {
		end := jobs[i].Log.File.ModTime
		spans[i] = span{jobs[i], end.Add(-time.Duration(last) * time.Millisecond), end}
	}
	slices.SortFunc(spans, func(x, y span) int { return cmp.Or(x.start.Compare(y.start), cmp.Compare(x.Number, y.Number)) })
	first := spans[0].start
	slack := func(s span) time.Duration { return time.Duration(max(s.Interval, 1000)) * time.Millisecond * 3 / 2 }
	apart := false
	for _, s := range spans {
		if s.start.Sub(first) > slack(s) {
			apart = true
			if !slices.ContainsFunc(spans, func(o span) bool { return s.start.Sub(o.end).Abs() < slack(o)+time.Second }) {
				p.problems.skip(fmt.Errorf("%s: its jobs are shown as if they began together: the times of the logs are those of several runs in "+
					"one folder, of copies, or of a clock that was changed (summer time), and nothing else shows when each began; keep "+
					"the files of each run in a folder of their own, pass fio's JSON report, or use --log_unix_epoch=1", p.Title()))
				return
			}
		}
	}
	if !apart {
		return
	}
	for _, s := range spans {
		if by := s.start.Sub(first); by > slack(s) {
			later[s.Job] = by
		}
	}
	p.Placed = "each job by when its log was last written, less the time of its last row"
	p.problems.note("%s: its jobs ran one after another, by the modification times of their logs: their starts are as "+
		"reliable as these", p.Title())
}
