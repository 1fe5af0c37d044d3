package cbt

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// kinds has the files by their kinds: by their names or, if the user named a file, by its content.
type kinds struct {
	logs    []logFile
	reports []*source.File // fio's output, or files that may be
	jobs    []*source.File // files that may be job files
}

// logFile is a log of fio with the parts of its name. If its name is not the name of a log, the parts are assumed.
type logFile struct {
	file  *source.File
	name  fiolog.Name
	doubt string // why it is taken for a log although its name does not say so
}

// sort finds out the kind of each file. Copies, by their names, go to the leftovers, and so do files that the user
// named and that are not from fio.
func (c *catalog) sort(left *leftovers) kinds {
	var k kinds
	for _, f := range c.files {
		switch role := roleOf(f.Path); {
		case role == roleConfig:
		case role == roleLog:
			name, _ := fiolog.ParseName(path.Base(f.Path))
			if !f.Beside && !c.isCopiedLog(f, name.Copy, left) {
				k.logs = append(k.logs, logFile{file: f, name: name})
			}
		case f.Named:
			k.addNamed(f, role, left)
		case role == roleJob:
			k.jobs = append(k.jobs, f)
		case role != roleNone || mayBeReport(f.Path):
			k.reports = append(k.reports, f)
		}
	}
	k.reports = without(k.reports, func(f *source.File) bool { return c.isOldReport(f, left) })
	return k
}

// isCopiedLog reports whether a log is a copy by its name, and adds it to the leftovers then. A copy that the user
// named is read if the user named no other log in its folder.
func (c *catalog) isCopiedLog(f *source.File, mark string, left *leftovers) bool {
	if mark == "" || f.Named && !c.hasProper(c.dirOf(f)) {
		return false
	}
	why := fmt.Sprintf("a copy of a log, as its name says (%s)", mark)
	if !c.hasOriginal(f) {
		why += "; rename it if it is the only one"
	}
	left.addNotable(f, why)
	return true
}

var numberMark = regexp.MustCompile(`^\.\d+$`)

// isOldReport reports whether the name of a report says that it is older than another that is there, such as
// out.json.bak beside out.json. It adds the report to the leftovers then.
func (c *catalog) isOldReport(f *source.File, left *leftovers) bool {
	base := path.Base(f.Path)
	original, mark := fiolog.CutCopyMark(base)
	isOld := mark != "" && strings.ContainsRune("~.-", rune(mark[0])) && !strings.HasPrefix(mark, "- ")
	isVolume := numberMark.MatchString(mark) && reportFile.MatchString(base) // or part of an address
	if !isOld || isVolume || f.Named || roleOf(original) != roleReport || !c.hasOriginal(f) {
		return false
	}
	if !f.Beside && isReport(f) {
		left.addNotable(f, fmt.Sprintf("a copy of a report, as its name says (%s)", mark))
	}
	return true
}

// addNamed adds a file that the user named, if its name is not the name of a log. A log then has one job, or several
// one after another.
func (k *kinds) addNamed(f *source.File, byName role, left *leftovers) {
	first := head(f)
	kind, content := fiolog.ClatHist, contentOf(first)
	hint, hinted := kindHint(f.Path)
	switch {
	case content == report:
		k.reports = append(k.reports, f)
		return
	case content == histogram:
	case content != unknown && hinted:
		kind = hint
	case content == completions:
		kind = fiolog.Clat
	case content == averages:
		left.addNotable(f, "rows of averages (log_avg_msec), but the name does not say of what: name it as fio does, such as x_clat.1.log")
		return
	case byName == roleJob:
		k.jobs = append(k.jobs, f)
		return
	case len(first) == 0:
		left.addNotable(f, "is empty")
		return
	case otherFormat(first) != "":
		left.addNotable(f, otherFormat(first))
		return
	default:
		line, _, _ := strings.Cut(string(first[:min(len(first), 40)]), "\n")
		what := fmt.Sprintf("it begins with %q", line)
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\r' }) {
			what = "it is binary"
		}
		left.addNotable(f, "is neither a log nor a report of fio: "+what)
		return
	}
	k.logs = append(k.logs, logFile{
		file: f, name: fiolog.Name{Prefix: stem(path.Base(f.Path)), Kind: kind},
		doubt: fmt.Sprintf("%s: read as a log of %s, because of its rows", f.Name(), kindNames[kind]),
	})
}

// kindNames says for people what logs contain.
var kindNames = map[fiolog.Kind]string{
	fiolog.ClatHist: "latency histograms", fiolog.Clat: "completion latencies", fiolog.Slat: "submission latencies",
	fiolog.Lat: "total latencies", fiolog.BW: "bandwidth", fiolog.IOPS: "requests per second",
}

var kindWord = regexp.MustCompile(`(?i)(?:^|[^a-z])(clat|slat|lat|bw|iops)(?:[^a-z]|$)`)

// kindHint returns the kind of log that a word in a name says.
func kindHint(name string) (fiolog.Kind, bool) {
	if m := kindWord.FindStringSubmatch(path.Base(name)); m != nil {
		for kind := range kindNames {
			if strings.EqualFold(kind.String(), m[1]) {
				return kind, true
			}
		}
	}
	return 0, false
}
