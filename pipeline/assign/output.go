package assign

import (
	"time"

	"github.com/fio2es/fio2es/pipeline/evidence"
)

// Options returns the options of a job of the report.
func (o *Output) Options(job int) JobOptions {
	j := &o.Fio.Jobs[job]
	if j.IsSum {
		return JobOptions{JobName: j.Name, Global: j.Options, IsGroup: true}
	}
	return JobOptions{JobName: j.Name, Own: j.Options, Global: o.Fio.GlobalOptions}
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

// TrustsTimes reports whether fio itself set the times of the files. Then the time of the report's file agrees with the time
// at which fio wrote it.
func (o *Output) TrustsTimes() bool {
	at, _ := o.Written()
	return o.Fio.Timestamp > 0 && !o.File.ModTime.IsZero() && o.File.ModTime.Sub(at).Abs() <= evidence.Apart
}

// Written returns when the last report was written, after all jobs had ended. The timestamp of a report of fio --client
// is the start of the client. So Written returns the file's time, if it is possible. Otherwise it assumes that the jobs
// began with the client. byFile means that it is the time of the file.
func (o *Output) Written() (at time.Time, byFile bool) {
	at = time.UnixMilli(o.Fio.Timestamp)
	switch {
	case o.Fio.Timestamp == 0:
		return o.File.ModTime, true
	case !o.Client || o.Fio.IsLocal:
		return at, false
	}
	type groupKey struct {
		host string
		id   int
	}
	groups, all := map[groupKey]time.Duration{}, map[string]time.Duration{} // how long each ran, and those of each host one after another
	var least, most time.Duration
	for i := range o.Fio.Jobs {
		j, options := &o.Fio.Jobs[i], o.Options(i)
		ramp, delay, _ := options.Waits()
		g := groupKey{j.Host, j.GroupID}
		ran := ramp + delay + time.Duration(options.timesOf(j).Ran)*time.Millisecond
		all[g.host] += max(ran-groups[g], 0)
		groups[g] = max(groups[g], ran)
		least, most = max(least, ran), max(most, all[g.host])
	}
	end := at.Add(least)
	const setup = 30 * time.Second // for connecting and for jobs to prepare
	if at := o.File.ModTime; at.Sub(end) > -time.Second && at.Sub(end) < most-least+setup {
		return at, true
	}
	return end, false
}
