package fioargs

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/secret"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// jobLine is a line of a job file. Section, Include or Option is set, and only one of them.
type jobLine struct {
	Line, Column  int    // 1-based
	Text          string // without comment and outer blanks
	Section       string // the name in brackets
	Include       string // the path of another file, as written
	Option, Value string // Option is fio's main name; a flag has no value
}

// bad returns the error of a line of a file. It quotes the name of a secret only.
func (l *jobLine) bad(file, want string) *fiolog.SyntaxError {
	most, text := 24, secret.Text(l.Text) // bytes of a file that an error quotes
	if i := strings.IndexAny(text, "= \t:"); i >= 0 && hidden(text[:i], "x") != "x" {
		most = i
	}
	got := fmt.Sprintf("%+q", text[:min(len(text), most)])
	if len(text) > most {
		got += "…"
	}
	return &fiolog.SyntaxError{File: file, Line: l.Line, Column: l.Column, Got: got, Want: want}
}

const aSection = "a section such as [global]"

// jobLines iterates over the lines of a job file that are not blank. file is the name for errors. The error is a
// [*fiolog.SyntaxError] and comes with the last element.
func jobLines(text []byte, file string) iter.Seq2[jobLine, error] {
	return func(yield func(jobLine, error) bool) {
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
			l := jobLine{Line: n, Column: len(line) - len(rest) + 1, Text: text}
			var bad *fiolog.SyntaxError
			include, isInclude := strings.CutPrefix(text, "include")
			switch {
			case strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == '\ufffd' }) >= 0:
				bad = l.bad(file, "text")
			case text[0] == '[':
				name, after, ok := strings.Cut(text[1:], "]")
				if !ok {
					bad = l.bad(file, `"]"`)
					bad.Column, bad.Got = l.Column+len(text), "the end of the line"
				} else if name == "" || strings.TrimSpace(after) != "" {
					bad = l.bad(file, aSection)
				}
				l.Section = name
			case isInclude && strings.TrimLeft(include, " \t") != include:
				l.Include = strings.TrimSpace(include)
			default:
				key, value, _ := strings.Cut(text, "=")
				if key = strings.TrimSpace(key); key == "" || strings.ContainsAny(key, " \t\"{}:,[]<>") {
					bad = l.bad(file, "an option such as bs=4k")
				}
				l.Option, l.Value = mainName(key), strings.TrimSpace(value)
			}
			if bad != nil {
				yield(jobLine{}, bad)
				return
			}
			if !yield(l, nil) {
				return
			}
		}
	}
}

// mostOptions is the largest number of options in all sections together. fio starts at most 4096 jobs.
const mostOptions = 1 << 18

// builder makes sections from --name options and from job files.
type builder struct {
	to        *Command
	global    *Section                          // options of all later sections
	wanted    []string                          // names in --section; empty: all
	stonewall bool                              // the next section waits for earlier jobs, because it begins another job file
	readFile  func(name string) ([]byte, error) // nil: nothing runs here
	options   int                               // of all sections together, with those that each takes from global ones
}

// isGlobal reports whether a section is no job. For fio [global2] is global, too, and [GLOBAL] is a job.
func isGlobal(section string) bool { return strings.HasPrefix(section, "global") }

// begin begins a section. A section that --section leaves out is not added to the command.
func (b *builder) begin(name, file, at string) *Section {
	if isGlobal(name) {
		return b.global
	}
	b.options += len(b.global.Options)
	s := &Section{Name: name, File: file, At: at}
	if b.options <= mostOptions {
		s.Options = slices.Clone(b.global.Options)
	}
	if len(b.wanted) > 0 && !slices.Contains(b.wanted, name) {
		return s
	}
	if b.stonewall {
		s.Options = append(s.Options, Option{"stonewall", "", at})
		b.stonewall = false
	}
	b.to.Jobs = append(b.to.Jobs, s)
	return s
}

// add adds an option to a section, without its secrets.
func (b *builder) add(s *Section, name, value, at string) {
	shown := hidden(name, value)
	b.to.Secrets = b.to.Secrets || shown != value
	s.Options = append(s.Options, Option{name, shown, at})
}

// file makes sections from the text of a job file. Of a file that another one includes (nested > 0) the options are those
// of section s.
//
// If nothing runs here, variables of the environment stay as they are written, and included files are not read.
func (b *builder) file(name string, text []byte, s *Section, nested int) error {
	const mostNested = 16
	for l, err := range jobLines(text, name) {
		at := fmt.Sprintf("%s:%d", name, l.Line)
		switch {
		case err != nil:
		case l.Include != "" && b.readFile == nil:
			b.to.Includes = true
		case l.Include != "" && nested == mostNested:
			err = fmt.Errorf("%s: files include one another more than %d times", at, mostNested)
		case l.Include != "":
			path, more := included(name, l.Include), []byte(nil)
			if more, err = b.readFile(path); err == nil {
				err = b.file(path, more, s, nested+1)
			}
		case nested > 0 && l.Section != "":
			err = fmt.Errorf("%s: %s: an included file has options only, no sections", at, l.Text)
		case l.Section != "":
			s = b.begin(l.Section, name, at)
		case s == nil:
			err = l.bad(name, aSection)
		default:
			value := l.Value
			if b.readFile != nil {
				value = variable().ReplaceAllStringFunc(value, func(v string) string { return os.Getenv(v[2 : len(v)-1]) })
			}
			b.add(s, l.Option, value, at)
			b.options++
		}
		if err == nil && b.options > mostOptions {
			err = l.bad(name, fmt.Sprintf("at most %d options in all sections", mostOptions))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// included returns the path of a file that a job file includes. It is the path as written, or, if that does not
// exist, the path beside the job file.
func included(jobFile, name string) string {
	if _, err := os.Stat(name); err != nil && strings.Contains(jobFile, "/") {
		return filepath.Join(filepath.Dir(jobFile), name)
	}
	return name
}

// maxJobFile is the largest size of a job file in bytes. fio's own examples have a few kilobytes.
const maxJobFile = 1 << 20

// ReadJobFile reads a job file that was used for a run: the sections of the command have its options as they are written,
// and included files are not read. name is the name for errors. The error is a [*fiolog.SyntaxError], also for a file
// without sections, or the error of r.
func ReadJobFile(r io.Reader, name string) (*Command, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxJobFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	b := builder{to: &Command{}, global: &Section{}}
	if err := b.file(name, text, nil, 0); err != nil {
		return nil, err
	}
	const mostJobs = 1 << 16 // more than fio starts
	ends := bytes.Count(text, []byte("\n"))
	switch {
	case b.to.NumJobs() > mostJobs:
		return nil, &fiolog.SyntaxError{File: name, Line: 1, Column: 1, Got: fmt.Sprintf("%d jobs", b.to.NumJobs()), Want: fmt.Sprintf("at most %d", mostJobs)}
	case len(text) > maxJobFile:
		return nil, &fiolog.SyntaxError{File: name, Line: max(ends, 1), Column: 1, Got: fmt.Sprintf("more than %d bytes", maxJobFile), Want: "a job file"}
	case len(b.to.Jobs) == 0 && len(b.global.Options) == 0:
		return nil, &fiolog.SyntaxError{File: name, Line: ends + 1, Column: 1, Got: "the end of the file", Want: aSection}
	}
	return b.to, nil
}

// Movable returns the text of a job file for a copy in another folder: with the files that it includes, and with
// options that replace those of all its jobs. These are at the end of each section, because options of an engine must
// follow the engine.
func Movable(jobFile string, text []byte, set []Option, readFile func(name string) ([]byte, error)) (string, error) {
	var b strings.Builder
	isJob := false
	endJob := func() {
		for _, o := range set {
			if isJob {
				b.WriteString(o.Name + "=" + o.Value + "\n")
			}
		}
	}
	for l, err := range jobLines(text, jobFile) {
		switch {
		case err != nil:
			return "", err
		case l.Include != "":
			path := included(jobFile, l.Include)
			part, err := readFile(path)
			if err != nil {
				return "", err
			}
			more, err := Movable(path, part, set, readFile)
			if err != nil {
				return "", err
			}
			b.WriteString(more)
			continue
		case l.Section != "":
			endJob()
			isJob = !isGlobal(l.Section)
		case replaced(l.Option, set):
			continue
		}
		b.WriteString(l.Text + "\n")
	}
	endJob()
	return b.String(), nil
}

// IsJobFile reports whether a text is a job file of fio: its first line that is not a comment begins a section.
func IsJobFile(text []byte) bool {
	for l, err := range jobLines(text, "") {
		return err == nil && l.Section != ""
	}
	return false
}
