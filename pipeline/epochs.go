package pipeline

import (
	"slices"
	"time"
)

// hasEpochs reports whether the rows of all jobs of an output have absolute times.
func (o *output) hasEpochs() bool {
	return !slices.ContainsFunc(o.jobs(), func(j *job) bool { return j.hasRows && !isEpoch(j) })
}

func isEpoch(j *job) bool { return j.hasRows && j.source != fromReports && j.first > epochTimes }

// placeByEpochs sets the start of jobs whose rows have absolute times. how says how jobs that began apart were placed.
// The first row ends an interval that begins with the first request, and this may come some time after the job's start.
// So a report is better evidence, except for the jobs setBack: the clock of their host was set back while fio ran. fio
// reads the clock for its rows when it starts, and for the report when it ends.
func placeByEpochs(jobs []*job, live bool) (how string, setBack []*job) {
	var first time.Time
	for _, j := range jobs {
		if !isEpoch(j) {
			continue
		}
		at := time.UnixMilli(j.before())
		j.origin = at.UnixMilli()
		if isCertain(j) && j.start.Before(at) && at.Sub(j.start) < time.Hour {
			if !live && at.Sub(j.start) > together && j.endsAfterReport() {
				setBack = append(setBack, j)
			} else {
				at = j.start
			}
		}
		j.moment = moment{at, clockEpoch, errorOfEpoch}
		if j.entry != nil && j.entry.several {
			if end, _ := j.entry.out.written(); end.After(at) {
				j.ran = end.Sub(at).Milliseconds() // the log has all stages
			}
		}
		j.origin = at.UnixMilli()
		if first = earlier(first, at); at.Sub(first).Abs() > time.Duration(max(2*j.interval, 1000))*time.Millisecond {
			how = "each job where the absolute times of its rows put it (log_unix_epoch)"
		}
	}
	return how, setBack
}

// endsAfterReport reports whether the rows of a job, with absolute times, end after the report from which its start was
// derived.
func (j *job) endsAfterReport() bool {
	if j.clock != clockReport {
		return false
	}
	end, _ := j.entry.out.written()
	return time.UnixMilli(j.origin+j.lastRow()).Sub(end) > together
}

// isCertain reports whether the start of a job is known from its report, and not estimated.
func isCertain(j *job) bool {
	if j.start.IsZero() || j.entry == nil {
		return false
	}
	if j.entry.out.reports() > 1 || j.clock == clockStart || j.clock == clockMtime {
		return true
	}
	onHost := slices.Clone(j.entry.out.entries)
	return isOneStage(slices.DeleteFunc(onHost, func(e *entry) bool { return e.Host != j.entry.Host }))
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
	const late = 600_000 // ms: without a report, a first row as late as this is by another clock
	if j.entry == nil {
		return j.first > late+100*j.interval
	}
	id := j.entry.option("log_alternate_epoch_clock_id")
	if id != "" && id != "0" && j.entry.hasOption("log_alternate_epoch") {
		return true
	}
	return j.ran > 0 && j.first > j.ran+10*max(j.interval, 1000)
}
