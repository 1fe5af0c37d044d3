package plan

import (
	"slices"
	"time"
)

// hasEpochs reports whether the rows of all jobs of an output with requests have absolute times.
func (o *Output) hasEpochs() bool {
	return !slices.ContainsFunc(o.jobs(), func(j *Job) bool { return RequestsOf(j.Entry.Job) > 0 && !isEpoch(j) })
}

func isEpoch(j *Job) bool { return j.HasRows && j.Source != FromReports && j.First > EpochTimes }

// placeByEpochs sets the start of jobs whose rows have absolute times. how says how jobs that began apart were placed.
// The first row ends an interval that begins with the first request, and this may come some time after the job's start.
// So other evidence is used if it is precise and earlier, and if the rows end with the job, by its run time. It is not
// used for the jobs contradicted: the clock of their host was set back while fio ran, or their files are not of one run.
func (p placing) placeByEpochs() (how string, contradicted []*Job) {
	var first time.Time
	for _, j := range p.Jobs {
		if !isEpoch(j) {
			continue
		}
		at := moment{time.UnixMilli(j.before()), clockEpoch, max(errorOfEpoch, j.untilFirst())}
		if j.Interval == 0 {
			at.Error = errorOfOneRow
		}
		j.Origin = at.Start.UnixMilli()
		if idle := at.Start.Sub(j.Start); isCertain(j) && idle > 0 && idle < time.Hour {
			switch {
			case !p.ev.Live && idle > together && p.outlasts(j):
				contradicted = append(contradicted, j)
			case j.Error <= at.Error || idle > j.Error+at.Error:
				at.Start, at.Error = j.Start, j.Error
			}
		}
		j.moment = at
		if j.Entry != nil && j.Entry.Several {
			if end, _ := j.Entry.Out.written(); end.After(at.Start) {
				j.Ran = end.Sub(at.Start).Milliseconds() // the log has all stages
			}
		}
		j.Origin = at.Start.UnixMilli()
		if first = Earlier(first, at.Start); at.Start.Sub(first).Abs() > time.Duration(max(2*j.Interval, 1000))*time.Millisecond {
			how = "each job where the absolute times of its rows put it (log_unix_epoch)"
		}
	}
	return how, contradicted
}

// untilFirst is how long after the start of a job its first request may have completed, by its first row: after the
// slowest latency, and three times the usual time between requests.
func (j *Job) untilFirst() time.Duration {
	if j.Source != FromHist || len(j.Log.Rows) == 0 || len(j.Log.Rows[0].Bins) == 0 {
		return 0
	}
	row := j.Log.Rows[0]
	_, slowest := row.Layout.Bounds(int(row.Bins[len(row.Bins)-1].Index))
	return min(time.Duration(slowest), time.Minute) + 3*time.Duration(j.Interval)*time.Millisecond/time.Duration(row.Total)
}

// outlasts reports whether the rows of a job, with absolute times, end after the job, by its start and its run time.
func (p placing) outlasts(j *Job) bool {
	end := j.Start.Add(j.Entry.ranFor())
	return j.Entry.Ran > 0 && time.UnixMilli(j.Origin+p.ev.lastRows([]*Job{j})[0]).Sub(end) > together
}

// isCertain reports whether the start of a job is known from its report or the times of its files to some tenths of a
// second.
func isCertain(j *Job) bool {
	return j.Entry != nil && !j.Start.IsZero() && j.Error <= together
}

// placeByOtherClock sets the start of jobs whose rows count from the start of the machine (log_alternate_epoch). Such
// times are neither since the job's start nor since 1970. They show how far apart the jobs of one host began. The
// report shows when. how says how jobs that began apart were placed. without has the jobs without a report.
func placeByOtherClock(jobs []*Job) (how string, without []*Job) {
	latest := map[*Output]int64{} // end of the last job, by the other clock
	for _, j := range jobs {
		if isOtherClock(j) && j.Entry != nil {
			latest[j.Entry.Out] = max(latest[j.Entry.Out], j.before()+j.Ran)
		}
	}
	for _, j := range jobs {
		if !isOtherClock(j) {
			continue
		}
		if j.Origin = j.before(); j.Entry == nil {
			without = append(without, j)
			continue
		}
		if end, by := j.Entry.Out.written(); !end.IsZero() {
			before := latest[j.Entry.Out] - j.Origin
			j.moment = moment{end.Add(-time.Duration(before) * time.Millisecond), by, errorOfReport}
			if before > j.Ran+1000 {
				how = "each job where the times of its rows put it (log_alternate_epoch)"
			}
		}
	}
	return how, without
}

// isOtherClock reports whether the times of a job's rows count neither from its start nor from 1970. Its options say
// this, or the first row comes long after the job's end.
func isOtherClock(j *Job) bool {
	if !j.HasRows || j.Source == FromReports || isEpoch(j) {
		return false
	}
	const late = 600_000 // ms; without a report, a first row this late is by another clock
	if j.Entry == nil {
		return j.First > late+100*j.Interval
	}
	id := j.Entry.option("log_alternate_epoch_clock_id")
	if id != "" && id != "0" && j.Entry.HasOption("log_alternate_epoch") {
		return true
	}
	return j.Ran > 0 && j.First > j.Ran+10*max(j.Interval, 1000)
}
