package cbt

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
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

// addUnread adds a file that is no report. If it is fio's output in another format, people may expect it to be read.
func (l *leftovers) addUnread(f *source.File, why string) {
	if format := otherFormat(head(f)); format != "" {
		l.addNotable(f, format)
		return
	}
	l.add(f, why)
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
