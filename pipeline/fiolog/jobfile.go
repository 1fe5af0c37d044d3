package fiolog

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"
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

// JobLine is a line of a job file. Section, Include or Option is set, and only one of them.
type JobLine struct {
	Line, Column  int    // 1-based
	Text          string // without comment and outer blanks
	Section       string // the name in brackets
	Include       string // the path of another file, as written
	Option, Value string // Option is fio's main name; a flag has no value
}

const aSection = "a section such as [global]"

// JobLines iterates over the lines of a job file that are not blank. file is the name for errors. The error is a
// [*SyntaxError] and comes with the last element.
func JobLines(text []byte, file string) iter.Seq2[JobLine, error] {
	return func(yield func(JobLine, error) bool) {
		n := 0
		for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
			n++
			rest := strings.TrimLeft(line, " \t")
			// To fio a comment may begin anywhere in a line.
			text, _, _ := strings.Cut(rest, ";")
			text, _, _ = strings.Cut(text, "#")
			if text = strings.TrimRight(text, " \t\r\n\x00"); text == "" {
				continue
			}
			l := JobLine{Line: n, Column: len(line) - len(rest) + 1, Text: text}
			bad := &SyntaxError{File: file, Line: n, Column: l.Column, Got: quoted([]byte(text))}
			include, isInclude := strings.CutPrefix(text, "include")
			switch {
			case strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == '\ufffd' }) >= 0:
				bad.Want = "text"
			case text[0] == '[':
				name, after, ok := strings.Cut(text[1:], "]")
				if !ok {
					bad.Column, bad.Got, bad.Want = l.Column+len(text), "the end of the line", `"]"`
				} else if name == "" || strings.TrimSpace(after) != "" {
					bad.Want = aSection
				}
				l.Section = name
			case isInclude && strings.TrimLeft(include, " \t") != include:
				l.Include = strings.TrimSpace(include)
			default:
				key, value, _ := strings.Cut(text, "=")
				if key = strings.TrimSpace(key); key == "" || strings.ContainsAny(key, " \t\"{}:,[]<>") {
					bad.Want = "an option such as bs=4k"
				}
				l.Option, l.Value = MainName(key), strings.TrimSpace(value)
			}
			if bad.Want != "" {
				yield(JobLine{}, bad)
				return
			}
			if !yield(l, nil) {
				return
			}
		}
	}
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
			return nil, &SyntaxError{File: name, Line: l.Line, Column: l.Column, Got: quoted([]byte(l.Text)), Want: aSection}
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
