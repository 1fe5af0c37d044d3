package fiolog

import (
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"
)

// maxJobFile bounds the size of a job file. fio's own examples have a few kilobytes.
const maxJobFile = 1 << 20

// JobFile is a job file of fio, which describes what it runs.
type JobFile struct {
	Global   map[string]string // of all [global] sections together
	Sections []JobSection      // one for each job, in order
	Includes bool              // other files, which are not read: options may be otherwise than here
}

// JobSection describes one job, or numjobs jobs.
type JobSection struct {
	Name string
	// Options are the section's own and those of the [global] sections before it, by
	// fio's main name: "bs", also if the file has "blocksize". A flag has an empty value.
	Options map[string]string
	Line    int // of its name, 1-based
}

// aliases are fio's other names of options that fio2es uses.
var aliases = map[string]string{
	"readwrite": "rw", "blocksize": "bs", "timeout": "runtime",
}

// ReadJobFile reads a job file. name is for errors. An error is a [*SyntaxError], also for a
// file without sections, or what reading failed with.
//
// Values are as written, with ${VARIABLES} and units. Included files are not read.
func ReadJobFile(r io.Reader, name string) (*JobFile, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxJobFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	p := jobFileParser{file: name, out: JobFile{Global: map[string]string{}}}
	for line := range strings.Lines(string(data)) {
		p.line++
		if p.line == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if err := p.take(line); err != nil {
			return nil, err
		}
	}
	switch {
	case len(data) > maxJobFile:
		return nil, p.bad(1, fmt.Sprintf("more than %d bytes", maxJobFile), "a job file")
	case len(p.out.Sections) == 0 && len(p.out.Global) == 0:
		p.line++
		return nil, p.bad(1, "the end of the file", "a section such as [global]")
	}
	return &p.out, nil
}

// jobFileParser parses a job file line by line.
type jobFileParser struct {
	file     string
	line     int
	out      JobFile
	inGlobal bool
}

func (p *jobFileParser) bad(column int, got, want string) error {
	return &SyntaxError{File: p.file, Line: p.line, Column: column, Got: got, Want: want}
}

func (p *jobFileParser) take(line string) error {
	rest := strings.TrimLeft(line, " \t")
	column := len(line) - len(rest) + 1
	// fio ends a line at a comment wherever it begins.
	text, _, _ := strings.Cut(rest, ";")
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimRight(text, " \t\r\n\x00")
	switch {
	case text == "":
		return nil
	case strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == '\ufffd' }) >= 0:
		return p.bad(column, quoted([]byte(text)), "text")
	case text[0] == '[':
		return p.section(text, column)
	case strings.HasPrefix(text, "include ") || strings.HasPrefix(text, "include\t"):
		p.out.Includes = true
		return nil
	case !p.inGlobal && len(p.out.Sections) == 0:
		return p.bad(column, quoted([]byte(text)), "a section such as [global]")
	}
	return p.option(text, column)
}

func (p *jobFileParser) section(text string, column int) error {
	name, after, ok := strings.Cut(text[1:], "]")
	switch {
	case !ok:
		return p.bad(column+len(text), "the end of the line", `"]"`)
	case name == "" || strings.TrimSpace(after) != "":
		return p.bad(column, quoted([]byte(text)), "a section such as [global]")
	}
	if p.inGlobal = strings.HasPrefix(name, "global"); !p.inGlobal { // to fio [global2] is one, and [GLOBAL] is a job
		p.out.Sections = append(p.out.Sections, JobSection{Name: name, Options: maps.Clone(p.out.Global), Line: p.line})
	}
	return nil
}

// option parses "key=value", or a flag.
func (p *jobFileParser) option(text string, column int) error {
	key, value, _ := strings.Cut(text, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if key == "" || strings.ContainsAny(key, " \t\"{}:,[]<>") {
		return p.bad(column, quoted([]byte(text)), "an option such as bs=4k")
	}
	if main, ok := aliases[key]; ok {
		key = main
	}
	if p.inGlobal {
		p.out.Global[key] = value
	} else {
		p.out.Sections[len(p.out.Sections)-1].Options[key] = value
	}
	return nil
}

// sizeUnits are powers of 1024 by default, alone and before a "b" or an "i". Before "ib" they are powers of 1000: fio
// gives both their usual meaning with kb_base=1000 only.
const sizeUnits = "kmgtp"

// ParseSize parses a number of bytes as fio does by default: "4k" is 4096, "4KiB" is 4000. It returns false for anything
// else, such as ranges, several sizes, and hexadecimal numbers.
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

// ParseTime parses a duration as fio does: seconds, or with a unit. To fio "2min" is two microseconds; that and anything
// else returns false.
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
