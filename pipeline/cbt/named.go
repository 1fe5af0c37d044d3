package cbt

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// logOrCopy takes in a log, unless its name is that of a copy. Copies that the user named
// are read where no other log in their folder was named.
func (s *sorter) logOrCopy(f *source.File) {
	base := path.Base(f.Path)
	name, ok := fiolog.ParseName(base)
	switch {
	case f.Beside || !ok: // named by its content, and taken in already
	case name.Copy == "":
		s.log(f, name)
	case f.Named && !s.hasProper(s.dirOf(f)):
		s.log(f, name)
	case s.hasOriginal(f):
		s.leaveOut(f, fmt.Sprintf("a copy of a log, as its name says (%s)", name.Copy))
	default:
		s.leaveOut(f, fmt.Sprintf("a copy of a log, as its name says (%s); rename it if it is the only one", name.Copy))
	}
}

// named is the role of a file that the user named and whose name is no log's. A log is
// taken in here: it has one job, or several that follow one another.
func (s *sorter) named(f *source.File, byName role) role {
	first := head(f)
	kind := fiolog.ClatHist
	switch contentOf(first) {
	case report:
		return roleReport
	case histogram:
	case completions:
		kind = fiolog.Clat
		if hint, ok := kindHint(f.Path); ok {
			kind = hint
		}
	case averages:
		hint, ok := kindHint(f.Path)
		if !ok {
			s.leaveOut(f, "rows of averages (log_avg_msec), but not of what: name it like fio does, such as x_clat.1.log")
			return roleConfig
		}
		kind = hint
	default:
		switch {
		case byName == roleJob:
			return roleJob
		case len(first) == 0:
			s.leaveOut(f, "is empty")
		default:
			line, _, _ := strings.Cut(string(first[:min(len(first), 40)]), "\n")
			s.leaveOut(f, fmt.Sprintf("is neither a log nor a report of fio: it begins with %q", line))
		}
		return roleConfig
	}
	prefix := stem(path.Base(f.Path))
	s.log(f, fiolog.Name{Prefix: prefix, Kind: kind})
	at := s.place(f, false)
	family, _ := splitPrefix(prefix)
	s.run(f, &at, family).doubt(fmt.Sprintf("%s: read as a log of %s, because of its rows", f.Name(), kindNames[kind]))
	return roleConfig
}

// kindNames are what logs are of, for people.
var kindNames = map[fiolog.Kind]string{
	fiolog.ClatHist: "latency histograms", fiolog.Clat: "completion latencies", fiolog.Slat: "submission latencies",
	fiolog.Lat: "total latencies", fiolog.BW: "bandwidth", fiolog.IOPS: "requests per second",
}

var kindWord = regexp.MustCompile(`(?i)(?:^|[^a-z])(clat|slat|lat|bw|iops)(?:[^a-z]|$)`)

// kindHint is the kind of log that a name has a word for.
func kindHint(name string) (fiolog.Kind, bool) {
	m := kindWord.FindStringSubmatch(path.Base(name))
	if m == nil {
		return 0, false
	}
	for kind := fiolog.Clat; kind <= fiolog.IOPS; kind++ {
		if strings.EqualFold(kind.String(), m[1]) {
			return kind, true
		}
	}
	return 0, false
}

// setLoose reports whether the user named all that the run is made of, file by file.
func (r *Run) setLoose() {
	r.Loose = true
	for _, l := range r.logs() {
		r.Loose = r.Loose && l.File.Named
	}
	if r.isReported() {
		for _, f := range r.Reports {
			r.Loose = r.Loose && f.File.Named
		}
	}
}
