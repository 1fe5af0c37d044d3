package cbt

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// place reads the folders above a file. named tells that the file's name has a host.
func (s *sorter) place(f *source.File, named bool) place {
	key := placeKey{folderOf(f, path.Dir(f.Path)), named}
	p, ok := s.places[key]
	if !ok {
		p = locate(f.Archive, key.path, func(p *place, top string) (string, string) {
			at := key.folder
			at.path = p.config
			return s.split(p, at, top, named)
		})
		s.places[key] = p
	}
	return p
}

// split divides the first folder below an id- folder into its name and a host. Both may
// have dots in them, so only the configuration tells for certain.
func (s *sorter) split(p *place, config folder, top string, named bool) (name, host string) {
	name, host, ok := strings.Cut(top, ".")
	if !ok || isSetting(name) || fioClasses[name] {
		return name, host
	}
	for _, w := range s.ask(s.configs[config]).workloads { // the longest first
		if rest, ok := strings.CutPrefix(top, w); ok && (rest == "" || rest[0] == '.') {
			return w, strings.TrimPrefix(rest, ".")
		}
	}
	if named { // each file tells its own
		return top, ""
	}
	for _, h := range s.ask(s.wholeOf(config)).clients {
		if before, ok := strings.CutSuffix(top, "."+h); ok {
			return before, h
		}
	}
	if strings.Contains(host, ".") {
		p.doubt = fmt.Sprintf("%s: %s is taken for a host: no configuration says where its name begins", top, host)
	}
	return name, host
}

// run finds or makes the run of files of one family of names in one place.
func (s *sorter) run(f *source.File, at *place, family string) *Run {
	key := runKey{folderOf(f, at.folder), family}
	r := s.runs[key]
	if r == nil {
		r = &Run{Archive: f.Archive, Path: at.folder, Settings: at.known, at: *at, name: at.name, argument: key.argument}
		// CBT has one family in a folder. Elsewhere others may be added any day.
		if !at.cbt || family != "output" {
			r.Path = path.Join(at.folder, family)
			if at.cbt {
				r.name = path.Join(at.name, family)
			}
		}
		r.Config = s.configs[folderOf(f, path.Dir(f.Path))]
		if at.cbt {
			r.Config = s.configs[folderOf(f, at.config)]
			r.Whole = s.wholes[folderOf(f, at.root)]
		}
		s.runs[key] = r
		s.all = append(s.all, r)
		s.folders[key.folder] = append(s.folders[key.folder], r)
	}
	if at.doubt != "" {
		r.doubt(at.doubt)
	}
	return r
}

func (r *Run) doubt(text string) {
	if !slices.Contains(r.Doubts, text) {
		r.Doubts = append(r.Doubts, text)
	}
}

// log gives a log to its run.
func (s *sorter) log(f *source.File, name fiolog.Name) {
	at := s.place(f, name.Host != "")
	family, volume := splitPrefix(name.Prefix)
	r := s.run(f, &at, family)
	l := Log{
		Kind: name.Kind, Host: cmp.Or(name.Host, at.host), Volume: volume, Job: name.Job,
		Prefix: name.Prefix, Stored: name.Stored, File: f,
	}
	key := logKey{r, l.Kind, l.Host, l.Volume, l.Job}
	if used := s.logs[key]; used != nil {
		s.leave(f, "a second log of the same host, volume and job; used "+used.Name())
		return
	}
	s.logs[key] = f
	if name.Host != "" && at.host != "" && !sameHost(name.Host, at.host) {
		r.doubt(fmt.Sprintf("%s: taken for host %s, as its name says; its folder says %s", f.Name(), name.Host, at.host))
	}
	if l.Kind == fiolog.ClatHist {
		r.Logs = append(r.Logs, l)
	} else {
		r.Others = append(r.Others, l)
	}
	if at.cbt {
		s.logged[folderOf(f, at.config)] = true
	}
}

// dropWholeLogs leaves out logs of all jobs where there are logs of single jobs, too:
// one of both is of another execution, and together they would count requests twice.
func (s *sorter) dropWholeLogs() {
	single := map[logKey]bool{}
	for key := range s.logs {
		if key.job > 0 {
			key.job = 0
			single[key] = true
		}
	}
	for _, r := range s.all {
		drop := func(l Log) bool {
			if l.Job > 0 || !single[logKey{r, l.Kind, l.Host, l.Volume, 0}] {
				return false
			}
			s.leave(l.File, "a log of all jobs beside logs of single jobs: it would count requests twice")
			return true
		}
		r.Logs = slices.DeleteFunc(r.Logs, drop)
		r.Others = slices.DeleteFunc(r.Others, drop)
	}
}

// report gives a file that may be fio's output to the runs of its folder.
func (s *sorter) report(f *source.File) {
	base := path.Base(f.Path)
	at := s.place(f, false)
	if s.skipped[folderOf(f, at.config)] != nil && at.cbt {
		return // listed there
	}
	volume, host, named := parseReport(base, !at.noVolume)
	if named && host != "" {
		at = s.place(f, true)
	}
	runs := s.folders[folderOf(f, at.folder)]
	if !at.cbt {
		runs = slices.DeleteFunc(slices.Clone(runs), (*Run).isReported)
	}
	switch {
	case len(runs) > 0:
	case named && at.cbt, named && isReport(f):
		runs = []*Run{s.run(f, &at, "output")}
	case !at.cbt && roleOf(f.Path) == roleReport && isReport(f):
		run := s.run(f, &at, stem(base))
		run.Reports = append(run.Reports, Report{Host: at.host, File: f})
		return
	}
	if named {
		mine := slices.DeleteFunc(slices.Clone(runs), func(r *Run) bool { return !r.wrote("output") })
		if named = len(mine) > 0; named {
			runs = mine
		}
	}
	r := Report{Host: at.host, File: f}
	if named {
		r.Volume, r.Host, r.Named = volume, cmp.Or(host, at.host), true
	} else {
		runs = beside(runs, base)
	}
	for _, run := range runs {
		run.Reports = append(run.Reports, r)
	}
	switch {
	case len(runs) > 0 || roleOf(f.Path) == roleLoose:
	case at.cbt:
		s.leave(f, "may be fio's output, but there are no logs in its folder")
	default:
		s.leave(f, "is not fio's output, and there are no logs in its folder")
	}
}

// isReported tells whether a run has no logs at all.
func (r *Run) isReported() bool { return len(r.Logs)+len(r.Others) == 0 }

// wrote tells whether a run may have output of that family: all of its logs
// are of other families if not.
func (r *Run) wrote(family string) bool {
	if r.isReported() {
		return true
	}
	is := func(l Log) bool {
		f, _ := splitPrefix(l.Prefix)
		return f == family
	}
	return slices.ContainsFunc(r.Logs, is) || slices.ContainsFunc(r.Others, is)
}

// beside are the runs that a report of that name may belong to: those whose logs have the
// same prefix, or else all, and what is inside tells. A name that says nothing at all
// is of fio's output only with the same prefix.
func beside(runs []*Run, base string) []*Run {
	name := stem(base)
	is := func(l Log) bool {
		family, _ := splitPrefix(l.Prefix)
		return name == l.Prefix || name == family
	}
	var same []*Run
	for _, r := range runs {
		if slices.ContainsFunc(r.Logs, is) || slices.ContainsFunc(r.Others, is) {
			same = append(same, r)
		}
	}
	if len(same) > 0 || path.Ext(base) == "" {
		return same
	}
	return runs
}
