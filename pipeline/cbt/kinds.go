package cbt

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

const (
	configName        = "benchmark_config.yaml" // of one benchmark
	archiveConfigName = "cbt_config.yaml"       // of the archive
)

var (
	// CBT makes two of these files, and fio2es-fio (fio2es shim) the third, live_output.
	reportFile   = regexp.MustCompile(`^(?:json_output|live_output|output)\.(\d+)(?:\.(.+))?$`)
	bareReport   = regexp.MustCompile(`^(?:json_output|live_output|output)(?:\.(.+))?$`) // of rbdfio, which has no volumes
	hostedReport = regexp.MustCompile(`^(.+\.(?:json|out|txt))\.(.+)$`)                  // with a host, as CBT collects files
	volumePrefix = regexp.MustCompile(`^(.*)\.(\d+)$`)
	unixTime     = regexp.MustCompile(`\d{9,}$`) // with a fraction, in the prefix of other programs
	numberMark   = regexp.MustCompile(`^\.\d+$`)
	hashName     = regexp.MustCompile(`^[0-9a-f]{16,}$`) // other programs store thousands of such files
	cephFile     = regexp.MustCompile(`^(?:ceph_settings\.out|historic_ops\.out|pgautoscaler\.log)`)
	rsyncFile    = regexp.MustCompile(`^\..+\.[0-9A-Za-z]{6}$`) // while it copies
	monitorDir   = regexp.MustCompile(`^(?:collectl|perf|blktrace|top|visualisation|[a-z_]+_monitoring)(?:\..+)?$`)
	kindWord     = regexp.MustCompile(`(?i)(?:^|[^a-z])(clat|slat|lat|bw|iops)(?:[^a-z]|$)`)
)

// role is what a file may be, by its name.
type role uint8

const (
	roleNone   role = iota // of no interest, by its name or its folder
	roleLoose              // fio's output only if its content says so
	roleLog                // written by fio's write_*_log
	roleConfig             // one of CBT's YAML files
	roleReport             // may be fio's output
	roleJob                // may be a job file
)

// roles are what files may be by the ends of their names. Other ends say nothing.
var roles = map[string]role{
	".json": roleReport, ".txt": roleReport, ".out": roleReport, ".fio": roleJob, ".job": roleJob,
	".png": roleNone, ".jpg": roleNone, ".svg": roleNone, ".pdf": roleNone, ".html": roleNone, ".css": roleNone, ".js": roleNone, ".csv": roleNone,
	".py": roleNone, ".sh": roleNone, ".yaml": roleNone, ".yml": roleNone, ".xml": roleNone, ".so": roleNone, ".o": roleNone, ".a": roleNone,
}

// wanted reports whether a file may be needed, by its path: logs of fio, files that may be its reports, job files, and
// CBT's configuration. For other files the content decides, see [Options].
func wanted(name string) bool { return roleOf(name) > roleLoose }

// Options returns the options of a scan for [Read]. The scan finds reports of any name near logs. It lists files that
// the user named, under any name, and files beside them that may belong to them.
func Options() source.Options {
	return source.Options{Want: wanted, Named: true, Beside: true, Look: source.Look{
		Near: func(name string) bool { return roleOf(name) == roleLog },
		Name: func(name string) bool { return roleOf(name) == roleLoose },
		Is:   evidence.IsOutput,
		Kin:  func(name string) bool { return roleOf(name) == roleJob },
	}}
}

func roleOf(name string) role {
	base := path.Base(name)
	parts := strings.Split(path.Dir(name), "/")
	isBelow, isRBDFio := false, false
	for i, dir := range parts {
		// Other programs write files, too, which CBT or pbench-fio runs beside fio. A workload may be named like one of
		// them, but it has settings below it.
		if dir == "sysinfo" || dir == ".rsync-partial" || dir == ".~tmp~" || i > 0 && strings.HasPrefix(dir, "tools-") && sampleDir.MatchString(parts[i-1]) {
			return roleNone
		}
		if isBelow && monitorDir.MatchString(dir) && (i+1 == len(parts) || !isSetting(parts[i+1])) {
			return roleNone
		}
		isBelow = isBelow || configDir.MatchString(dir)
		isRBDFio = isRBDFio || dir == rbdfio || strings.HasPrefix(dir, rbdfio+".")
	}
	_, isLog := fiolog.ParseName(base)
	byEnd, isKnown := roles[path.Ext(base)]
	switch {
	case rsyncFile.MatchString(base):
		return roleNone
	case isLog:
		return roleLog
	case base == configName || base == archiveConfigName:
		return roleConfig
	case cephFile.MatchString(base) || hashName.MatchString(base): // CBT gets the first from the cluster
		return roleNone
	case reportFile.MatchString(base) || isRBDFio && bareReport.MatchString(base):
		return roleReport
	case isKnown:
		return byEnd
	}
	_, mark := fiolog.CutCopyMark(base)
	switch {
	case mark == "" && strings.Contains(base, "_clat_hist."): // it can be nothing else, so there is a message
		return roleLog
	case mark == "" && hostedReport.MatchString(base) && strings.Contains(base, ".json."): // x.json.node01
		return roleReport
	}
	return roleLoose
}

// parseReport splits the name that CBT gives to fio's output. A host may be an IP address, whose first number looks
// like a volume, which rbdfio does not have. The mark of a copy is not part of the host, because the original may be
// gone.
func parseReport(base string, withVolume bool) (volume, host string, ok bool) {
	if original, mark := fiolog.CutCopyMark(base); mark != "" && !numberMark.MatchString(mark) {
		base = original
	}
	form := bareReport
	if withVolume {
		form = reportFile
	}
	switch m := form.FindStringSubmatch(base); len(m) {
	case 2:
		return "", m[1], true
	case 3:
		return m[1], m[2], true
	}
	return "", "", false
}

// splitHost takes the host off the name of a report, if logs of its folder have hosts, too: "x.json.hostA".
func splitHost(base string, runs []*Run) (name, host string) {
	hasHost := func(l Log) bool { return l.Host != "" }
	hasHosts := func(r *Run) bool { return slices.ContainsFunc(r.logs(), hasHost) }
	if m := hostedReport.FindStringSubmatch(base); m != nil && slices.ContainsFunc(runs, hasHosts) {
		return m[1], m[2]
	}
	return base, ""
}

// splitPrefix takes the volume off a log's prefix: "output.0" is volume 0 of "output".
func splitPrefix(prefix string) (family, volume string) {
	if m := volumePrefix.FindStringSubmatch(prefix); m != nil && !unixTime.MatchString(m[1]) {
		return m[1], m[2]
	}
	return prefix, ""
}

// stem returns the name of a report or job file without the endings that say that it is one.
func stem(base string) string {
	if ext := path.Ext(base); roles[ext] != roleNone {
		return strings.TrimSuffix(base, ext)
	}
	return base
}

// logFile is a log of fio with the parts of its name. If its name is not the name of a log, the parts are assumed.
type logFile struct {
	file  *evidence.File
	name  fiolog.Name
	doubt string // why it is taken for a log although its name does not say so
}

// kinds returns the files by their kinds: logs, fio's output or files that may be, and files that may be job files. Names
// decide or, if the user named a file, its content. Copies, by their names, go to the leftovers, and so do files that
// the user named and that are not from fio.
func (s *sorter) kinds() (logs []logFile, reports, jobs []*evidence.File) {
	for _, f := range s.files {
		base := path.Base(f.Path)
		role, log := roleOf(f.Path), logFile{file: f}
		if role == roleLog {
			isLog := false
			if log.name, isLog = fiolog.ParseName(base); f.Beside {
				continue
			}
			if !isLog {
				s.leaveNotable(f, "its name is not that of a log of fio, such as x_clat_hist.1.log or x_clat_hist.1.log.HOST, so it is not read: rename it")
				continue
			}
		} else if f.Named && role != roleConfig {
			var why string
			if role, log.name.Kind, why = lookAt(f, role); why != "" {
				s.leaveNotable(f, why)
			}
			log.name.Prefix = stem(base) // it has one job, or several one after another
			log.doubt = fmt.Sprintf("%s: read as a log of %s, because of its rows", f.Name(), kindNames[log.name.Kind])
		}
		if role == roleJob && f.IsReport() {
			role = roleReport
		}
		if (role == roleReport || role == roleLoose) && !f.Beside && !reportFile.MatchString(base) {
			if why := f.Look().Foreign; why != "" {
				s.leaveNotable(f, why)
				continue
			}
		}
		switch role {
		case roleLog:
			// A copy that the user named is read if the user named no other log in its folder.
			isProper := func(other *evidence.File) bool {
				name, ok := fiolog.ParseName(path.Base(other.Path))
				return ok && name.Copy == "" && s.dirOf(other) == s.dirOf(f)
			}
			if mark := log.name.Copy; mark != "" && (!f.Named || slices.ContainsFunc(s.files, isProper)) {
				why := fmt.Sprintf("a copy of a log, as its name says (%s)", mark)
				if !s.hasOriginal(f) {
					why += "; rename it if it is the only one"
				}
				s.leaveNotable(f, why)
				continue
			}
			logs = append(logs, log)
		case roleJob:
			jobs = append(jobs, f)
		case roleReport, roleLoose:
			// A name may say that a report is older than another that is there, such as out.json.bak beside out.json. The
			// number at its end may be a volume, or part of an address.
			original, mark := fiolog.CutCopyMark(base)
			isOld := mark != "" && strings.ContainsRune("~.-", rune(mark[0])) && !strings.HasPrefix(mark, "- ") &&
				!(numberMark.MatchString(mark) && (reportFile.MatchString(base) || !s.hasLogs(s.dirOf(f)))) // x.json.1 may be another run
			if isOld && !f.Named && roleOf(original) == roleReport && s.hasOriginal(f) {
				if !f.Beside && f.IsReport() {
					s.leaveNotable(f, fmt.Sprintf("a copy of a report, as its name says (%s)", mark))
				}
				continue
			}
			reports = append(reports, f)
		}
	}
	return logs, reports, jobs
}

func (s *sorter) hasLogs(dir string) bool {
	return slices.ContainsFunc(s.files, func(f *evidence.File) bool { return s.dirOf(f) == dir && roleOf(f.Path) == roleLog })
}

// hasOriginal reports whether the original of a file exists, if its name says that it is a copy.
func (s *sorter) hasOriginal(f *evidence.File) bool {
	if s.paths == nil {
		s.paths = make(map[string]bool, len(s.files))
		for _, other := range s.files {
			s.paths[path.Join(s.dirOf(other), path.Base(other.Path))] = true
		}
	}
	base := path.Base(f.Path)
	for original, mark := fiolog.CutCopyMark(base); mark != ""; original, mark = fiolog.CutCopyMark(original) {
		if s.paths[path.Join(s.dirOf(f), original)] {
			return true
		}
	}
	return false
}

// lookAt finds out what a file is that the user named, if its name is not the name of a log. If it is not from fio, why
// is not empty.
func lookAt(f *evidence.File, byName role) (is role, kind fiolog.Kind, why string) {
	seen := f.Look()
	word := kindWord.FindStringSubmatch(path.Base(f.Path))
	switch {
	case seen.Foreign != "":
		return roleNone, 0, seen.Foreign
	case seen.Content == fiolog.Output:
		return roleReport, 0, ""
	case seen.Content == fiolog.Histograms:
		return roleLog, fiolog.ClatHist, ""
	case seen.Content != fiolog.Unknown && word != nil:
		for kind := range kindNames {
			if strings.EqualFold(kind.String(), word[1]) {
				return roleLog, kind, ""
			}
		}
	case seen.Content == fiolog.Completions:
		return roleLog, fiolog.Clat, ""
	case seen.Content == fiolog.Averages:
		return roleNone, 0, "rows of averages (log_avg_msec), but the name does not say of what: name it as fio does, such as x_clat.1.log"
	case byName == roleJob:
		return roleJob, 0, ""
	case seen.Start == "":
		return roleNone, 0, "is empty"
	}
	line, _, _ := strings.Cut(seen.Start, "\n")
	if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\r' }) {
		return roleNone, 0, "is neither a log nor a report of fio: it is binary"
	}
	return roleNone, 0, fmt.Sprintf("is neither a log nor a report of fio: it begins with %q", line)
}

// kindNames says for people what logs contain.
var kindNames = map[fiolog.Kind]string{
	fiolog.ClatHist: "latency histograms", fiolog.Clat: "completion latencies", fiolog.Slat: "submission latencies",
	fiolog.Lat: "total latencies", fiolog.BW: "bandwidth", fiolog.IOPS: "requests per second",
}
