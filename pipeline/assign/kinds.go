package assign

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/fio2es/fio2es/internal/late"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/layout"
)

// kindWord is a word in a name that says what a log has.
var kindWord = late.Regexp(`(?i)(?:^|[^a-z])(clat|slat|lat|bw|iops)(?:[^a-z]|$)`)

// splitHost takes the host off the name of a report, if logs of its folder have hosts, too: "x.json.hostA".
func splitHost(base string, runs []*Run) (name, host string) {
	hasHost := func(l Log) bool { return l.Host != "" }
	hasHosts := func(r *Run) bool { return slices.ContainsFunc(r.logs(), hasHost) }
	if name, host, ok := layout.CutHost(base); ok && slices.ContainsFunc(runs, hasHosts) {
		return name, host
	}
	return base, ""
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
		role, log := layout.RoleOf(f.Path), logFile{file: f}
		if role == layout.RoleLog {
			isLog := false
			if log.name, isLog = fiolog.ParseName(base); f.Beside {
				continue
			}
			if !isLog {
				s.leaveNotable(f, "its name is not that of a log of fio, such as x_clat_hist.1.log or x_clat_hist.1.log.HOST, so it is not read: rename it")
				continue
			}
		} else if f.Named && role != layout.RoleConfig {
			var why string
			if role, log.name.Kind, why = lookAt(f, role); why != "" {
				s.leaveNotable(f, why)
			}
			log.name.Prefix = layout.Stem(base) // it has one job, or several one after another
			log.doubt = fmt.Sprintf("%s: read as a log of %s, because of its rows", f.Name(), kindNames[log.name.Kind])
		}
		if role == layout.RoleJob && f.IsReport() {
			role = layout.RoleReport
		}
		if (role == layout.RoleReport || role == layout.RoleLoose) && !f.Beside && !layout.IsReportName(base) {
			if why := f.Look().Foreign; why != "" {
				s.leaveNotable(f, why)
				continue
			}
		}
		switch role {
		case layout.RoleLog:
			// A copy that the user named is read if the user named no other log in its folder.
			isProper := func(other *evidence.File) bool {
				name, ok := fiolog.ParseName(path.Base(other.Path))
				return ok && name.Copy == "" && s.DirOf(other) == s.DirOf(f)
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
		case layout.RoleJob:
			jobs = append(jobs, f)
		case layout.RoleReport, layout.RoleLoose:
			// A name may say that a report is older than another that is there, such as out.json.bak beside out.json. The
			// number at its end may be a volume, or part of an address.
			original, mark := fiolog.CutCopyMark(base)
			isOld := mark != "" && strings.ContainsRune("~.-", rune(mark[0])) && !strings.HasPrefix(mark, "- ") &&
				!(layout.IsNumber(mark) && (layout.IsReportName(base) || !s.hasLogs(s.DirOf(f)))) // x.json.1 may be another run
			if isOld && !f.Named && layout.RoleOf(original) == layout.RoleReport && s.hasOriginal(f) {
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
	return slices.ContainsFunc(s.files, func(f *evidence.File) bool { return s.DirOf(f) == dir && layout.RoleOf(f.Path) == layout.RoleLog })
}

// hasOriginal reports whether the original of a file exists, if its name says that it is a copy.
func (s *sorter) hasOriginal(f *evidence.File) bool {
	if s.paths == nil {
		s.paths = make(map[string]bool, len(s.files))
		for _, other := range s.files {
			s.paths[path.Join(s.DirOf(other), path.Base(other.Path))] = true
		}
	}
	base := path.Base(f.Path)
	for original, mark := fiolog.CutCopyMark(base); mark != ""; original, mark = fiolog.CutCopyMark(original) {
		if s.paths[path.Join(s.DirOf(f), original)] {
			return true
		}
	}
	return false
}

// lookAt finds out what a file is that the user named, if its name is not the name of a log. If it is not from fio, why
// is not empty.
func lookAt(f *evidence.File, byName layout.Role) (is layout.Role, kind fiolog.Kind, why string) {
	seen := f.Look()
	word := kindWord().FindStringSubmatch(path.Base(f.Path))
	switch {
	case seen.Foreign != "":
		return layout.RoleNone, 0, seen.Foreign
	case seen.Content == fiolog.Output:
		return layout.RoleReport, 0, ""
	case seen.Content == fiolog.Histograms:
		return layout.RoleLog, fiolog.ClatHist, ""
	case seen.Content != fiolog.Unknown && word != nil:
		for kind := range kindNames {
			if strings.EqualFold(kind.String(), word[1]) {
				return layout.RoleLog, kind, ""
			}
		}
	case seen.Content == fiolog.Completions:
		return layout.RoleLog, fiolog.Clat, ""
	case seen.Content == fiolog.Averages:
		return layout.RoleNone, 0, "rows of averages (log_avg_msec), but the name does not say of what: name it as fio does, such as x_clat.1.log"
	case byName == layout.RoleJob:
		return layout.RoleJob, 0, ""
	case seen.Start == "":
		return layout.RoleNone, 0, "is empty"
	}
	line, _, _ := strings.Cut(seen.Start, "\n")
	if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\r' }) {
		return layout.RoleNone, 0, "is neither a log nor a report of fio: it is binary"
	}
	return layout.RoleNone, 0, fmt.Sprintf("is neither a log nor a report of fio: it begins with %q", line)
}

// kindNames says for people what logs contain.
var kindNames = map[fiolog.Kind]string{
	fiolog.ClatHist: "latency histograms", fiolog.Clat: "completion latencies", fiolog.Slat: "submission latencies",
	fiolog.Lat: "total latencies", fiolog.BW: "bandwidth", fiolog.IOPS: "requests per second",
}
