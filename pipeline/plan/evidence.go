package plan

import (
	"path"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Evidence is what the files of a run show before their rows are read.
type Evidence struct {
	Run     *cbt.Run
	Config  map[string]any   // of CBT
	Outputs []*Output        // what fio printed
	Logs    []*Log           // of histograms: one for each job, also if a file has several jobs
	Others  []*Log           // the same of all other kinds, if needsOthers
	Written map[JobKey]int64 // bytes that fio wrote into all logs of a job, about
	Reader  reader
	Live    bool // fio still writes the files
}

// Reader reads whole logs. Few runs need that before their rows are read.
type reader interface {
	// Sums adds up the rows of a log. lag is that of the rows that fio --client adds. It fails if a row is damaged.
	Sums(l *Log, lag int) (*Sums, error)
	// Last returns the time of the last row of the log of each job, as written. Rows with impossible times do not count.
	Last(jobs []*Job) []int64
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

// isFio3 reports whether the rows of a log that is no histogram log can only be from fio 3.
func (rows FirstRows) isFio3() bool {
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(rec *fiolog.Record) bool { return !rec.IsFio3 })
}

// times returns the times of the rows of each direction, as written.
func (rows FirstRows) times() (times [fiolog.Directions][]int64) {
	for _, rec := range rows {
		times[rec.Direction] = append(times[rec.Direction], rec.Time)
	}
	return times
}

// late returns how many milliseconds the first row came after it was due, by the next rows. It is 0 if the interval is
// unknown.
func (rows FirstRows) late(interval int64) (late int64) {
	if interval == 0 {
		return 0
	}
	for _, times := range rows.times() {
		if len(times) > 0 {
			_, latest := align.Began(interval, times)
			late = max(late, rows[0].Time-interval-latest)
		}
	}
	return late
}

// measure returns the median time between the rows of a direction, in milliseconds. It replaces the log's interval if no
// option has it. It is 0 if there are too few rows.
func (rows FirstRows) measure() int64 {
	var steps []int64
	var last [fiolog.Directions]int64
	for _, rec := range rows {
		if last[rec.Direction] > 0 {
			steps = append(steps, rec.Time-last[rec.Direction])
		}
		last[rec.Direction] = rec.Time
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return max(nominal(steps[(len(steps)-1)/2]), 1)
}

// nominal returns the interval that people set, in milliseconds, for a measured one: rows and reports come a little late.
func nominal(ms int64) int64 {
	if hundreds := (ms + 50) / 100 * 100; max(ms-hundreds, hundreds-ms)*20 <= ms {
		return hundreds
	}
	return (ms + 5) / 10 * 10
}

// IsAveraged reports whether a log has averages. A log without rows counts as one of completions. Reading it then
// reports what is wrong.
func (l *Log) IsAveraged() bool {
	return len(l.Rows) > 0 && (l.Rows[0].BlockSize == 0 || l.Rows[0].Averaged)
}

func NewJob(l *Log) *Job {
	return &Job{JobKey: KeyOf(l.Log), jobRows: jobRows{Log: l}}
}

func KeyOf(log cbt.Log) JobKey { return JobKey{log.Host, log.Volume, max(log.Job, 1)} }

func (j *Job) folder() string { return path.Dir(j.Log.File.Path) }

// jobLogs finds the jobs of a run by its logs.
type jobLogs struct {
	*Evidence
	opt      Options
	problems *Remarks
}

// find returns the jobs of all logs. averaged has the logs of averages.
func (l jobLogs) find() (jobs []*Job, averaged []*Log) {
	for _, log := range l.Logs {
		j := NewJob(log)
		j.Head, j.damage = log.Head, log.Damage
		if log.Segment >= 0 {
			j.Number = log.Segment + 1
		}
		jobs = append(jobs, j)
	}
	if !l.NeedsOthers(l.opt.Completions) {
		return jobs, nil
	}
	raw, averaged := l.raw()
	return addRaw(jobs, raw), averaged
}

// NeedsOthers reports whether logs of completions may be needed. That is so if the user wants them (completions), or if a job has no
// histogram log with rows.
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

// addRaw adds logs of completions to the jobs that wrote them, and the jobs that have only
// such logs.
func addRaw(jobs []*Job, logs []*Log) []*Job {
	for _, log := range logs {
		if j := writerOf(jobs, log); j != nil {
			j.raw = log
			continue
		}
		j := NewJob(log)
		j.raw = log
		if log.Segment >= 0 {
			j.Number = log.Segment + 1
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// writerOf returns the job that wrote a log of completions. It has the same prefix. Otherwise it is the only job of
// that number, because prefixes may differ by the kind of log.
func writerOf(jobs []*Job, log *Log) *Job {
	var same []*Job
	for _, j := range jobs {
		if j.JobKey != KeyOf(log.Log) || j.Log.Segment >= 0 || log.Segment >= 0 || j.raw != nil {
			continue
		}
		if j.Log.Prefix == log.Prefix && j.folder() == path.Dir(log.File.Path) {
			return j
		}
		same = append(same, j)
	}
	if len(same) == 1 {
		return same[0]
	}
	return nil
}

// raw returns the logs of single completions, and the logs of averages (log_avg_msec) of latency, rate and bandwidth,
// which have no percentiles. Without logs of completion latency it returns those of total latency.
func (l jobLogs) raw() (raw, averaged []*Log) {
	var total []*Log
	for _, log := range l.Others {
		switch {
		case log.Stored || log.Kind == fiolog.Slat:
		case log.Kind == fiolog.IOPS || log.Kind == fiolog.BW || log.IsAveraged():
			if log.Kind != fiolog.Lat && log.Segment <= 0 {
				averaged = append(averaged, log)
			}
		case log.Kind == fiolog.Clat:
			raw = append(raw, log)
		case log.Kind == fiolog.Lat:
			total = append(total, log)
		}
	}
	if len(raw) == 0 && len(total) > 0 {
		l.problems.note("%s: no logs of completion latency: those of total latency (_lat) are used, which begins with "+
			"submission", l.opt.Title)
		raw = total
	}
	return raw, averaged
}
