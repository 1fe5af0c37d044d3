package pipeline

import (
	"path"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// evidence is what the files of a run show before their rows are read.
type evidence struct {
	run     *cbt.Run
	config  map[string]any   // of CBT
	outputs []*output        // what fio printed
	logs    []*logHead       // of histograms: one for each job, also if a file has several jobs
	others  []*logHead       // the same of all other kinds, if needsOthers
	written map[jobKey]int64 // bytes that fio wrote into all logs of a job, about
	reader  reader
	live    bool // fio still writes the files
}

// reader reads whole logs. Few runs need that before their rows are read.
type reader interface {
	// sums adds up the rows of a log. lag is that of the rows that fio --client adds. It fails if a row is damaged.
	sums(l *logHead, lag int) (*rowSums, error)
	// last returns the time of the last row of the log of each job, as written. Rows with impossible times do not count.
	last(jobs []*job) []int64
}

// logHead is a log and what its first rows show.
type logHead struct {
	cbt.Log
	segment int       // of a log of several jobs, from 0; else -1
	hint    hist.Hint // of its bins
	parts   *rowSums  // sums of all rows of its segment, if the log is of several jobs
	rows    firstRows
	head
	damage error // why it cannot be read at all
}

// head is what the first row of a log shows.
type head struct {
	hasRows bool
	isJunk  bool        // there are lines, and none of them is a row
	isZero  bool        // the first row has no requests: fio writes such rows with clat_percentiles=0, and no others
	layout  hist.Layout // of histograms
	first   int64       // time of the first row, as written
}

// firstRows are the first rows of a job in a log: enough to measure the interval and when rows are due.
type firstRows []*fiolog.Record

// isFio3 reports whether the rows of a log that is no histogram log can only be from fio 3.
func (rows firstRows) isFio3() bool {
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(rec *fiolog.Record) bool { return !rec.IsFio3 })
}

// times returns the times of the rows of each direction, as written.
func (rows firstRows) times() (times [fiolog.Directions][]int64) {
	for _, rec := range rows {
		times[rec.Direction] = append(times[rec.Direction], rec.Time)
	}
	return times
}

// late returns how many milliseconds the first row came after it was due, by the next rows. It is 0 if the interval is
// unknown.
func (rows firstRows) late(interval int64) (late int64) {
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
func (rows firstRows) measure() int64 {
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

// isAveraged reports whether a log has averages. A log without rows counts as one of completions. Reading it then
// reports what is wrong.
func (l *logHead) isAveraged() bool {
	return len(l.rows) > 0 && (l.rows[0].BlockSize == 0 || l.rows[0].Averaged)
}

func newJob(l *logHead) *job {
	return &job{jobKey: keyOf(l.Log), jobRows: jobRows{log: l}}
}

func keyOf(log cbt.Log) jobKey { return jobKey{log.Host, log.Volume, max(log.Job, 1)} }

func (j *job) folder() string { return path.Dir(j.log.File.Path) }

// jobLogs finds the jobs of a run by its logs.
type jobLogs struct {
	*evidence
	opt      planOptions
	problems *Problems
}

// find returns the jobs of all logs. averaged has the logs of averages.
func (l jobLogs) find() (jobs []*job, averaged []*logHead) {
	for _, log := range l.logs {
		j := newJob(log)
		j.head, j.damage = log.head, log.damage
		if log.segment >= 0 {
			j.number = log.segment + 1
		}
		jobs = append(jobs, j)
	}
	if !l.needsOthers(l.opt.completions) {
		return jobs, nil
	}
	raw, averaged := l.raw()
	return addRaw(jobs, raw), averaged
}

// needsOthers reports whether logs of completions may be needed. That is so if the user wants them (completions), or if a job has no
// histogram log with rows.
func (ev *evidence) needsOthers(completions bool) bool {
	if completions || len(ev.logs) == 0 {
		return true
	}
	have := map[jobKey]bool{}
	for _, log := range ev.logs {
		if !log.hasRows || log.isZero {
			return true
		}
		have[keyOf(log.Log)] = true
		if log.segment > 0 {
			have[jobKey{log.Host, log.Volume, log.segment + 1}] = true
		}
	}
	return slices.ContainsFunc(ev.run.Others, func(log cbt.Log) bool { return log.Kind == fiolog.Clat && !have[keyOf(log)] })
}

// addRaw adds logs of completions to the jobs that wrote them, and the jobs that have only
// such logs.
func addRaw(jobs []*job, logs []*logHead) []*job {
	for _, log := range logs {
		if j := writerOf(jobs, log); j != nil {
			j.raw = log
			continue
		}
		j := newJob(log)
		j.raw = log
		if log.segment >= 0 {
			j.number = log.segment + 1
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// writerOf returns the job that wrote a log of completions. It has the same prefix. Otherwise it is the only job of
// that number, because prefixes may differ by the kind of log.
func writerOf(jobs []*job, log *logHead) *job {
	var same []*job
	for _, j := range jobs {
		if j.jobKey != keyOf(log.Log) || j.log.segment >= 0 || log.segment >= 0 || j.raw != nil {
			continue
		}
		if j.log.Prefix == log.Prefix && j.folder() == path.Dir(log.File.Path) {
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
func (l jobLogs) raw() (raw, averaged []*logHead) {
	var total []*logHead
	for _, log := range l.others {
		switch {
		case log.Stored || log.Kind == fiolog.Slat:
		case log.Kind == fiolog.IOPS || log.Kind == fiolog.BW || log.isAveraged():
			if log.Kind != fiolog.Lat && log.segment <= 0 {
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
			"submission", l.opt.title)
		raw = total
	}
	return raw, averaged
}
