package pipeline

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// attribution finds the entry of fio's outputs that covers each job.
type attribution struct {
	outputs  []*output
	reader   reader
	problems *Problems
}

// attribute sets the jobs of each entry and the entry of each job. It returns all entries of the run. Logs are numbered
// like fio's jobs, over all groups.
func (a attribution) attribute(jobs []*job) (all []*entry) {
	replaced := a.likeliestFirst(jobs)
	for _, out := range a.outputs {
		mine := a.mine(out, jobs)
		if out.host = out.Host; len(mine) > 0 && !out.client {
			out.host = mine[0].host
		}
		switch entries := newEntries(out); {
		case out.stale:
			continue
		case len(mine) == 0 && replaced[out] != nil:
			a.problems.note("%s: the logs that it names are of another execution of fio, that of %s: it is not used",
				out.File.Name(), replaced[out].File.Name())
			continue
		case len(mine) == 0 && len(jobs) > 0 && !out.Named && !out.isOfMissingHost(jobs):
			a.problems.note("%s: no log here belongs to the jobs of this report: it is not used", out.File.Name())
			continue
		case out.client:
			out.entries = a.clients(entries, mine)
		default:
			out.entries = a.numbers(out, entries, mine)
		}
		all = append(all, out.entries...)
	}
	return all
}

// isOfMissingHost reports whether an output is of a host without any log, as its name says.
func (o *output) isOfMissingHost(jobs []*job) bool {
	return o.Host != "" && !o.Candidate && !slices.ContainsFunc(jobs, func(j *job) bool { return j.host == o.Host })
}

// likeliestFirst sorts outputs that name the same logs. Outputs whose bins contain the rows come first. Among equals
// the last written one comes first, because fio overwrites logs of the same name. It returns the likeliest output for
// each of the others.
func (a attribution) likeliestFirst(jobs []*job) (replaced map[*output]*output) {
	type logs struct{ host, folder, prefix string }
	of := func(j *job) logs { return logs{j.host, j.folder(), j.log.Prefix} }
	places := map[logs][]int{} // of outputs
	for i, out := range a.outputs {
		named := slices.IndexFunc(jobs, func(j *job) bool { return out.names(j.log.Prefix) && out.mayCover(j, jobs) })
		if named >= 0 && !out.Named && !out.client {
			places[of(jobs[named])] = append(places[of(jobs[named])], i)
		}
	}
	replaced = map[*output]*output{}
	for at, places := range places {
		if len(places) < 2 {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return of(j) != at })
		var rivals, others []*output
		for _, place := range places {
			if out := a.outputs[place]; out.hasBins && a.fits(mine, newEntries(out)) {
				rivals = append(rivals, out)
			} else {
				others = append(others, out)
			}
		}
		lastFirst := func(x, y *output) int { return cmp.Compare(y.fio.Timestamp, x.fio.Timestamp) }
		slices.SortStableFunc(rivals, lastFirst)
		slices.SortStableFunc(others, lastFirst)
		rivals = append(rivals, others...)
		for i, place := range places {
			if a.outputs[place] = rivals[i]; i > 0 {
				replaced[rivals[i]] = rivals[0]
			}
		}
	}
	return replaced
}

// mine returns the jobs of the fio that wrote an output. If only a common folder connects them, the output's bins must
// contain all rows.
func (a attribution) mine(out *output, jobs []*job) (mine []*job) {
	for _, j := range jobs {
		if j.entry == nil && out.mayCover(j, jobs) {
			mine = append(mine, j)
		}
	}
	weak := !out.Named && !out.client && (out.Candidate || len(a.outputs) > 1) &&
		!slices.ContainsFunc(mine, func(j *job) bool { return out.names(j.log.Prefix) })
	if weak && len(mine) > 0 && !a.fits(mine, newEntries(out)) {
		return nil
	}
	return a.dropStale(out, mine)
}

// dropStale returns no jobs if a report is of an earlier run: logs or their rows are younger, and the report's bins do not
// contain the rows. fio writes its logs before its report. Where bins do not prove that, it adds a warning.
func (a attribution) dropStale(out *output, jobs []*job) []*job {
	if out.client || out.fio.Timestamp == 0 {
		return jobs
	}
	for _, j := range jobs {
		later, by := j.log.File.ModTime.Sub(out.File.ModTime), apartTimes
		if !out.trustsTimes() || j.log.File.ModTime.IsZero() {
			later, by = 0, time.Second
			if j.hasHist() && j.hasRows && j.first > epochTimes {
				later = time.Duration(j.first-out.fio.Timestamp) * time.Millisecond
			}
		}
		if later <= by {
			continue
		}
		text := fmt.Sprintf("%s: %s was written %v after it", out.File.Name(), path.Base(j.log.File.Name()), later.Round(time.Second))
		const advice = "keep the files of each run in a folder of their own"
		if out.stale = out.hasBins && !out.Named && !a.fits(jobs, newEntries(out)); out.stale {
			a.problems.skip(fmt.Errorf("%s, and its bins lack the rows of the log: it is of an earlier run of fio, and not used; %s", text, advice))
			return nil
		}
		a.problems.skip(fmt.Errorf("%s: if another run of fio wrote the log, times and totals are of the one before; %s", text, advice))
		return jobs
	}
	return jobs
}

// mayCover reports whether the fio that wrote the output may have run a job. CBT's names decide, or else the prefix in
// the options, or else a common folder.
func (o *output) mayCover(j *job, all []*job) bool {
	oneHost := o.Host == "" && !slices.ContainsFunc(all, func(other *job) bool { return other.host != j.host })
	switch {
	case j.host != o.Host && !o.client && !oneHost:
		return false
	case o.Named:
		return j.volume == o.Volume
	case o.client && !slices.ContainsFunc(o.fio.Jobs, func(f fiolog.Job) bool {
		return j.host == "" || cbt.SameHost(f.Host, j.host)
	}):
		return false
	}
	nearby := below(j.folder(), path.Dir(o.File.Path)) || o.Found == cbt.FoundOptions || o.Found == cbt.FoundAbove
	return nearby && (o.names(j.log.Prefix) || !o.any(jobOptions.namesLog) || o.hasSections() || o.Found == cbt.FoundNamed)
}

func below(folder, other string) bool {
	return other == "." || folder == other || strings.HasPrefix(folder, other+"/")
}

// clients finds the jobs of a fio --client by the host of each entry, and by the order of the entries of a host.
func (a attribution) clients(entries []*entry, jobs []*job) []*entry {
	for _, j := range jobs {
		var of []*entry
		for _, e := range entries {
			if j.host == "" || cbt.SameHost(e.Host, j.host) {
				of = append(of, e)
			}
		}
		if j.number <= len(of) {
			j.entry = of[j.number-1]
			continue
		}
		j.number = 0
		a.problems.skip(fmt.Errorf("%s: its host has only %d jobs in %s: the log is not used",
			j.log.File.Name(), len(of), entries[0].out.File.Name()))
	}
	return entries
}

// numbers finds jobs by the numbers of their logs. With group_reporting an entry covers numjobs jobs. If there are more
// logs, it covers several sections.
func (a attribution) numbers(out *output, entries []*entry, jobs []*job) []*entry {
	if len(jobs) == 0 {
		return entries
	}
	var covers []*entry // the entry of job 1, of job 2, …
	for _, e := range entries {
		for range e.size {
			covers = append(covers, e)
		}
	}
	a.dropLeftovers(out, jobs, len(covers))
	if jobs = slices.DeleteFunc(jobs, (*job).isDropped); len(jobs) == 0 {
		return entries
	}
	if jobs[0].log.segment >= 0 {
		return a.segments(entries, jobs)
	}
	if highest(jobs) > len(covers) {
		if one := combine(entries); a.fits(jobs, []*entry{one}) { // fio writes one entry for all sections of a group
			for _, e := range append(entries, one) {
				e.isGroup = true
			}
			return one.cover(jobs)
		}
		for _, j := range jobs {
			if j.number > len(covers) {
				a.dropJob(j, fmt.Sprintf("%s has %d jobs, and its bins do not contain the rows of this log",
					out.File.Name(), len(covers)))
			}
		}
		jobs = slices.DeleteFunc(jobs, (*job).isDropped)
	}
	for _, j := range jobs {
		e := covers[j.number-1]
		if j.hasHist() && !e.mayWrite(j.log.Prefix) && out.names(j.log.Prefix) {
			e = a.byPrefix(out, entries, j)
		}
		j.entry = e
	}
	return entries
}

// segments finds the parts of a log of all jobs. fio writes the parts in the order in which the jobs end. A part
// belongs to the only entry whose bins contain its rows. If a part has no such entry, or several, all parts belong to
// all jobs together.
func (a attribution) segments(entries []*entry, jobs []*job) []*entry {
	if len(jobs) == len(entries) {
		found := make([]*entry, len(jobs))
		for i, j := range jobs {
			for _, e := range entries {
				if j.log.parts == nil || !j.log.parts.fit([]*entry{e}) {
					continue
				}
				if found[i] != nil || slices.Contains(found, e) {
					found[i] = nil
					break
				}
				found[i] = e
			}
		}
		if !slices.Contains(found, nil) {
			for i, j := range jobs {
				j.entry = found[i]
			}
			return entries
		}
	}
	one := combine(entries)
	one.size = len(jobs) // one log has all jobs
	if one.several = !isOneStage(entries); one.several {
		one.ran = 0 // the log lasts longer than each of its stages
	}
	if one.several && !(len(jobs) == 1 || jobs[0].first > epochTimes) {
		a.problems.skip(fmt.Errorf("%s: a log of jobs that may have run one after another, and nothing shows which "+
			"part is whose: they are shown side by side; run fio with --per_job_logs=1 or --log_unix_epoch=1",
			jobs[0].log.File.Name()))
	}
	return one.cover(jobs)
}

// byPrefix returns the only entry whose options name the prefix of a job's log, or nil if several do.
func (a attribution) byPrefix(out *output, entries []*entry, j *job) *entry {
	var found *entry
	for _, e := range entries {
		if !e.mayWrite(j.log.Prefix) {
			continue
		}
		if found != nil {
			a.problems.note("%s: several jobs of %s write logs of this name: it is not attributed",
				j.log.File.Name(), out.File.Name())
			return nil
		}
		found = e
	}
	return found
}

func (a attribution) fits(jobs []*job, entries []*entry) bool {
	var sums rowSums
	for _, j := range jobs {
		if !j.hasHist() {
			continue
		}
		of := j.log.parts
		if of == nil {
			var err error
			if of, err = a.reader.sums(j.log, 0); err != nil {
				return false
			}
		}
		for d := range of {
			sums[d].Merge(&of[d].Histogram)
			sums[d].rows += of[d].rows
		}
	}
	return sums.fit(entries)
}

// dropLeftovers drops logs that an earlier run with more jobs left in the same folder. They were last written before
// the fio of this report was started. count is the number of jobs of this fio.
func (a attribution) dropLeftovers(out *output, jobs []*job, count int) {
	if highest(jobs) <= count || !out.trustsTimes() {
		return
	}
	began := time.UnixMilli(out.fio.Timestamp - elapsed(out.fio)).Add(-time.Second)
	for _, j := range jobs {
		if f := j.log.File; j.number > count && !f.ModTime.IsZero() && f.ModTime.Before(began) {
			a.dropJob(j, fmt.Sprintf("it is of an earlier run: %s was written by a fio that was started after it, "+
				"for %d jobs", out.File.Name(), count))
		}
	}
}

func (a attribution) dropJob(j *job, why string) {
	j.number = 0
	a.problems.skip(fmt.Errorf("%s: not used: %s", j.log.File.Name(), why))
}

func (j *job) isDropped() bool { return j.number == 0 }

func (j *job) hasHist() bool { return j.log.Kind.IsHistogram() }

func highest(jobs []*job) int {
	n := 0
	for _, j := range jobs {
		n = max(n, j.number)
	}
	return n
}
