package pipeline

import (
	"slices"
	"time"
)

// hasEpochs reports whether the rows of all jobs of an output with requests have absolute times.
func (o *output) hasEpochs() bool {
	return !slices.ContainsFunc(o.jobs(), func(j *job) bool { return requestsOf(j.entry.Job) > 0 && !isEpoch(j) })
}

func isEpoch(j *job) bool { return j.hasRows && j.source != fromReports && j.first > epochTimes }

// placeByEpochs sets the start of jobs whose rows have absolute times. how says how jobs that began apart were placed.
// The first row ends an interval that begins with the first request, and this may come some time after the job's start.
// So other evidence is used if it is precise and earlier, and if the rows end with the job, by its run time. It is not
// used for the jobs contradicted: the clock of their host was set back while fio ran, or their files are not of one run.
func (p placing) placeByEpochs() (how string, contradicted []*job) {
	var first time.Time
	for _, j := range p.jobs {
		if !isEpoch(j) {
			continue
		}
		at := moment{time.UnixMilli(j.before()), clockEpoch, errorOfEpoch}
		if j.interval == 0 {
			at.error = errorOfOneRow
		}
		j.origin = at.start.UnixMilli()
		if idle := at.start.Sub(j.start); isCertain(j) && idle > 0 && idle < time.Hour {
			switch {
			case !p.ev.live && idle > together && p.outlasts(j):
				contradicted = append(contradicted, j)
			case j.error <= at.error || idle > j.error+at.error:
				at.start, at.error = j.start, j.error
			}
		}
		j.moment = at
		if j.entry != nil && j.entry.several {
			if end, _ := j.entry.out.written(); end.After(at.start) {
				j.ran = end.Sub(at.start).Milliseconds() // the log has all stages
			}
		}
		j.origin = at.start.UnixMilli()
		if first = earlier(first, at.start); at.start.Sub(first).Abs() > time.Duration(max(2*j.interval, 1000))*time.Millisecond {
			how = "each job where the absolute times of its rows put it (log_unix_epoch)"
		}
	}
	return how, contradicted
}

// outlasts reports whether the rows of a job, with absolute times, end after the job, by its start and its run time.
func (p placing) outlasts(j *job) bool {
	end := j.start.Add(j.entry.ranFor())
	return j.entry.ran > 0 && time.UnixMilli(j.origin+p.ev.lastRows([]*job{j})[0]).Sub(end) > together
}

// isCertain reports whether the start of a job is known from its report or the times of its files to some tenths of a
// second.
func isCertain(j *job) bool {
	return j.entry != nil && !j.start.IsZero() && j.error <= together
}

// placeByOtherClock sets the start of jobs whose rows count from the start of the machine (log_alternate_epoch). Such
// times are neither since the job's start nor since 1970. They show how far apart the jobs of one host began. The
// report shows when. how says how jobs that began apart were placed. without has the jobs without a report.
func placeByOtherClock(jobs []*job) (how string, without []*job) {
	latest := map[*output]int64{} // end of the last job, by the other clock
	for _, j := range jobs {
		if isOtherClock(j) && j.entry != nil {
			latest[j.entry.out] = max(latest[j.entry.out], j.before()+j.ran)
		}
	}
	for _, j := range jobs {
		if !isOtherClock(j) {
			continue
		}
		if j.origin = j.before(); j.entry == nil {
			without = append(without, j)
			continue
		}
		if end, by := j.entry.out.written(); !end.IsZero() {
			before := latest[j.entry.out] - j.origin
			j.moment = moment{end.Add(-time.Duration(before) * time.Millisecond), by, errorOfReport}
			if before > j.ran+1000 {
				how = "each job where the times of its rows put it (log_alternate_epoch)"
			}
		}
	}
	return how, without
}

// isOtherClock reports whether the times of a job's rows count neither from its start nor from 1970. Its options say
// this, or the first row comes long after the job's end.
func isOtherClock(j *job) bool {
	if !j.hasRows || j.source == fromReports || isEpoch(j) {
		return false
	}
	const late = 600_000 // ms; without a report, a first row this late is by another clock
	if j.entry == nil {
		return j.first > late+100*j.interval
	}
	id := j.entry.option("log_alternate_epoch_clock_id")
	if id != "" && id != "0" && j.entry.hasOption("log_alternate_epoch") {
		return true
	}
	return j.ran > 0 && j.first > j.ran+10*max(j.interval, 1000)
}
