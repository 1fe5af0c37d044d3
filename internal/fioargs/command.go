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
	Before  []string   // what starts fio, such as sudo -E
	Program string     // fio
	Args    []Arg      // what follows
	Jobs    []*Section // in the order of fio; without those that --section leaves out
}

// Arg is an argument of the command line: an option, or a job file.
type Arg struct {
	Words []string // as they were written: two where the value of an option is an argument of its own
	Name  string   // of the option, without dashes; empty for a job file
	Value string   // of the option, or the job file
	IsOwn bool     // an option of fio itself, and not of a job
}

// commandLine is [Option.At] for an option of the command line.
const commandLine = "command line"

// Own is the last option of fio itself with a name, such as output.
func (c *Command) Own(name string) (Option, bool) {
	var list []Option
	for _, a := range c.Args {
		if a.IsOwn {
			list = append(list, Option{a.Name, a.Value, commandLine})
		}
	}
	return last(list, name)
}

// Words are the command as it was written.
func (c *Command) Words() []string {
	words := append(slices.Clone(c.Before), c.Program)
	for _, a := range c.Args {
		words = append(words, a.Words...)
	}
	return words
}

// Files are the job files.
func (c *Command) Files() (names []string) {
	for _, a := range c.Args {
		if a.Name == "" {
			names = append(names, a.Value)
		}
	}
	return names
}

// NumJobs is how many jobs fio runs.
func (c *Command) NumJobs() (n int) {
	for _, s := range c.Jobs {
		n += s.Jobs()
	}
	return n
}

// ErrNoFio is a command line in which there is no fio.
var ErrNoFio = errors.New("no fio in the command: want fio ARGS, job.fio, or sudo fio ARGS")

// split finds fio in a command line. It returns the words before fio, fio, and the arguments of fio. If the first word
// is a job file or an option, the words are arguments, and fio is "fio".
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

// isJobFileName reports whether a word is the name of a job file.
func isJobFileName(word string) bool {
	switch filepath.Ext(word) {
	case ".fio", ".job", ".ini", ".jobfile":
		return true
	}
	return false
}

// parseArgs splits arguments as fio does, with getopt_long_only: options and job files in any order, one dash or two.
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

// checkName refuses abbreviations of options that decide where reports and logs go. fio accepts them; if they were
// misread here, a run would be lost.
func checkName(word, name string) error {
	const least = 3 // fio itself knows no shorter option that it takes for one of these
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

// isOption reports whether a text that is the beginning of an option is itself an option.
func isOption(name string) bool { return name == "eta" || name == "log_hist" }
