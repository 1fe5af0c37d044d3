package fiolog

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"
)

// maxJobFile is the largest size of a job file in bytes. fio's own examples have a few kilobytes.
const maxJobFile = 1 << 20

// JobFile is a job file of fio: a description of jobs.
type JobFile struct {
	Global   map[string]string // options of all [global] sections
	Sections []JobSection      // one for each job, in order
	Includes bool              // the file includes other files, which are not read, so options may differ
}

// JobSection describes one job, or numjobs jobs.
type JobSection struct {
	Name string
	// Options are those of the section and of the [global] sections before it, by fio's main names: "bs", also if the
	// file has "blocksize". A flag has an empty value.
	Options map[string]string
	Line    int // of its name, 1-based
}

// aliases are the other names that fio has for options that fio2es uses.
var aliases = map[string]string{
	"readwrite": "rw", "blocksize": "bs", "timeout": "runtime", "wait_for_previous": "stonewall", "jobname": "name",
}

// MainName returns the main name of an option of fio: "bs" for "blocksize".
func MainName(option string) string { return cmp.Or(aliases[option], option) }

// JobLine is a line of a job file. Section, Include or Option is set, and only one of them.
type JobLine struct {
	Line, Column  int    // 1-based
	Text          string // without comment and outer blanks
	Section       string // the name in brackets
	Include       string // the path of another file, as written
	Option, Value string // Option is fio's main name; a flag has no value
}

// JobLines iterates over the lines of a job file that are not blank. file is the name for errors. The error is a
// [*SyntaxError] and comes with the last element.
func JobLines(text []byte, file string) iter.Seq2[JobLine, error] {
	return func(yield func(JobLine, error) bool) {
		n := 0
		for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
			n++
			l, err := parseJobLine(line, n)
			if err != nil {
				err.File = file
				yield(JobLine{}, err)
				return
			}
			if l.Text != "" && !yield(l, nil) {
				return
			}
		}
	}
}

// parseJobLine parses line n of a job file.
func parseJobLine(line string, n int) (l JobLine, err *SyntaxError) {
	rest := strings.TrimLeft(line, " \t")
	// To fio a comment may begin anywhere in a line.
	text, _, _ := strings.Cut(rest, ";")
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimRight(text, " \t\r\n\x00")
	l = JobLine{Line: n, Column: len(line) - len(rest) + 1, Text: text}
	include, isInclude := strings.CutPrefix(text, "include")
	key, value, _ := strings.Cut(text, "=")
	switch {
	case text == "":
	case strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == '\ufffd' }) >= 0:
		return l, l.wants("text")
	case text[0] == '[':
		name, after, ok := strings.Cut(text[1:], "]")
		if !ok {
			return l, &SyntaxError{Line: n, Column: l.Column + len(text), Got: "the end of the line", Want: `"]"`}
		}
		if name == "" || strings.TrimSpace(after) != "" {
			return l, l.wants(aSection)
		}
		l.Section = name
	case isInclude && strings.TrimLeft(include, " \t") != include:
		l.Include = strings.TrimSpace(include)
	default:
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if key == "" || strings.ContainsAny(key, " \t\"{}:,[]<>") {
			return l, l.wants("an option such as bs=4k")
		}
		l.Option, l.Value = MainName(key), value
	}
	return l, nil
}

const aSection = "a section such as [global]"

// wants returns an error about the whole line. want is what the line should be.
func (l *JobLine) wants(want string) *SyntaxError {
	return &SyntaxError{Line: l.Line, Column: l.Column, Got: quoted([]byte(l.Text)), Want: want}
}

// IsGlobal reports whether the options of a section with this name count for all jobs. For fio [global2] is such a
// section, and [GLOBAL] is a job.
func IsGlobal(section string) bool { return strings.HasPrefix(section, "global") }

// ReadJobFile reads a job file. name is the name for errors. The error is a [*SyntaxError], also for a file without
// sections, or the error of r.
//
// Values are as written, with ${VARIABLES} and units. Included files are not read.
func ReadJobFile(r io.Reader, name string) (*JobFile, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxJobFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	out := &JobFile{Global: map[string]string{}}
	var options map[string]string // of the section
	for l, err := range JobLines(data, name) {
		switch {
		case err != nil:
			return nil, err
		case l.Include != "":
			out.Includes = true
		case IsGlobal(l.Section):
			options = out.Global
		case l.Section != "":
			options = maps.Clone(out.Global)
			out.Sections = append(out.Sections, JobSection{Name: l.Section, Options: options, Line: l.Line})
		case options == nil:
			err := l.wants(aSection)
			err.File = name
			return nil, err
		default:
			options[l.Option] = l.Value
		}
	}
	ends := bytes.Count(data, []byte("\n"))
	switch {
	case len(data) > maxJobFile:
		return nil, &SyntaxError{File: name, Line: max(ends, 1), Column: 1, Got: fmt.Sprintf("more than %d bytes", maxJobFile), Want: "a job file"}
	case options == nil || len(out.Sections) == 0 && len(out.Global) == 0:
		return nil, &SyntaxError{File: name, Line: ends + 1, Column: 1, Got: "the end of the file", Want: aSection}
	}
	return out, nil
}

// sizeUnits are powers of 1024 by default, alone and before a "b" or an "i". Before "ib" they are powers of 1000. Only
// with kb_base=1000 units have their usual meaning to fio.
const sizeUnits = "kmgtp"

// ParseSize parses a number of bytes as fio does by default: "4k" is 4096, "4KiB" is 4000. It returns false for
// anything else, such as ranges, several sizes, and hexadecimal numbers.
func ParseSize(text string) (int64, bool) {
	digits := strings.TrimRight(text, "kmgtpibKMGTPIB")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit := strings.ToLower(text[len(digits):])
	size := int64(1)
	if unit != "" && unit != "b" {
		base := int64(1024)
		switch unit[1:] {
		case "ib":
			base = 1000
		case "", "b", "i":
		default:
			return 0, false
		}
		for range strings.IndexByte(sizeUnits, unit[0]) + 1 {
			size *= base
		}
		if size == 1 {
			return 0, false
		}
	}
	if err != nil || n <= 0 || n > 1<<62/size {
		return 0, false
	}
	return n * size, true
}

// ParseTime parses a duration as fio does: seconds, or a number with a unit. It returns false for anything else, and
// for "2min", because fio reads that as two microseconds.
func ParseTime(text string) (time.Duration, bool) {
	s := strings.ToLower(text)
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	unit, ok := map[string]time.Duration{
		"": time.Second, "s": time.Second, "ms": time.Millisecond, "msec": time.Millisecond, "us": time.Microsecond,
		"usec": time.Microsecond, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[s[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n < 0 || n > int64(1<<62/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
