package plan

import (
	"errors"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Evidence is what the files of a run show before their rows are read.
type Evidence struct {
	Run     *assign.Run
	Config  map[string]any   // of CBT
	Outputs []*Output        // what fio printed
	Logs    []*Log           // of histograms: one for each job, also if a file has several jobs
	Others  []*Log           // the same of all other kinds, if NeedsOthers
	Written map[JobKey]int64 // bytes that fio wrote into all logs of a job, about
	Rows    map[Need]Rows    // of whole logs, as far as plans have needed them
	Live    bool             // fio still writes the files
}

// Need is something about all rows of a log that a plan needs to know. Few plans need any before their rows are read.
type Need struct {
	Log  *Log
	What What
	Lag  int // for OwnSums: of an [evidence.Undoubler]
}

// What is needed of the rows of a log.
type What uint8

// What may be needed.
const (
	OwnSums      What = iota // the sums of the rows, without what an [evidence.Undoubler] takes away; an error if a row is damaged
	ReadableSums             // the sums of the rows that can be read
	LastRow                  // the time of the last row, as written; rows with impossible times do not count
)

// Rows is what all rows of a log show: that which was needed.
type Rows struct {
	Sums *evidence.Sums
	Last int64
	Err  error
}

// Log is a log and what its first rows show.
type Log struct {
	assign.Log
	Segment int            // of a log of several jobs, from 0; else -1
	Hint    hist.Hint      // of its bins
	Parts   *evidence.Sums // sums of all rows of its segment, if the log is of several jobs
	evidence.Opening
}

// fit reports whether a report's bins contain all rows of some logs, so that the logs can be
// of the jobs of that report. The other requests of the report were not logged.
func fit(s *evidence.Sums, jobs []*Entry) bool {
	if slices.ContainsFunc(jobs, func(e *Entry) bool { return e.Mixed != nil }) { // only rows have directions
		rows, all := &hist.Histogram{}, &hist.Histogram{}
		for d := range s {
			rows.Merge(&s[d])
		}
		for _, e := range jobs {
			for _, of := range e.All() {
				all.Merge(e.Histogram(of))
			}
		}
		if rows.IsEmpty() || all.IsEmpty() {
			return rows.IsEmpty()
		}
		layout := rows.Layout().Merged(all.Layout())
		return all.To(layout).Subtract(rows.To(layout))
	}
	for d := range fiolog.Direction(fiolog.Directions) {
		if s[d].IsEmpty() {
			continue
		}
		all, total := &hist.Histogram{}, uint64(0)
		for _, e := range jobs {
			all.Merge(e.Histogram(&e.Directions[d]))
			of := &e.Directions[d]
			if total += of.TotalIOs; of.Uncounted { // terse output has whole requests a second
				total += uint64((of.IOPS+1)*float64(of.Runtime)/1000) + 1
			}
		}
		if all.IsEmpty() && s[d].Total() <= float64(total) { // without bins there is only a total
			continue
		}
		layout := s[d].Layout().Merged(all.Layout())
		if !all.To(layout).Subtract(s[d].To(layout)) {
			return false
		}
	}
	return true
}

// NeedsOthers reports whether logs of completions may be needed. That is so if the user wants them (completions), or if a
// job has no histogram log with rows.
func (ev *Evidence) NeedsOthers(completions bool) bool {
	if completions || len(ev.Logs) == 0 {
		return true
	}
	have := map[JobKey]bool{}
	for _, log := range ev.Logs {
		if !log.HasRows || log.IsZero {
			return true
		}
		have[KeyOf(log.Log)] = true
		if log.Segment > 0 {
			have[JobKey{log.Host, log.Volume, log.Segment + 1}] = true
		}
	}
	return slices.ContainsFunc(ev.Run.Others, func(log assign.Log) bool { return log.Kind == fiolog.Clat && !have[KeyOf(log)] })
}

// HintFor returns what is known of the bins of a log besides its number of columns. The user's hint comes first.
// Otherwise it comes from the reports that may cover the log, if they agree.
func (ev *Evidence) HintFor(log assign.Log, said hist.Hint) hist.Hint {
	var hints []hist.Hint
	half := false
	j := NewJob(&Log{Log: log, Segment: -1})
	for _, out := range ev.Outputs {
		if out.mayCover(j, []*Job{j}) {
			for i := range out.Fio.Jobs {
				hints = append(hints, out.Fio.Hint(i))
			}
			half = half || out.Fio.WritesHalf()
		}
	}
	hint := said.Or(hist.Hint{Half: half})
	if hints = slices.Compact(hints); len(hints) == 1 {
		return hint.Or(hints[0])
	}
	for _, other := range hints { // options of jobs may differ, and all are of one fio
		if other.Unit != hints[0].Unit {
			return hint
		}
		hint = hint.Or(hist.Hint{Unit: other.Unit})
	}
	return hint
}

// know returns what all rows of a log show. If that is not known, it is needed.
func (p *planner) know(n Need) Rows {
	rows, ok := p.ev.Rows[n]
	if !ok {
		rows.Err = errNeeded
		p.needs[n] = true
	}
	return rows
}

// errNeeded means that a plan has to be made again.
var errNeeded = errors.New("its rows were not read yet")

// lastRows returns the time of the last row of each job in milliseconds since the start of the job.
func (p *planner) lastRows(jobs []*Job) []int64 {
	times := make([]int64, len(jobs))
	for i, j := range jobs {
		if times[i] = j.Ran; j.ReadsLog() || j.Entry == nil {
			times[i] = max(p.know(Need{Log: j.Log, What: LastRow}).Last-j.Origin, 0)
		}
	}
	return times
}

// Output is what one fio printed, as far as it is of the run.
type Output struct {
	assign.Report
	evidence.Execution
	host    string   // of its jobs, by its own name or by the names of their logs
	Live    bool     // fio still writes it
	doubted bool     // that nothing says when its groups of jobs ran was said
	Entries []*Entry // entries of its jobs; none if it is not of the run
	First   *Output  // that of another call of fio, with which the file begins; nil if this is it
}

// Options returns the options of a job of the report.
func (o *Output) Options(job int) jobOptions {
	j := &o.Fio.Jobs[job]
	if j.IsSum {
		return jobOptions{job: j.Name, global: j.Options, isGroup: true}
	}
	return jobOptions{job: j.Name, own: j.Options, global: o.Fio.GlobalOptions}
}

// names reports whether a job of this output may have logs of that prefix by its options.
func (o *Output) names(prefix string) bool {
	for i := range o.Fio.Jobs {
		if o.Options(i).mayWrite(prefix) {
			return true
		}
	}
	return false
}

// trustsTimes reports whether fio itself set the times of the files. Then the time of the report's file agrees with the time
// at which fio wrote it.
func (o *Output) trustsTimes() bool {
	at, _ := o.written()
	return o.Fio.Timestamp > 0 && !o.File.ModTime.IsZero() && o.File.ModTime.Sub(at).Abs() <= evidence.Apart
}

// step returns how finely the times of files are recorded. Many archives, programs that copy, and file systems keep
// whole or even seconds.
func step(files ...*evidence.File) (step time.Duration) {
	even := true
	for _, f := range files {
		if f.ModTime.Nanosecond() == 0 {
			step, even = max(step, f.ModStep, time.Second), even && f.ModTime.Unix()%2 == 0
		}
	}
	if step > 0 && even {
		step = 2 * time.Second
	}
	return step
}

// written returns when the last report was written, after all jobs had ended. The timestamp of a report of fio --client
// is the start of the client. So written returns the file's time, if it is possible. Otherwise it assumes that the jobs
// began with the client.
func (o *Output) written() (time.Time, Clock) {
	at := time.UnixMilli(o.Fio.Timestamp)
	switch {
	case o.Fio.Timestamp == 0:
		return o.File.ModTime, clockMtime
	case !o.Client || o.Fio.IsLocal:
		return at, clockReport
	}
	groups, all := map[groupKey]time.Duration{}, map[string]time.Duration{} // how long each ran, and those of each host one after another
	for i := range o.Fio.Jobs {
		j, options := &o.Fio.Jobs[i], o.Options(i)
		ramp, delay, _ := options.waits()
		g := groupKey{j.Host, j.GroupID}
		ran := ramp + delay + time.Duration(options.timesOf(j).Ran)*time.Millisecond
		all[g.host] += max(ran-groups[g], 0)
		groups[g] = max(groups[g], ran)
	}
	least, most := longestIn(groups), longestIn(all)
	end := at.Add(least)
	const setup = 30 * time.Second // for connecting and for jobs to prepare
	if at := o.File.ModTime; at.Sub(end) > -time.Second && at.Sub(end) < most-least+setup {
		return at, clockMtime
	}
	return end, clockReport
}

// longestIn returns the longest of some times.
func longestIn[K comparable](times map[K]time.Duration) (longest time.Duration) {
	for _, t := range times {
		longest = max(longest, t)
	}
	return longest
}
