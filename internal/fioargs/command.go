package fioargs

import (
	"errors"
	"fmt"
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
	var list []Option
	for _, a := range c.Args {
		if a.IsOwn {
			list = append(list, Option{a.Name, a.Value, commandLine})
		}
	}
	return last(list, name)
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

// split returns the words before fio, fio, and its arguments. If the first word is a job file or an option, all
// words are arguments, and program is "fio".
func split(words []string) (before []string, program string, args []string, err error) {
	if len(words) > 0 && (strings.HasPrefix(words[0], "-") || isJobFileName(words[0])) {
		return nil, "fio", words, nil
	}
	for i, w := range words {
		if base := filepath.Base(w); base == "fio" || base == "fio.exe" || strings.HasPrefix(base, "fio-") {
			return words[:i], w, words[i+1:], nil
		}
	}
	return nil, "", nil, ErrNoFio
}

// isJobFileName reports whether a word looks like the name of a job file.
func isJobFileName(word string) bool {
	switch filepath.Ext(word) {
	case ".fio", ".job", ".ini", ".jobfile":
		return true
	}
	return false
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
		if err := checkName(word, name); err != nil {
			return nil, err
		}
		a := Arg{Words: []string{word}, Name: fiolog.MainName(name), Value: value}
		_, a.IsOwn = own[name]
		if !hasValue && takesOf(name) == required {
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

// checkName refuses abbreviations of options that decide where reports and logs are written. fio accepts
// abbreviations; if one were misread here, a run would be lost.
func checkName(word, name string) error {
	const least = 3 // fio accepts no shorter abbreviation of these options
	if len(name) == 1 {
		return fmt.Errorf("%s: write the option out, such as --output", word)
	}
	if _, ok := own[name]; ok || len(name) < least {
		return nil
	}
	for _, full := range []string{
		"output-format", "status-interval", "client", "server", "section", "write_hist_log", "log_hist_msec", "per_job_logs",
		"numjobs", "daemonize", "showcmd", "parse-only", "minimal", "append-terse", "eta-newline", "latency-log",
	} {
		if strings.HasPrefix(full, name) && name != full && !isOption(name) {
			return fmt.Errorf("%s: write the option out: --%s", word, full)
		}
	}
	return nil
}

// isOption reports whether a beginning of an option's name is another option.
func isOption(name string) bool { return name == "eta" || name == "log_hist" }
