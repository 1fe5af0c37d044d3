package plan

import (
	"errors"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Evidence is what the files of a run show before their rows are read.
type Evidence struct {
	Run     *cbt.Run
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
	Lag  int // for OwnSums: of an [Undoubler]
}

// What is needed of the rows of a log.
type What uint8

// What may be needed.
const (
	OwnSums      What = iota // the sums of the rows, without what an [Undoubler] takes away; an error if a row is damaged
	ReadableSums             // the sums of the rows that can be read
	LastRow                  // the time of the last row, as written; rows with impossible times do not count
)

// Rows is what all rows of a log show: that which was needed.
type Rows struct {
	Sums *Sums
	Last int64
	Err  error
}

// Log is a log and what its first rows show.
type Log struct {
	cbt.Log
	Segment int       // of a log of several jobs, from 0; else -1
	Hint    hist.Hint // of its bins
	Parts   *Sums     // sums of all rows of its segment, if the log is of several jobs
	Rows    FirstRows
	Head
	Damage error // why it cannot be read at all
}

// IsAveraged reports whether a log has averages. A log without rows counts as one of completions. Reading it then
// reports what is wrong.
func (l *Log) IsAveraged() bool {
	return len(l.Rows) > 0 && (l.Rows[0].BlockSize == 0 || l.Rows[0].Averaged)
}

// Head is what the first row of a log shows.
type Head struct {
	HasRows bool
	IsJunk  bool        // there are lines, and none of them is a row
	IsZero  bool        // the first row has no requests: fio writes such rows with clat_percentiles=0, and no others
	Layout  hist.Layout // of histograms
	First   int64       // time of the first row, as written
}

// FirstRows are the first rows of a job in a log: enough to measure the interval and when rows are due.
type FirstRows []*fiolog.Record

// measure returns the time between the rows of a direction, in milliseconds: the median for a part of 2, the lower
// quartile for 4. It replaces the log's interval if no option has it. It is 0 if there are too few rows.
func (rows FirstRows) measure(part int) int64 {
	var steps []int64
	var last [fiolog.Directions]int64
	for _, rec := range rows {
		if last[rec.Direction] > 0 && rec.Time > last[rec.Direction] { // after a stall fio writes several at one time
			steps = append(steps, rec.Time-last[rec.Direction])
		}
		last[rec.Direction] = rec.Time
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return max(evidence.Nominal(steps[(len(steps)-1)/part]), 1)
}

// Sums are the sums of a log's rows in each direction.
type Sums [fiolog.Directions]hist.Histogram

// Add adds a row.
func (s *Sums) Add(rec *fiolog.Record) {
	s[rec.Direction].AddBins(rec.Layout, rec.Bins)
}

// merge adds all rows of other logs.
func (s *Sums) merge(o *Sums) {
	for d := range o {
		s[d].Merge(&o[d])
	}
}

// fit reports whether a report's bins contain all rows of some logs, so that the logs can be
// of the jobs of that report. The other requests of the report were not logged.
func (s *Sums) fit(jobs []*Entry) bool {
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
	return slices.ContainsFunc(ev.Run.Others, func(log cbt.Log) bool { return log.Kind == fiolog.Clat && !have[KeyOf(log)] })
}

// HintFor returns what is known of the bins of a log besides its number of columns. The user's hint comes first.
// Otherwise it comes from the reports that may cover the log, if they agree.
func (ev *Evidence) HintFor(log cbt.Log, said hist.Hint) hist.Hint {
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
		*p.needs = append(*p.needs, n)
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
	cbt.Report
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

// Undoubler undoes an error of fio --client, which adds to each row that it writes the counts
// of an earlier row of its direction, as written. fio 3.33 and 3.42 add the row before the
// last one (lag 2), versions of 2016 the last one (lag 1).
type Undoubler struct {
	Lag  int
	last [fiolog.Directions][][]hist.Bin // the latest rows of a direction as written, oldest first
}

// errNotDoubled is a row that has fewer requests in a bin than the row that should be part of
// it.
var errNotDoubled = errors.New("the row lacks requests of an earlier one, which fio --client should have added")

// Row subtracts the earlier row from rec's bins.
func (u *Undoubler) Row(rec *fiolog.Record) error {
	if u.Lag == 0 {
		return nil
	}
	last := &u.last[rec.Direction]
	*last = append(*last, slices.Clone(rec.Bins))
	if len(*last) <= u.Lag {
		return nil
	}
	others := (*last)[0]
	*last = (*last)[1:]
	var own []hist.Bin
	total := uint64(0)
	for _, b := range rec.Bins { // both are in ascending order
		if len(others) > 0 && others[0].Index <= b.Index {
			if others[0].Index < b.Index || others[0].Count > b.Count {
				return errNotDoubled
			}
			b.Count -= others[0].Count
			others = others[1:]
		}
		if b.Count > 0 {
			own = append(own, b)
			total += b.Count
		}
	}
	if len(others) > 0 {
		return errNotDoubled
	}
	rec.Bins, rec.Total = own, total
	return nil
}
