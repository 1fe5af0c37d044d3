package fioargs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/secret"
)

// Command is a command line that runs fio, or only a job file.
type Command struct {
	Before   []string   // words before fio, such as sudo -E
	Program  string     // the word for fio
	Args     []Arg      // arguments of fio
	Jobs     []*Section // in the order of fio; without those that --section leaves out
	Includes bool       // there are files of options that were not read: see [ReadJobFile]
	Secrets  bool       // there are secrets in the command line or in the job files
	Set      []Option   // options that replaced those of all jobs: see [Command.With]
}

// Arg is an argument of the command line: an option or a job file.
type Arg struct {
	Words []string // as written: two words if the value of an option is a separate argument
	Name  string   // name of the option, without dashes; empty for a job file
	Value string   // value of the option, or name of the job file
	IsOwn bool     // an option of fio itself, and not of a job
}

// CommandLine is [Option.At] for options on the command line.
const CommandLine = "command line"

// Own returns the effective option of fio itself with this name, such as output: the last one.
func (c *Command) Own(name string) (Option, bool) {
	for _, a := range slices.Backward(c.Args) {
		if a.IsOwn && a.Name == name {
			return Option{a.Name, a.Value, CommandLine}, true
		}
	}
	return Option{}, false
}

// Words returns the command as it was written, to run it. Others than fio get [Command.Shown].
func (c *Command) Words() []string {
	words := append(slices.Clone(c.Before), c.Program)
	for _, a := range c.Args {
		words = append(words, a.Words...)
	}
	return words
}

// Shown returns the words of the command without secrets.
func (c *Command) Shown() (words []string) {
	for _, word := range append(slices.Clone(c.Before), c.Program) {
		words = append(words, secret.Text(word))
	}
	for _, a := range c.Args {
		shown := slices.Clone(a.Words)
		if value := hidden(a.Name, a.Value); value != a.Value {
			last := len(shown) - 1
			shown[last] = strings.TrimSuffix(shown[last], a.Value) + value
		}
		words = append(words, shown...)
	}
	return words
}

// hidden returns the value of an option as it may be stored and shown. On the command line fio accepts beginnings of names.
func hidden(name, value string) string {
	for _, full := range []string{"http_pass", "http_s3_key", "http_s3_security_token", "http_s3_sse_customer_key", "http_swift_auth_token"} {
		if strings.HasPrefix(name, "http_") && strings.HasPrefix(full, name) {
			name = full
		}
	}
	return secret.Value(name, value)
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

// Parse parses a command line and its job files as fio does. readFile reads job files, such as [os.ReadFile].
func Parse(words []string, readFile func(name string) ([]byte, error)) (*Command, error) {
	before, program, args, err := Split(words)
	if err != nil {
		return nil, err
	}
	c := &Command{Before: before, Program: program}
	if c.Args, err = parseArgs(args); err != nil {
		return nil, err
	}
	c.Secrets = !slices.Equal(c.Words(), c.Shown())
	b := builder{readFile: readFile, to: c, global: &Section{}}
	s := b.global
	for _, a := range c.Args {
		switch {
		case a.IsOwn && a.Name == "section":
			b.wanted = append(b.wanted, a.Value)
		case a.IsOwn || a.Name == "":
		case a.Name == "name":
			s = b.begin(a.Value, "", CommandLine)
		default:
			b.add(s, a.Name, a.Value, CommandLine)
		}
	}
	for i, name := range c.Files() {
		if i > 0 { // global options apply only to one job file
			b.global, b.wanted = &Section{}, nil
		}
		b.stonewall = i > 0
		text, err := b.readFile(name)
		if err != nil {
			return nil, err
		}
		if err := b.file(name, text, nil, 0); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Split divides a command line into the words before fio, the word for fio, and fio's arguments. Without fio all words
// are arguments, if the first one is an option or looks like a job file. Otherwise it fails with [ErrNoFio].
func Split(words []string) (before []string, program string, args []string, err error) {
	if len(words) > 0 && (strings.HasPrefix(words[0], "-") ||
		slices.Contains([]string{".fio", ".job", ".ini", ".jobfile"}, filepath.Ext(words[0]))) {
		return nil, "fio", words, nil
	}
	at := slices.IndexFunc(words, func(w string) bool {
		base := filepath.Base(w)
		return base == "fio" || base == "fio.exe" || strings.HasPrefix(base, "fio-")
	})
	if at < 0 {
		return nil, "", nil, ErrNoFio
	}
	return words[:at], words[at], words[at+1:], nil
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
			return nil, fmt.Errorf("-%s: write the option out, such as --output", name) // without its value, which may be a secret
		}
		for _, full := range decisive {
			if !isOwn && len(name) >= least && strings.HasPrefix(full, name) && name != full && name != "log_hist" {
				return nil, fmt.Errorf("%s: write the option out: --%s", word, full)
			}
		}
		if !isOwn {
			needsValue = !slices.Contains(switches, name)
		}
		a := Arg{Words: []string{word}, Name: mainName(name), Value: value, IsOwn: isOwn}
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
