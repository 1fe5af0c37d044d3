package cbt

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// place reads the folders above a file. named means that the file's name has a host.
func (s *sorter) place(f *source.File, named bool) place {
	key := placeKey{folderOf(f, path.Dir(f.Path)), named}
	p, ok := s.places[key]
	if !ok {
		at := key.folder
		p = locate(f.Archive, key.path, func(p *place, top string) (string, string) {
			at.path = p.config
			return s.split(p, at, top, named)
		}, func(dir string) bool {
			at.path = dir
			return s.samples[at]
		})
		s.places[key] = p
	}
	return p
}

// split divides the first folder below an id- folder into its name and a host. Both may
// have dots in them, so only the configuration is certain.
func (s *sorter) split(p *place, config folder, top string, named bool) (name, host string) {
	name, host, ok := strings.Cut(top, ".")
	if !ok || isSetting(name) || fioClasses[name] {
		return name, host
	}
	for _, w := range s.factsIn(s.config(config, configName)).workloads { // the longest first
		if rest, ok := strings.CutPrefix(top, w); ok && (rest == "" || rest[0] == '.') {
			return w, strings.TrimPrefix(rest, ".")
		}
	}
	if named { // each file has its own
		return top, ""
	}
	for _, h := range s.factsIn(s.archiveConfig(config)).clients {
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
	if at.sample {
		family = "" // all that lies there is of one execution
	}
	key := runKey{folderOf(f, at.folder), family}
	r := s.runs[key]
	if r == nil {
		r = &Run{Archive: f.Archive, Path: at.folder, Settings: at.known, at: *at, name: at.name, argument: key.argument}
		r.base = path.Join(s.rootOf(f), at.folder)
		// CBT has one family in a folder. Elsewhere others may be added any day.
		if !at.sample && (!at.cbt || family != "output") {
			r.Path = path.Join(at.folder, family)
			if at.cbt {
				r.name = path.Join(at.name, family)
			}
		}
		r.Config = s.config(folderOf(f, path.Dir(f.Path)), configName)
		if at.cbt {
			r.Config = s.config(folderOf(f, at.config), configName)
			r.ArchiveConfig = s.config(folderOf(f, at.root), archiveConfigName)
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
	r.Doubts = addNew(r.Doubts, text)
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
	key := keyOf(r, &l)
	if used := s.logs[key]; used != nil {
		s.leaveOut(f, "a second log of the same host, volume and job; used "+used.Name())
		return
	}
	s.logs[key] = f
	if name.Host != "" && at.host != "" && !SameHost(name.Host, at.host) {
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

// dropAllJobsLogs drops logs of all jobs where there are logs of single jobs, too:
// one of both is of another execution, and together they would count requests twice.
func (s *sorter) dropAllJobsLogs() {
	single := map[logKey]bool{}
	for key := range s.logs {
		if key.job > 0 {
			key.job = 0
			single[key] = true
		}
	}
	for _, r := range s.all {
		r.dropLogs(func(l Log) bool {
			if l.Job > 0 || !single[keyOf(r, &l)] {
				return false
			}
			s.leaveOut(l.File, "a log of all jobs beside logs of single jobs: it would count requests twice")
			return true
		})
	}
}
