package cbt

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/pipeline/source"
)

// span is the time in which fio ran. It is unknown if end is zero.
type span struct{ start, end time.Time }

// add extends the span by another one, if that is known.
func (s *span) add(o span) {
	if o.end.IsZero() {
		return
	}
	if s.end.IsZero() || o.start.Before(s.start) {
		s.start = o.start
	}
	if o.end.After(s.end) {
		s.end = o.end
	}
}

// isWith reports whether two spans have at least half of the shorter one in common. Modification times may be off by two
// seconds, so jobs that ran one after another may seem to overlap a little.
func (s span) isWith(o span) bool {
	if s.end.IsZero() || o.end.IsZero() {
		return false
	}
	start, end := s.start, s.end
	if o.start.After(start) {
		start = o.start
	}
	if o.end.Before(end) {
		end = o.end
	}
	return end.Sub(start) >= min(s.end.Sub(s.start), o.end.Sub(o.start))/2
}

// part is a report, or the logs of one prefix in one folder: one fio wrote all of it.
type part struct {
	span
	logs    []Log
	report  *Report // nil if it has logs
	claims  *claims // of the report
	isNamed bool    // a report names the logs
	isGuess bool    // nothing but the modification times of logs shows that it belongs to another part, if anything does
	of      *part   // another part of the same run; nil for the first
}

// first returns the first part of the run, and remembers it.
func (p *part) first() *part {
	one := p
	for one.of != nil {
		one = one.of
	}
	for p != one {
		p, p.of = p.of, one
	}
	return one
}

func (p *part) join(o *part) {
	if p, o = p.first(), o.first(); p != o {
		o.of = p
	}
}

func (p *part) prefix() string { return p.logs[0].Prefix }

// splitApart makes several runs of those whose logs have several prefixes, such as t.1 and t.2. Prefixes are of one run
// only if a report names them together, or if they ran at the same time. In CBT's layout a folder has one execution.
func (a *attribution) splitApart() {
	for _, r := range a.runs.present() {
		if r.at.layout != ofPeople || !a.split(r) {
			r.doubt(r.guess)
		}
	}
	a.setNamed()
	loose := without(a.runs.present(), func(r *draft) bool { return !r.IsLoose() })
	for _, r := range loose {
		for _, f := range r.Reports {
			if len(loose) > 1 {
				r.ran.add(a.claimsOf(f.File).span)
			}
		}
	}
}

// claimsOf returns what a report says.
func (a *attribution) claimsOf(f *source.File) *claims {
	for _, p := range a.reports {
		if p.file == f && p.claims != nil {
			return p.claims
		}
	}
	return claimsOf(f)
}

// split splits one run, and reports whether it did.
func (a *attribution) split(r *draft) bool {
	logs, reports := a.partsOf(r)
	if len(logs) < 2 {
		return false
	}
	a.connect(r, logs, reports)
	var runs [][]*part
	var loose []Report // nothing shows to which of the runs they belong
	for _, of := range groups(slices.Concat(logs, reports), (*part).first) {
		switch p := of[0]; {
		case p.report == nil:
			runs = append(runs, of)
		case p.end.IsZero():
			loose = append(loose, *p.report)
		case !p.report.File.Beside && !a.isOthers(p.report.File, r):
			runs = append(runs, of)
		}
	}
	if len(runs) == 1 {
		r.setUnsure(logs)
		return false
	}
	r.ran = span{}
	for _, of := range runs[1:] {
		one := *r
		one.takeOnly(of, loose, a.places)
		a.runs.all = append(a.runs.all, &one)
	}
	r.takeOnly(runs[0], loose, a.places)
	return true
}

// setUnsure says that nothing shows that logs are of one run, if that is so.
func (r *draft) setUnsure(parts []*part) {
	i := slices.IndexFunc(parts, func(p *part) bool { return p.isGuess })
	if i < 0 || r.family == "output" || r.guess != "" {
		return
	}
	other := slices.IndexFunc(parts, func(p *part) bool { return p != parts[i] && len(p.logs) > 0 })
	r.Unsure = fmt.Sprintf("logs named %s and %s are read as one run, because nothing but the times of their files shows when "+
		"they were written; if they ran one after another, its rates are wrong: keep the files of each run in a folder of their own, "+
		"or pass fio's reports", parts[min(i, other)].prefix(), parts[max(i, other)].prefix())
}

// isOthers reports whether a report may belong to another run, too.
func (a *attribution) isOthers(f *source.File, r *draft) bool {
	return slices.ContainsFunc(a.runs.present(), func(o *draft) bool {
		return o != r && slices.ContainsFunc(o.Reports, func(other Report) bool { return other.File == f })
	})
}

// takeOnly makes a run of some parts, and of reports that may belong to it.
func (r *draft) takeOnly(parts []*part, loose []Report, places *places) {
	r.Logs, r.Others, r.Reports = nil, nil, nil
	for _, p := range parts {
		r.ran.add(p.span)
		if p.report != nil {
			r.Reports = append(r.Reports, *p.report)
		}
		for _, l := range p.logs {
			if l.Kind.IsHistogram() {
				r.Logs = append(r.Logs, l)
			} else {
				r.Others = append(r.Others, l)
			}
		}
	}
	r.setUnsure(parts)
	var f *source.File
	var name string
	if r.isReported() {
		r.Reports[0].Found, r.Reports[0].Candidate = FoundNamed, false
		f = r.Reports[0].File
		name = stem(path.Base(f.Path))
	} else {
		r.Reports = append(r.Reports, loose...)
		f, name = parts[0].logs[0].File, parts[0].prefix()
	}
	r.at.folder, r.base = path.Dir(f.Path), places.dirOf(f)
	r.Path, r.name = path.Join(r.at.folder, name), ""
}

// partsOf returns the logs of each prefix of a run, and its reports.
func (a *attribution) partsOf(r *draft) (logs, reports []*part) {
	type place struct{ dir, prefix string }
	for _, of := range groups(r.logs(), func(l Log) place { return place{path.Dir(l.File.Path), l.Prefix} }) {
		logs = append(logs, &part{logs: of})
	}
	if len(logs) < 2 {
		return logs, nil
	}
	for _, f := range r.Reports {
		of := a.claimsOf(f.File)
		reports = append(reports, &part{report: &f, claims: of, span: of.span})
	}
	return logs, reports
}

// connect joins the parts that are of one run.
func (a *attribution) connect(r *draft, logs, reports []*part) {
	trustsTimes := true
	byPrefix, byVolume := map[string][]*part{}, map[string][]*part{}
	for _, l := range logs {
		prefix, volume := l.prefix(), l.logs[0].Volume
		byPrefix[prefix], byVolume[volume] = append(byPrefix[prefix], l), append(byVolume[volume], l)
	}
	for _, p := range reports {
		named := byVolume[p.report.Volume]
		if !p.report.Named {
			named = nil
			for prefix := range p.prefixes() {
				named = append(named, byPrefix[prefix]...)
			}
		}
		for _, l := range named {
			l.join(p)
			l.isNamed = true
		}
		trustsTimes = trustsTimes && p.claims.agreesWith(p.report.File.ModTime)
	}
	unnamed := without(logs, func(p *part) bool { return p.isNamed })
	for _, job := range a.jobs {
		prefixes := job.claims.prefixes()
		named := without(unnamed, func(p *part) bool { return !prefixes[p.prefix()] })
		for _, p := range named {
			named[0].join(p)
		}
	}
	if trustsTimes {
		for _, p := range unnamed {
			p.span = a.writtenIn(p.logs)
		}
	}
	isUnknown := func(p *part) bool { return p.end.IsZero() && !p.isNamed }
	all := slices.Concat(logs, reports)
	byStart := slices.SortedStableFunc(slices.Values(all), func(p, o *part) int { return p.start.Compare(o.start) })
	for i, p := range byStart {
		for _, o := range byStart[i+1:] {
			if o.start.After(p.end) {
				break
			}
			if p.first() != o.first() && p.isWith(o.span) {
				p.isGuess = p.isGuess || p.report == nil && o.report == nil
				p.join(o)
			}
		}
	}
	// What has no time belongs to the others if these are of one run, and something else shows it.
	known := without(all, isUnknown)
	if isLikely := len(unnamed) == len(logs) || r.family == "output" || r.guess != ""; isLikely && len(groups(known, (*part).first)) < 2 {
		for _, p := range slices.Concat(known, unnamed) {
			p.isGuess = p.isGuess || len(p.logs) > 0 && p.first() != logs[0].first()
			logs[0].join(p)
		}
	}
}

// prefixes returns the prefixes of logs that a report names by its options or, if it has none of these, by its own name.
func (p *part) prefixes() map[string]bool {
	all := p.claims.prefixes()
	if !p.claims.namesLogs() {
		all[stem(path.Base(p.report.File.Path))] = true
	}
	return all
}

// writtenIn returns the time in which logs were written, by their rows and modification times.
func (a *attribution) writtenIn(logs []Log) (all span) {
	for _, l := range logs {
		last, ok := lastTime(l.File)
		switch end := time.UnixMilli(last); {
		case !ok || a.places.ctx.Err() != nil:
		case last > epochTimes:
			all.add(span{end, end})
			if first, ok := firstTime(l.File); ok {
				all.add(span{time.UnixMilli(first), end})
			}
		case !l.File.ModTime.IsZero():
			all.add(span{l.File.ModTime.Add(-time.Duration(last) * time.Millisecond), l.File.ModTime})
		}
	}
	return all
}

// epochTimes is the smallest time of a row that counts from 1970, in milliseconds (log_unix_epoch).
const epochTimes = 1e11

// lastTime returns the time of the last row of a log in milliseconds.
func lastTime(f *source.File) (int64, bool) {
	end, err := f.End(longestRow)
	line, isWhole := bytes.CutSuffix(end, []byte{'\n'})
	if err != nil || !isWhole {
		return 0, false
	}
	return timeOf(line[bytes.LastIndexByte(line, '\n')+1:])
}

// longestRow is longer than the text of any row.
const longestRow = 1 << 17

// firstTime returns the time of the first row of a log in milliseconds.
func firstTime(f *source.File) (int64, bool) {
	line, _, _ := bytes.Cut(head(f), []byte{'\n'})
	return timeOf(line)
}

// timeOf returns the first number of a row.
func timeOf(line []byte) (int64, bool) {
	number, _, isRow := bytes.Cut(line, []byte{','})
	ms, err := strconv.ParseInt(string(number), 10, 64)
	return ms, isRow && err == nil && ms >= 0
}
