package assign

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/group"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/layout"
)

// addLog adds a log to the run of its folder and prefix. Prefixes that differ by their volumes are of one run.
func (s *sorter) addLog(log *logFile) {
	f, name := log.file, log.name
	at := s.PlaceOf(f, name.Host != "")
	family, volume := layout.SplitPrefix(name.Prefix)
	r := s.runOf(f, &at, family)
	if log.doubt != "" {
		r.doubt(log.doubt)
	}
	l := Log{
		Kind: name.Kind, Host: cmp.Or(name.Host, at.Host), Volume: volume, Job: name.Job,
		Prefix: name.Prefix, Stored: name.Stored, File: f,
		Client: at.Program == layout.OfPeople && name.Host != "" && family != "output" || at.Program == layout.OfSample && at.Host != "" && at.Host != layout.Localhost,
	}
	key := logKey{r, l.Kind, l.Host, l.Prefix, l.Job}
	if used := s.logs[key]; used != nil {
		s.leaveNotable(f, "a second log of the same host, volume and job; used "+used.Name())
		return
	}
	s.logs[key] = f
	if name.Host != "" && at.Host != "" && !SameHost(name.Host, at.Host) {
		r.doubt(fmt.Sprintf("%s: taken for host %s, as its name says; its folder says %s", f.Name(), name.Host, at.Host))
	}
	r.add(l)
}

// dropAllJobsLogs drops logs of all jobs if there are also logs of single jobs: one of the two kinds is from another
// execution, and together they would count requests twice.
func (s *sorter) dropAllJobsLogs() {
	single := map[logKey]bool{}
	for key := range s.logs {
		if key.job > 0 {
			key.job = 0
			single[key] = true
		}
	}
	for _, r := range s.runs {
		r.dropLogs(func(l Log) bool {
			if l.Job > 0 || !single[logKey{r, l.Kind, l.Host, l.Prefix, 0}] {
				return false
			}
			s.leaveNotable(l.File, "a log of all jobs beside logs of single jobs: it would count requests twice")
			return true
		})
	}
}

// addReport gives a file that may be fio's output to its run, if the name that CBT gave it says which run that is, or
// its place in a sample of pbench-fio. Otherwise it returns false, and the content decides: see [clues.attribute].
func (s *sorter) addReport(f *evidence.File) bool {
	base := path.Base(f.Path)
	at := s.PlaceOf(f, false)
	if at.Program == layout.OfSample {
		if !f.Look().HasJSON { // pbench-fio always has fio's JSON
			if layout.RoleOf(f.Path) == layout.RoleReport {
				s.leave(f, "is not fio's output in JSON")
			}
			return true
		}
		r := s.runOf(f, &at, "")
		one := Report{Host: at.Host, File: f, Found: FoundFolder, Candidate: true}
		if base == layout.PBenchReport {
			one.Found, one.Candidate = FoundNamed, false
		}
		isRemote := func(l Log) bool { return l.Host != layout.Localhost }
		if !r.isReported() && !slices.ContainsFunc(r.logs(), isRemote) {
			one.Host = layout.Localhost // without fio --client the report has no names of hosts
		}
		r.Reports = append(r.Reports, one)
		return true
	}
	isCBT := at.Program == layout.OfCBT
	volume, host, isNamed := layout.ParseReport(base, at.Known.Benchmark != layout.RBDFio)
	if isNamed && host != "" {
		at = s.PlaceOf(f, true)
	}
	runs := s.byDir[layout.FolderOf(f, at.Folder)]
	if !isCBT {
		runs = without(runs, func(r *Run) bool { return r.isReported() })
	}
	if len(runs) == 0 && isNamed && (isCBT || !f.Beside && f.IsReport()) {
		runs = []*Run{s.runOf(f, &at, "output")}
	}
	if isNamed { // unless all logs of the folder have other names
		mine := without(runs, func(r *Run) bool { return r.family != "output" && !r.isReported() })
		if isNamed = len(mine) > 0; isNamed {
			runs = mine
		}
	}
	if !isCBT && !isNamed {
		return false
	}
	name, hostOfName := splitHost(base, runs)
	one := Report{Host: cmp.Or(hostOfName, at.Host), File: f, Found: FoundFolder, Candidate: true}
	if isNamed {
		one.Volume, one.Host, one.Named, one.Found, one.Candidate = volume, cmp.Or(host, at.Host), true, FoundNamed, false
	} else if same := without(runs, func(r *Run) bool { return !r.hasPrefix(layout.Stem(name)) }); len(same) > 0 || path.Ext(name) == "" {
		runs = same // else the content decides between all runs
	}
	for _, r := range runs {
		r.Reports = append(r.Reports, one)
	}
	if len(runs) == 0 && layout.RoleOf(f.Path) == layout.RoleReport {
		s.leave(f, "may be fio's output, but there are no logs in its folder")
	}
	return true
}

// uniteDepths makes one run of the iodepth folders below each total_iodepth folder, because they have the volumes of
// one execution. If two of them have the same volume, they are several executions and stay separate.
func (s *sorter) uniteDepths() {
	parts := without(present(s.runs), func(r *Run) bool { return layout.TotalOf(r.at.Folder) == "" })
	for _, runs := range group.By(s.inOrder(parts), func(r *Run) runKey {
		return runKey{layout.Folder{Argument: r.argument, Archive: r.Archive, Path: layout.TotalOf(r.at.Folder)}, r.family}
	}) {
		owner, isTwice := map[JobKey]*Run{}, false
		for _, r := range runs {
			own := func(host, volume string) {
				d := JobKey{Host: host, Volume: volume}
				isTwice = isTwice || owner[d] != nil && owner[d] != r
				owner[d] = r
			}
			for _, l := range r.logs() {
				own(l.Host, l.Volume)
			}
			for _, f := range r.Reports {
				if f.Named {
					own(f.Host, f.Volume)
				}
			}
		}
		if isTwice {
			for _, r := range runs {
				r.doubt("the same volumes are in several iodepth folders of one total_iodepth: taken for several executions")
			}
			continue
		}
		one := runs[0]
		one.Path = layout.TotalOf(one.at.Folder) + strings.TrimPrefix(one.Path, one.at.Folder)
		for _, r := range runs[1:] {
			if r.IODepth != one.IODepth {
				one.IODepth = 0
			}
			one.absorb(r)
		}
	}
}

// dropBandwidth drops runs outside of CBT's layout that have only logs of bandwidth. They have neither requests nor
// latencies, and other programs use such names, too.
func (s *sorter) dropBandwidth() {
	for _, r := range present(s.runs) {
		isOther := func(l Log) bool { return l.Kind != fiolog.BW }
		if r.at.Program != layout.OfPeople || len(r.Reports) > 0 || len(r.Logs) > 0 || slices.ContainsFunc(r.Others, isOther) {
			continue
		}
		for _, l := range r.Others {
			s.leaveNotable(l.File, "only bandwidth, and neither a report nor another log belongs to it: add fio's report, whose options name it")
		}
		r.gone = true
	}
}

// Skipped is the configuration of a benchmark that does not run fio.
type Skipped struct {
	Path   string // of the id- folder
	Reason string // its benchmark, as its configuration says
	Files  []*evidence.File

	archiveConfig *evidence.File
}

// skip finds the id- folders of other benchmarks, by their configurations: they have no log of fio, and their reports have
// the same names as fio's.
func (s *sorter) skip(reports []*evidence.File) map[layout.Folder]*Skipped {
	files, skipped := map[layout.Folder][]*evidence.File{}, map[layout.Folder]*Skipped{}
	for at, f := range s.Configs() {
		id := at.In(path.Dir(at.Path))
		if s.PlaceOf(f, false).Config == id.Path && path.Base(f.Path) == layout.ConfigName {
			files[id] = append(files[id], f)
		}
	}
	for _, f := range reports {
		if at := s.PlaceOf(f, false); at.Program == layout.OfCBT && layout.RoleOf(f.Path) != layout.RoleNone {
			id := layout.FolderOf(f, at.Config)
			files[id] = append(files[id], f)
		}
	}
	for _, r := range s.runs {
		delete(files, layout.Folder{Argument: r.argument, Archive: r.Archive, Path: r.at.Config}) // it has logs of fio
	}
	for id, of := range files {
		benchmark := s.FactsIn(s.Config(id, layout.ConfigName)).Benchmark
		if benchmark == "" || layout.IsFioClass(benchmark) {
			continue
		}
		skipped[id] = &Skipped{
			Path: id.Path, Files: of,
			Reason:        benchmark + " does not run fio, as its configuration says",
			archiveConfig: s.Config(id.In(s.PlaceOf(of[0], false).Root), layout.ArchiveConfigName),
		}
	}
	return skipped
}
