package fioargs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Parse parses a command line and its job files as fio does. readFile reads job files; nil means [os.ReadFile].
func Parse(words []string, readFile func(name string) ([]byte, error)) (*Command, error) {
	c := &Command{}
	var rest []string
	var err error
	if c.Before, c.Program, rest, err = split(words); err != nil {
		return nil, err
	}
	if c.Args, err = parseArgs(rest); err != nil {
		return nil, err
	}
	p := parser{readFile: readFile, to: c, global: &Section{}}
	if readFile == nil {
		p.readFile = os.ReadFile
	}
	p.line()
	for i, name := range c.Files() {
		if i > 0 { // global options apply only to one job file
			p.global, p.wanted = &Section{}, nil
		}
		p.stonewall = i > 0
		if err := p.file(name); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// parser makes sections from arguments and job files.
type parser struct {
	readFile  func(name string) ([]byte, error)
	to        *Command
	global    *Section // options of all later sections
	wanted    []string // names in --section; empty: all
	stonewall bool     // the next section waits for earlier jobs, because it begins another job file
}

// line makes sections from the options on the command line.
func (p *parser) line() {
	var s *Section
	for _, a := range p.to.Args {
		switch {
		case a.IsOwn && a.Name == "section":
			p.wanted = append(p.wanted, a.Value)
		case a.IsOwn || a.Name == "":
		case a.Name == "name":
			s = p.begin(a.Value, "", commandLine)
		default:
			if s == nil {
				s = p.global
			}
			s.Options = append(s.Options, Option{a.Name, a.Value, commandLine})
		}
	}
}

// begin begins a section. A section that --section leaves out is not added to the command.
func (p *parser) begin(name, file, at string) *Section {
	if fiolog.IsGlobal(name) {
		return p.global
	}
	s := &Section{Name: name, File: file, At: at, Options: slices.Clone(p.global.Options)}
	if len(p.wanted) > 0 && !slices.Contains(p.wanted, name) {
		return s
	}
	if p.stonewall {
		s.Options = append(s.Options, Option{"stonewall", "", at})
		p.stonewall = false
	}
	p.to.Jobs = append(p.to.Jobs, s)
	return s
}

// file makes sections from a job file.
func (p *parser) file(name string) error {
	var s *Section
	return p.lines(name, 0, func(at string, l *fiolog.JobLine) error {
		switch {
		case l.Section != "":
			s = p.begin(l.Section, name, at)
		case s == nil:
			return fmt.Errorf("%s: %s: want a section before it, such as [global]", at, l.Text)
		default:
			s.Options = append(s.Options, Option{l.Option, expand(l.Value), at})
		}
		return nil
	})
}

// mostNested limits how deeply files may include one another.
const mostNested = 16

// lines calls each with each line of a job file and of the files that it includes.
func (p *parser) lines(name string, nested int, each func(at string, l *fiolog.JobLine) error) error {
	text, err := p.readFile(name)
	if err != nil {
		return err
	}
	for l, err := range fiolog.JobLines(text, name) {
		if err != nil {
			return err
		}
		at := fmt.Sprintf("%s:%d", name, l.Line)
		switch {
		case l.Include != "" && nested == mostNested:
			err = fmt.Errorf("%s: files include one another more than %d times", at, mostNested)
		case l.Include != "":
			err = p.lines(included(name, l.Include), nested+1, each)
		case nested > 0 && l.Section != "":
			err = fmt.Errorf("%s: %s: an included file has options only, no sections", at, l.Text)
		default:
			err = each(at, &l)
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

// Movable returns the text of a job file with absolute paths of the files that it includes, so that a copy in another
// folder means the same.
func Movable(jobFile string, text []byte) (string, error) {
	lines := strings.SplitAfter(string(text), "\n")
	for l, err := range fiolog.JobLines(text, jobFile) {
		if err != nil {
			return "", err
		}
		if l.Include == "" {
			continue
		}
		path, err := filepath.Abs(included(jobFile, l.Include))
		if err != nil {
			return "", err
		}
		lines[l.Line-1] = "include " + path + "\n"
	}
	return strings.Join(lines, ""), nil
}

// IsJobFile reports whether a text is a job file of fio: its first line that is not a comment begins a section.
func IsJobFile(text []byte) bool {
	for l, err := range fiolog.JobLines(text, "") {
		return err == nil && l.Section != ""
	}
	return false
}

// variable matches ${NAME}, a variable of the environment.
var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// expand replaces variables by their values.
func expand(value string) string {
	return variable.ReplaceAllStringFunc(value, func(v string) string { return os.Getenv(v[2 : len(v)-1]) })
}
