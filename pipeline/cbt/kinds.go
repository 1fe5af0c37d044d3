package cbt

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// logFile is a log of fio with the parts of its name. If its name is not the name of a log, the parts are assumed.
type logFile struct {
	file  *source.File
	name  fiolog.Name
	doubt string // why it is taken for a log although its name does not say so
}

var (
	numberMark = regexp.MustCompile(`^\.\d+$`)
	kindWord   = regexp.MustCompile(`(?i)(?:^|[^a-z])(clat|slat|lat|bw|iops)(?:[^a-z]|$)`)
)

// kinds returns the files by their kinds: logs, fio's output or files that may be, and files that may be job files. Names
// decide or, if the user named a file, its content. Copies, by their names, go to the leftovers, and so do files that
// the user named and that are not from fio.
func (s *sorter) kinds() (logs []logFile, reports, jobs []*source.File) {
	for _, f := range s.files {
		role, log := roleOf(f.Path), logFile{file: f}
		if role == roleLog {
			log.name, _ = fiolog.ParseName(path.Base(f.Path))
			if f.Beside || s.isCopiedLog(f, log.name.Copy) {
				continue
			}
		} else if f.Named && role != roleConfig {
			var why string
			if role, log.name.Kind, why = lookAt(f, role); why != "" {
				s.leaveNotable(f, why)
			}
			log.name.Prefix = stem(path.Base(f.Path)) // it has one job, or several one after another
			log.doubt = fmt.Sprintf("%s: read as a log of %s, because of its rows", f.Name(), kindNames[log.name.Kind])
		} else if role == roleNone && mayBeReport(f.Path) {
			role = roleLoose
		}
		switch role {
		case roleLog:
			logs = append(logs, log)
		case roleJob:
			jobs = append(jobs, f)
		case roleReport, roleLoose:
			reports = append(reports, f)
		}
	}
	return logs, without(reports, s.isOldReport), jobs
}

// isCopiedLog reports whether a log is a copy by its name, and adds it to the leftovers then. A copy that the user
// named is read if the user named no other log in its folder.
func (s *sorter) isCopiedLog(f *source.File, mark string) bool {
	isProper := func(other *source.File) bool {
		name, ok := fiolog.ParseName(path.Base(other.Path))
		return ok && name.Copy == "" && s.dirOf(other) == s.dirOf(f)
	}
	if mark == "" || f.Named && !slices.ContainsFunc(s.files, isProper) {
		return false
	}
	why := fmt.Sprintf("a copy of a log, as its name says (%s)", mark)
	if !s.hasOriginal(f) {
		why += "; rename it if it is the only one"
	}
	s.leaveNotable(f, why)
	return true
}

// isOldReport reports whether the name of a report says that it is older than another that is there, such as
// out.json.bak beside out.json. It adds the report to the leftovers then.
func (s *sorter) isOldReport(f *source.File) bool {
	base := path.Base(f.Path)
	original, mark := fiolog.CutCopyMark(base)
	isOld := mark != "" && strings.ContainsRune("~.-", rune(mark[0])) && !strings.HasPrefix(mark, "- ")
	isVolume := numberMark.MatchString(mark) && reportFile.MatchString(base) // or part of an address
	if !isOld || isVolume || f.Named || roleOf(original) != roleReport || !s.hasOriginal(f) {
		return false
	}
	if !f.Beside && isReport(f) {
		s.leaveNotable(f, fmt.Sprintf("a copy of a report, as its name says (%s)", mark))
	}
	return true
}

// hasOriginal reports whether the original of a file exists, if its name says that it is a copy.
func (s *sorter) hasOriginal(f *source.File) bool {
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
func lookAt(f *source.File, byName role) (is role, kind fiolog.Kind, why string) {
	first := head(f)
	content := contentOf(first)
	word := kindWord.FindStringSubmatch(path.Base(f.Path))
	switch {
	case content == report:
		return roleReport, 0, ""
	case content == histogram:
		return roleLog, fiolog.ClatHist, ""
	case content != unknown && word != nil:
		for kind := range kindNames {
			if strings.EqualFold(kind.String(), word[1]) {
				return roleLog, kind, ""
			}
		}
	case content == completions:
		return roleLog, fiolog.Clat, ""
	case content == averages:
		return roleNone, 0, "rows of averages (log_avg_msec), but the name does not say of what: name it as fio does, such as x_clat.1.log"
	case byName == roleJob:
		return roleJob, 0, ""
	case len(first) == 0:
		return roleNone, 0, "is empty"
	case otherFormat(first) != "":
		return roleNone, 0, otherFormat(first)
	}
	line, _, _ := strings.Cut(string(first[:min(len(first), 40)]), "\n")
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

// peekLen is how much of a file is read to find out what it is.
const peekLen = 64 << 10

// head is the beginning of a file. It may be good although the rest of the file is damaged.
func head(f *source.File) []byte { return beginning(f, peekLen) }

// beginning returns the first n bytes of a file, or all of it if it has fewer.
func beginning(f *source.File, n int) []byte {
	in, err := f.Open()
	if err != nil {
		return nil
	}
	defer in.Close()
	b := make([]byte, n)
	n, _ = io.ReadFull(in, b)
	return b[:n]
}

func isReport(f *source.File) bool { return hasReport(head(f)) }

// hasReport reports whether the first JSON document in a text begins as fio's do. Other text
// may come before it.
func hasReport(head []byte) bool {
	_, after, found := bytes.Cut(head, []byte{'{'})
	for found {
		if bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(`"fio version"`)) {
			return true
		}
		_, after, found = bytes.Cut(after, []byte{'{'})
	}
	return false
}

// The first lines of fio's output in its other formats.
var (
	normalOutput = regexp.MustCompile(`(?m)^.+: \(g(?:roupid)?=\d+[,)]`)
	terseOutput  = regexp.MustCompile(`(?m)^\d;fio-\d`)
)

// otherFormat says that a text is fio's output in a format that is not read. It is empty for other texts.
func otherFormat(head []byte) string {
	format := ""
	switch {
	case normalOutput.Match(head):
		format = "normal"
	case terseOutput.Match(head):
		format = "terse"
	default:
		return ""
	}
	return "is fio's " + format + " output, and only its JSON is read: run fio with --output-format=json+"
}

// leaveUnread adds a file that is no report. If it is fio's output in another format, people may expect it to be read.
func (s *sorter) leaveUnread(f *source.File, why string) {
	if format := otherFormat(head(f)); format != "" {
		s.leaveNotable(f, format)
		return
	}
	s.leave(f, why)
}

// content is the kind of a file, by its content alone.
type content uint8

const (
	unknown     content = iota
	histogram           // rows of a histogram log
	completions         // rows of single completions, or of anything else with a block size
	averages            // rows of averages; nothing in them says what of
	report              // fio's JSON output
)

// contentOf returns the kind of a text by its first few lines that fio may have written.
func contentOf(head []byte) content {
	const lines = 8
	if hasReport(head) {
		return report
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for range lines {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		if c := rowContent(line); c != unknown {
			return c
		}
		head = rest
	}
	return unknown
}

// rowContent returns the kind of log from which a row may be, by the row's number of fields.
func rowContent(line []byte) content {
	fields := bytes.Split(bytes.TrimSpace(line), []byte{','})
	const (
		least, most = 4, 8 // fields of a row without a histogram
		before      = 3    // fields before the bins of a row with a histogram
	)
	var values []uint64
	for _, f := range fields {
		n, err := strconv.ParseUint(string(bytes.TrimSpace(f)), 0, 64)
		if err != nil {
			return unknown
		}
		values = append(values, n)
	}
	switch {
	case len(values) < least:
		return unknown
	case isBins(len(values)-before) && values[1] <= 2:
		return histogram
	case len(values) > most || values[2] > 2:
		return unknown
	case values[3] == 0:
		return averages
	}
	return completions
}

// isBins reports whether a row of a histogram log may have n bins: fio has 19 groups of 64 (fio 2) or 29, other builds
// more or less, and log_hist_coarseness halves them.
func isBins(n int) bool {
	const fewest, most, coarsest = 17, 64, 6
	for c := range coarsest + 1 {
		if groups := n << c / 64; fewest <= groups && groups <= most && groups*64>>c == n {
			return true
		}
	}
	return false
}
