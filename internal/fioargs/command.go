package fioargs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Command is a command line that runs fio.
type Command struct {
	Before  []string   // words before fio, such as sudo -E
	Program string     // the word for fio
	Args    []Arg      // arguments of fio
	Jobs    []*Section // in the order of fio; without those that --section leaves out
}

// Arg is an argument of the command line: an option or a job file.
type Arg struct {
	Words []string // as written: two words if the value of an option is a separate argument
	Name  string   // name of the option, without dashes; empty for a job file
	Value string   // value of the option, or name of the job file
	IsOwn bool     // an option of fio itself, and not of a job
}

// commandLine is [Option.At] for options on the command line.
const commandLine = "command line"

// Own returns the effective option of fio itself with this name, such as output: the last one.
func (c *Command) Own(name string) (Option, bool) {
	for _, a := range slices.Backward(c.Args) {
		if a.IsOwn && a.Name == name {
			return Option{a.Name, a.Value, commandLine}, true
		}
	}
	return Option{}, false
}

// Words returns the command as it was written.
func (c *Command) Words() []string {
	words := append(slices.Clone(c.Before), c.Program)
	for _, a := range c.Args {
		words = append(words, a.Words...)
	}
	return words
}

// Files returns the names of the job files.
func (c *Command) Files() (names []string) {
	for _, a := range c.Args {
		if a.Name == "" {
			names = append(names, a.Value)
		}
	}
	return names
}

// NumJobs returns how many jobs fio runs.
func (c *Command) NumJobs() (n int) {
	for _, s := range c.Jobs {
		n += s.Jobs()
	}
	return n
}

// ErrNoFio means that fio is missing in a command line.
var ErrNoFio = errors.New("no fio in the command: want fio ARGS, job.fio, or sudo fio ARGS")

// Parse parses a command line and its job files as fio does. readFile reads job files; nil means [os.ReadFile].
func Parse(words []string, readFile func(name string) ([]byte, error)) (*Command, error) {
	c := &Command{Program: "fio"}
	// Without fio all words are arguments, if the first one is an option or looks like a job file.
	if len(words) == 0 || !strings.HasPrefix(words[0], "-") &&
		!slices.Contains([]string{".fio", ".job", ".ini", ".jobfile"}, filepath.Ext(words[0])) {
		at := slices.IndexFunc(words, func(w string) bool {
			base := filepath.Base(w)
			return base == "fio" || base == "fio.exe" || strings.HasPrefix(base, "fio-")
		})
		if at < 0 {
			return nil, ErrNoFio
		}
		c.Before, c.Program, words = words[:at], words[at], words[at+1:]
	}
	var err error
	if c.Args, err = parseArgs(words); err != nil {
		return nil, err
	}
	p := parser{readFile: readFile, to: c, global: &Section{}}
	if readFile == nil {
		p.readFile = os.ReadFile
	}
	s := p.global
	for _, a := range c.Args {
		switch {
		case a.IsOwn && a.Name == "section":
			p.wanted = append(p.wanted, a.Value)
		case a.IsOwn || a.Name == "":
		case a.Name == "name":
			s = p.begin(a.Value, "", commandLine)
		default:
			s.Options = append(s.Options, Option{a.Name, a.Value, commandLine})
		}
	}
	for i, name := range c.Files() {
		if i > 0 { // global options apply only to one job file
			p.global, p.wanted = &Section{}, nil
		}
		p.stonewall = i > 0
		if err := p.file(name, nil, 0); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// parseArgs splits arguments as fio does with getopt_long_only: options and job files in any order, with one dash or
// two.
func parseArgs(words []string) (args []Arg, err error) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			for _, file := range words[i+1:] {
				args = append(args, Arg{Words: []string{file}, Value: file})
			}
			return args, nil
		}
		if word == "-" || !strings.HasPrefix(word, "-") {
			args = append(args, Arg{Words: []string{word}, Value: word})
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
		needsValue, isOwn := own[name]
		// fio accepts abbreviations. If one of an option that decides where reports and logs are written were misread
		// here, a run would be lost.
		const least = 3 // fio accepts no shorter abbreviation of these options
		if len(name) == 1 {
			return nil, fmt.Errorf("%s: write the option out, such as --output", word)
		}
		for _, full := range decisive {
			if !isOwn && len(name) >= least && strings.HasPrefix(full, name) && name != full && name != "log_hist" {
				return nil, fmt.Errorf("%s: write the option out: --%s", word, full)
			}
		}
		if !isOwn {
			needsValue = !slices.Contains(switches, name)
		}
		a := Arg{Words: []string{word}, Name: fiolog.MainName(name), Value: value, IsOwn: isOwn}
		if !hasValue && needsValue {
			i++
			if i == len(words) {
				return nil, fmt.Errorf("%s: its value is missing", word)
			}
			a.Words, a.Value = append(a.Words, words[i]), words[i]
		}
		args = append(args, a)
	}
	return args, nil
}

// parser makes sections from arguments and job files.
type parser struct {
	readFile  func(name string) ([]byte, error)
	to        *Command
	global    *Section // options of all later sections
	wanted    []string // names in --section; empty: all
	stonewall bool     // the next section waits for earlier jobs, because it begins another job file
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

// file makes sections from a job file. A file that another one includes (nested > 0) has only options of section s.
func (p *parser) file(name string, s *Section, nested int) error {
	const mostNested = 16
	text, err := p.readFile(name)
	if err != nil {
		return err
	}
	for l, err := range fiolog.JobLines(text, name) {
		at := fmt.Sprintf("%s:%d", name, l.Line)
		switch {
		case err != nil:
		case l.Include != "" && nested == mostNested:
			err = fmt.Errorf("%s: files include one another more than %d times", at, mostNested)
		case l.Include != "":
			err = p.file(included(name, l.Include), s, nested+1)
		case nested > 0 && l.Section != "":
			err = fmt.Errorf("%s: %s: an included file has options only, no sections", at, l.Text)
		case l.Section != "":
			s = p.begin(l.Section, name, at)
		case s == nil:
			err = fmt.Errorf("%s: %s: want a section before it, such as [global]", at, l.Text)
		default:
			value := variable.ReplaceAllStringFunc(l.Value, func(v string) string { return os.Getenv(v[2 : len(v)-1]) })
			s.Options = append(s.Options, Option{l.Option, value, at})
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
