package assign

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/group"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// attribute sets the jobs of each entry and the entry of each job. It returns all entries of the run. Logs are numbered
// like fio's jobs, over all groups.
func (p *assigner) attribute(jobs []*Job) (all []*Entry) {
	for _, out := range p.Outputs {
		out.Entries = NewEntries(out)
	}
	replaced := p.likeliestFirst(jobs)
	for _, out := range p.Outputs {
		entries := out.Entries
		mine, isStale := p.mine(out, jobs)
		out.Entries = nil // unless it is used
		if out.host = out.Host; len(mine) > 0 && !out.Client {
			out.host = mine[0].Host
		}
		// By its name it is of a host without any log.
		isOfMissingHost := out.Host != "" && !out.Candidate && !slices.ContainsFunc(jobs, func(j *Job) bool { return j.Host == out.Host })
		switch {
		case isStale:
			continue
		case len(mine) == 0 && replaced[out] != nil:
			p.problems.Note("%s: the logs that it names are of another execution of fio, that of %s: it is not used",
				out.File.Name(), replaced[out].File.Name())
			continue
		case len(mine) == 0 && len(jobs) > 0 && !out.Named && !isOfMissingHost:
			p.problems.Note("%s: no log here belongs to the jobs of this report: it is not used", out.File.Name())
			continue
		case out.Client:
			p.undouble(out, entries, mine)
			for _, of := range group.By(entries, func(e *Entry) string { return e.Host }) {
				out.Entries = append(out.Entries, p.numbers(out, of, jobsOf(of[0].Host, mine))...)
			}
		default:
			out.Entries = p.numbers(out, entries, mine)
		}
		all = append(all, out.Entries...)
	}
	logs := map[*Entry]int{}
	for _, j := range jobs {
		logs[j.Entry]++
	}
	for _, e := range all { // fio adds up the run times of the jobs of a group, which may have more jobs than its options show
		if len(e.parts) == 0 {
			e.Size = max(e.Size, logs[e])
			e.Ran = e.RanIn(e.Job)
		}
	}
	return all
}

func jobsOf(host string, jobs []*Job) []*Job {
	return without(jobs, func(j *Job) bool { return j.Host != "" && host != "" && !SameHost(host, j.Host) })
}

// undouble finds out which rows fio --client added to others in the logs that it wrote. All logs have the same error, and the bins of
// the report, which contain all requests, prove which: fio 3 adds the row before the last one of a direction, versions of 2016 the
// last one. If they prove nothing, the logs are not used.
func (p *assigner) undouble(out *Output, entries []*Entry, jobs []*Job) {
	jobs = without(jobs, func(j *Job) bool {
		if !j.Log.Kind.IsHistogram() || !j.HasRows || j.Damage != nil {
			return true
		}
		j.Damage = p.ev.Know(Need{Log: j.Log}, p.needs).Err
		return j.Damage != nil
	})
	ofHosts := group.By(entries, func(e *Entry) string { return e.Host })
	proven := out.HasBins && slices.ContainsFunc([]int{2, 1, 0}, func(lag int) bool {
		for _, j := range jobs {
			j.Lag = lag
		}
		return !slices.ContainsFunc(ofHosts, func(of []*Entry) bool { return !p.fits(jobsOf(of[0].Host, jobs), of) })
	})
	for _, j := range jobs {
		if !proven {
			j.Damage = fmt.Errorf("%s: fio --client adds earlier rows to later ones, and the report's bins do not prove how: "+
				"the log is not used; run fio with --output-format=json+, or separately on each host", j.Log.File.Name())
		} else if j.Lag > 0 {
			p.problems.Note("%s: fio --client added earlier rows to later ones: undone, as the bins of %s prove",
				j.Log.File.Name(), out.File.Name())
		}
	}
}

// sumsOf returns the sums of the rows of a job's log that can be read.
func (p *assigner) sumsOf(j *Job) (*evidence.Sums, error) {
	if j.Log.Parts != nil && j.Lag == 0 {
		return j.Log.Parts, nil
	}
	n := Need{Log: j.Log, Lag: j.Lag}
	if own := p.ev.Rows[n]; j.Lag == 0 && own.Sums == nil {
		n.What = ReadableSums
	}
	rows := p.ev.Know(n, p.needs)
	return rows.Sums, rows.Err
}

// likeliestFirst sorts outputs that name the same logs. Outputs whose bins contain the rows come first. Among equals
// the last written one comes first, because fio overwrites logs of the same name. It returns the likeliest output for
// each of the others.
func (p *assigner) likeliestFirst(jobs []*Job) (replaced map[*Output]*Output) {
	type logs struct{ host, folder, prefix string }
	of := func(j *Job) logs { return logs{j.Host, path.Dir(j.Log.File.Path), j.Log.Prefix} }
	places := map[logs][]int{} // of outputs
	for i, out := range p.Outputs {
		named := slices.IndexFunc(jobs, func(j *Job) bool { return out.names(j.Log.Prefix) && out.mayCover(j, jobs) })
		if named >= 0 && !out.Named && !out.Client {
			places[of(jobs[named])] = append(places[of(jobs[named])], i)
		}
	}
	replaced = map[*Output]*Output{}
	for at, places := range places {
		if len(places) < 2 {
			continue
		}
		mine := without(jobs, func(j *Job) bool { return of(j) != at })
		var rivals []*Output
		rank := map[*Output]int{}
		for _, place := range places {
			out := p.Outputs[place]
			if rivals = append(rivals, out); !out.HasBins || !p.fits(mine, out.Entries) {
				rank[out] = 1
			}
		}
		slices.SortStableFunc(rivals, func(x, y *Output) int { return cmp.Or(rank[x]-rank[y], cmp.Compare(y.Fio.Timestamp, x.Fio.Timestamp)) })
		for i, place := range places {
			if p.Outputs[place] = rivals[i]; i > 0 {
				replaced[rivals[i]] = rivals[0]
			}
		}
	}
	return replaced
}

// mine returns the jobs of the fio that wrote an output. If only a common folder connects them, the output's bins must
// contain all rows.
//
// fio writes its logs before its report. So a report is of an earlier run (isStale) if logs or their rows are younger, and
// the report's bins do not contain the rows. Where bins do not prove that, a warning says what may be wrong.
func (p *assigner) mine(out *Output, jobs []*Job) (mine []*Job, isStale bool) {
	mine = without(jobs, func(j *Job) bool { return j.Entry != nil || j.dropped || !out.mayCover(j, jobs) })
	weak := !out.Named && !out.Client && (out.Candidate || len(p.Outputs) > 1) &&
		!slices.ContainsFunc(mine, func(j *Job) bool { return out.names(j.Log.Prefix) })
	if weak && len(mine) > 0 && !p.fits(mine, out.Entries) {
		return nil, false
	}
	if out.Client || out.Fio.Timestamp == 0 {
		return mine, false
	}
	for _, j := range mine {
		later, by := j.Log.File.ModTime.Sub(out.File.ModTime), evidence.Apart
		if !out.TrustsTimes() || j.Log.File.ModTime.IsZero() {
			later, by = 0, time.Second
			if j.Log.Kind.IsHistogram() && j.HasRows && j.First > evidence.EpochTimes {
				later = time.Duration(j.First-out.Fio.Timestamp) * time.Millisecond
			}
		}
		if later <= by {
			continue
		}
		text := fmt.Sprintf("%s: %s was written %v after it", out.File.Name(), path.Base(j.Log.File.Name()), later.Round(time.Second))
		const advice = "keep the files of each run in a folder of their own"
		if out.HasBins && p.fits(mine, out.Entries) { // it was copied later, or another program has changed it
			break
		}
		if out.HasBins && !out.Named {
			p.problems.Skip("%s, and its bins lack the rows of the log: it is of an earlier run of fio, and not used; %s", text, advice)
			return nil, true
		}
		p.problems.Skip("%s: if another run of fio wrote the log, times and totals are of the one before; %s", text, advice)
		break
	}
	return mine, false
}

// HintFor returns what is known of the bins of a log besides its number of columns. The user's hint comes first.
// Otherwise it comes from the reports that may cover the log, if they agree.
func (ev *Evidence) HintFor(log Log, said hist.Hint) hist.Hint {
	var hints []hist.Hint
	half := false
	j := NewJob(&JobLog{Log: log, Segment: -1})
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

// mayCover reports whether the fio that wrote the output may have run a job. CBT's names decide, or else the prefix in
// the options, or else a common folder.
func (o *Output) mayCover(j *Job, all []*Job) bool {
	oneHost := o.Host == "" && !slices.ContainsFunc(all, func(other *Job) bool { return other.Host != j.Host })
	switch {
	case j.Host != o.Host && !o.Client && !oneHost:
		return false
	case o.Named:
		return j.Volume == o.Volume
	case o.Client && !slices.ContainsFunc(o.Fio.Jobs, func(f fiolog.Job) bool {
		return j.Host == "" || f.Host == "" && oneHost || f.Host != "" && SameHost(f.Host, j.Host)
	}):
		return false
	}
	at := path.Dir(o.File.Path)
	nearby := at == "." || path.Dir(j.Log.File.Path) == at || strings.HasPrefix(path.Dir(j.Log.File.Path), at+"/") || o.Found == FoundOptions || o.Found == FoundAbove
	if !nearby || o.Found == FoundNamed || o.names(j.Log.Prefix) {
		return nearby
	}
	// If it has several sections and lists the options of only one, logs of the others may have any prefix. Its run time shows
	// that or, before fio 3.8, a log of a higher number than it has jobs.
	namesLog, jobs := false, 0
	for i := range o.Fio.Jobs {
		options := o.Options(i)
		numjobs := max(int(number(options.OptionOfOne("numjobs"))), 1)
		if jobs += numjobs; options.timesOf(&o.Fio.Jobs[i]).Jobs > numjobs {
			return true
		}
		namesLog = namesLog || options.OptionOfOne("write_hist_log") != "" || options.OptionOfOne("write_lat_log") != ""
	}
	return !namesLog || slices.ContainsFunc(all, func(other *Job) bool { return other.Number > jobs && o.names(other.Log.Prefix) })
}

// numbers finds jobs by the numbers of their logs. With group_reporting an entry covers numjobs jobs. If there are more
// logs, entries cover several sections. Of several groups, which may be several stages, it must be known which logs are
// whose.
func (p *assigner) numbers(out *Output, entries []*Entry, jobs []*Job) []*Entry {
	var covers []*Entry // the entry of job 1, of job 2, …
	for _, e := range entries {
		covers = append(covers, slices.Repeat([]*Entry{e}, e.Size)...)
	}
	hasMore := false // logs of higher numbers than the report has
	began := time.UnixMilli(out.Fio.Timestamp - evidence.Elapsed(out.Fio)).Add(-time.Second)
	mine := without(jobs, func(j *Job) bool {
		if f := j.Log.File; j.Number > len(covers) && out.TrustsTimes() && !f.ModTime.IsZero() && f.ModTime.Before(began) {
			p.problems.Skip("%s: not used: it is of an earlier run: %s was written by a fio that was started after it, "+
				"for %d jobs", f.Name(), out.File.Name(), len(covers)) // an earlier run with more jobs left it in the same folder
			j.dropped = true
			return true
		}
		hasMore = hasMore || j.Number > len(covers)
		return false
	})
	if len(mine) > 0 && mine[0].Log.Segment >= 0 {
		return p.segments(entries, mine)
	}
	if hasMore && !IsOneStage(entries) {
		sizes, isDoubt := p.sizes(out, entries, mine)
		switch {
		case isDoubt:
			say := p.problems.Skip
			if entries[0].HasPeriodic() {
				say = p.problems.Note // they have what the logs have
			}
			say("%s: %d groups of jobs wrote these %d logs, and nothing shows which group wrote which log: they are not "+
				"used; add the job file, or run fio with --output-format=json+ or without group_reporting", out.File.Name(), len(entries), len(mine))
			for _, j := range mine {
				j.dropped = true
			}
			return entries
		case sizes != nil:
			covers = nil
			for i, e := range entries {
				e.IsGroup = e.IsGroup || sizes[i] > e.Size
				e.Size, e.first = sizes[i], len(covers)+1
				covers = append(covers, slices.Repeat([]*Entry{e}, e.Size)...)
			}
		}
	} else if hasMore {
		if one := combine(entries); p.fits(mine, []*Entry{one}) { // fio writes one entry for all sections of a group
			for _, e := range append(entries, one) {
				e.IsGroup = true
			}
			for _, j := range mine {
				j.Entry = one
			}
			return []*Entry{one}
		}
	}
	for _, j := range mine {
		switch {
		case j.Number > len(covers):
			p.problems.Skip("%s: not used: %s has %d jobs, and its bins do not contain the rows of this log", j.Log.File.Name(),
				out.File.Name(), len(covers))
			j.dropped = true
		case j.Log.Kind.IsHistogram() && !covers[j.Number-1].mayWrite(j.Log.Prefix) && out.names(j.Log.Prefix):
			writers := without(entries, func(e *Entry) bool { return !e.mayWrite(j.Log.Prefix) }) // by their options
			if len(writers) == 1 {
				j.Entry = writers[0]
				continue
			}
			p.problems.Note("%s: several jobs of %s write logs of this name: it is not attributed", j.Log.File.Name(), out.File.Name())
		default:
			j.Entry = covers[j.Number-1]
		}
	}
	return entries
}

// sizes returns how many jobs each entry has, if there are more logs than the report shows. The job file says it, or the
// bins do, if the logs can be divided in one way only: each entry has logs of numbers that follow one another, and its bins
// contain their rows. isDoubt means that nothing shows it. There are no sizes if logs are of no entry.
func (p *assigner) sizes(out *Output, entries []*Entry, jobs []*Job) (sizes []int, isDoubt bool) {
	rows := make([]evidence.Sums, slices.MaxFunc(jobs, func(a, b *Job) int { return cmp.Compare(a.Number, b.Number) }).Number)
	for _, j := range jobs {
		if !j.Log.Kind.IsHistogram() {
			continue
		}
		sums, err := p.sumsOf(j)
		if err != nil {
			return nil, true
		}
		rows[j.Number-1].Merge(sums)
	}
	// fit returns how many of some logs, from the first one on, an entry can have at most.
	fit := func(e *Entry, logs iter.Seq2[int, evidence.Sums]) (n int) {
		var sum evidence.Sums
		for _, of := range logs {
			if sum.Merge(&of); !fit(&sum, []*Entry{e}) {
				break
			}
			n++
		}
		return n
	}
	if groups := p.ev.Run.groups(); len(groups) == len(entries) {
		left, isSame := rows, true
		for i, group := range groups {
			n := 0
			for _, s := range group {
				n += s.Jobs()
			}
			sizes, isSame = append(sizes, n), isSame && group[0].Name == entries[i].Name && n <= len(left)
			isSame = isSame && (!out.HasBins || fit(entries[i], slices.All(left[:n])) == n)
			left = left[min(n, len(left)):]
		}
		if isSame && len(left) == 0 {
			return sizes, false
		}
	}
	if !out.HasBins {
		return nil, true
	}
	// Where the logs of each entry end if it and those before take as many as they can, and if those behind do.
	latest, earliest := make([]int, len(entries)), make([]int, len(entries))
	for i, end := 0, 0; i < len(entries); i++ {
		end += fit(entries[i], slices.All(rows[end:]))
		latest[i] = end
	}
	for i, end := len(entries)-1, len(rows); i >= 0; i-- {
		earliest[i] = end
		end -= fit(entries[i], slices.Backward(rows[:end]))
		if i == 0 && end > 0 {
			return nil, false
		}
	}
	if latest[len(entries)-1] < len(rows) {
		return nil, false
	}
	sizes = slices.Clone(latest)
	for i := len(sizes) - 1; i > 0; i-- {
		sizes[i] -= sizes[i-1]
	}
	for i, e := range entries {
		isDoubt = isDoubt || latest[i] != earliest[i] || sizes[i] < e.Size
	}
	return sizes, isDoubt
}

// segments finds the parts of a log of all jobs. fio writes the parts in the order in which the jobs end. A part
// belongs to the only entry whose bins contain its rows. If a part has no such entry, or several, all parts belong to
// all jobs together.
func (p *assigner) segments(entries []*Entry, jobs []*Job) []*Entry {
	if len(jobs) == len(entries) {
		found := make([]*Entry, len(jobs))
		for i, j := range jobs {
			if j.Log.Parts == nil {
				break
			}
			sums, err := p.sumsOf(j)
			for _, e := range entries {
				if err != nil || !fit(sums, []*Entry{e}) {
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
				j.Entry = found[i]
			}
			return entries
		}
	}
	one := combine(entries)
	one.Size = len(jobs) // one log has all jobs; but fio --client may lose parts
	if one.Out.Client && jobs[0].First <= evidence.EpochTimes {
		interval, written := jobs[0].Log.Rows.Measure(2), 0
		for _, e := range one.Parts() {
			if interval > 0 && e.Ran >= 2*interval+interval/4 { // fio has surely written a row
				written += e.Size
			}
		}
		one.Size = max(one.Size, written)
	}
	if one.Several = !IsOneStage(entries); one.Several {
		one.Ran = 0 // the log lasts longer than each of its stages
	}
	if one.Several && !p.ev.Live {
		how := ""
		if len(jobs) > 1 && jobs[0].First <= evidence.EpochTimes {
			how = ", shown as if all began together"
		}
		p.problems.Skip("%s: a log of jobs that may have run one after another, and nothing shows which rows are whose: they are one "+
			"run%s, and its numbers are of no single stage; run fio with --per_job_logs=1", jobs[0].Log.File.Name(), how)
	}
	for _, j := range jobs {
		j.Entry = one
	}
	return []*Entry{one}
}

func (p *assigner) fits(jobs []*Job, entries []*Entry) bool {
	var sums evidence.Sums
	for _, j := range jobs {
		if !j.Log.Kind.IsHistogram() {
			continue
		}
		of, err := p.sumsOf(j)
		if err != nil {
			return false
		}
		sums.Merge(of)
	}
	return fit(&sums, entries)
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
