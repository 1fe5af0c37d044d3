package fioargs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	if strings.HasPrefix(name, "global") { // like fio, which also accepts global2
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
	return p.lines(name, 0, func(at, line string) error {
		if strings.HasPrefix(line, "[") {
			title, ok := strings.CutSuffix(line[1:], "]")
			if !ok {
				return fmt.Errorf("%s: %s: want [NAME]", at, line)
			}
			s = p.begin(title, name, at)
			return nil
		}
		if s == nil {
			return fmt.Errorf("%s: %s: want a section before it, such as [global]", at, line)
		}
		s.Options = append(s.Options, optionOf(at, line))
		return nil
	})
}

// mostNested limits how deeply files may include one another.
const mostNested = 16

// lines calls each with each line of a job file and of the files that it includes, without comments.
func (p *parser) lines(name string, nested int, each func(at, line string) error) error {
	text, err := p.readFile(name)
	if err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		at := fmt.Sprintf("%s:%d", name, n)
		if line = content(line); line == "" {
			continue
		}
		included, ok := Included(name, line)
		switch {
		case ok && nested == mostNested:
			err = fmt.Errorf("%s: files include one another more than %d times", at, mostNested)
		case ok:
			err = p.lines(included, nested+1, each)
		case nested > 0 && strings.HasPrefix(line, "["):
			err = fmt.Errorf("%s: %s: an included file has options only, no sections", at, line)
		default:
			err = each(at, line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// content returns a line without its comment.
func content(line string) string {
	if i := strings.IndexAny(line, ";#"); i >= 0 {
		line = line[:i]
	}
	return strings.TrimSpace(line)
}

// Included returns the path of the file that a line of a job file includes. It is the path as written, or, if that
// does not exist, the path beside the job file. ok is false for other lines.
func Included(jobFile, line string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(content(line), "include")
	if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
		return "", false
	}
	name = strings.TrimSpace(rest)
	if _, err := os.Stat(name); err != nil && strings.Contains(jobFile, "/") {
		name = filepath.Join(filepath.Dir(jobFile), name)
	}
	return name, true
}

// variable matches ${NAME}, a variable of the environment.
var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// optionOf parses a line of a job file: NAME=VALUE or NAME.
func optionOf(at, line string) Option {
	name, value, _ := strings.Cut(line, "=")
	value = variable.ReplaceAllStringFunc(strings.TrimSpace(value), func(v string) string { return os.Getenv(v[2 : len(v)-1]) })
	return Option{mainName(strings.TrimSpace(name)), value, at}
}
