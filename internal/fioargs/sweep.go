package fioargs

import (
	"fmt"
	"slices"
	"strings"
)

// Sweep is an option of jobs, and the values that it gets in one run of fio after another.
type Sweep struct {
	Name   string
	Values []string
}

// oneSetting are options, with their other names, of which one overrides or replaces another.
var oneSetting = [][]string{
	{"bs", "bsrange", "blocksize_range", "bssplit"}, {"ba", "blockalign"}, {"direct", "buffered"}, {"rwmixread", "rwmixwrite"},
	{"io_size", "io_limit"}, {"iodepth_batch", "iodepth_batch_submit"}, {"iodepth_batch_complete_min", "iodepth_batch_complete"},
	{"mem", "iomem"}, {"nrfiles", "nr_files"}, {"offset", "fileoffset"}, {"rate_cycle", "ratecycle"}, {"rate_min", "ratemin"},
	{"fill_device", "fill_fs"}, {"steadystate", "ss"}, {"steadystate_duration", "ss_dur"}, {"steadystate_ramp_time", "ss_ramp"},
}

// ParseSweeps parses texts such as "bs=4k,64k", for the jobs of a command. It fails if the runs would have the same
// settings, or if an option of the jobs overrides the swept one. Only fio knows whether the values are right.
func ParseSweeps(texts []string, c *Command) (sweeps []Sweep, err error) {
	for _, text := range texts {
		name, list, _ := strings.Cut(text, "=")
		s := Sweep{Name: mainName(strings.TrimSpace(name))}
		if hidden(s.Name, list) != list {
			return nil, fmt.Errorf("%s: it has a secret, and the values of a sweep are in the names and labels of runs", s.Name)
		}
		for value := range strings.SplitSeq(list, ",") {
			value = strings.TrimSpace(value)
			switch {
			case name == "" || value == "":
				return nil, fmt.Errorf("want an option of fio's jobs and its values, such as bs=4k,64k, but got %q", text)
			case strings.ContainsAny(value, ";#\n\r"):
				return nil, fmt.Errorf("%s: a job file can have no value with ; or #, or of several lines", text)
			case slices.Contains(s.Values, value):
				return nil, fmt.Errorf("%s: %s twice: --repeat repeats runs", text, value)
			}
			s.Values = append(s.Values, value)
		}
		if reason := notSwept(s.Name, c); reason != "" {
			return nil, fmt.Errorf("%s: %s", text, reason)
		}
		same := append([]string{s.Name}, rivals(s.Name)...)
		if i := slices.IndexFunc(sweeps, func(o Sweep) bool { return slices.Contains(same, o.Name) }); i >= 0 {
			return nil, fmt.Errorf("%s: there is already a sweep of %s", text, sweeps[i].Name)
		}
		sweeps = append(sweeps, s)
	}
	return sweeps, nil
}

// notSwept returns why an option cannot be swept, or "".
func notSwept(name string, c *Command) string {
	_, isOwn := own[name]
	switch {
	case isOwn:
		return "it is an option of fio itself, and not of its jobs"
	case slices.Contains(unmeasured, name):
		return "it does not change what fio measures, so all runs would have the same settings"
	case slices.Contains(append([]string{"filename_format", "opendir", "read_iolog"}, places...), name):
		return "it names files: sweep each by itself, and tell them apart by --labels"
	case len(c.Jobs) == 0:
		return "fio takes its jobs from a profile, which the option would not reach"
	}
	for _, section := range c.Jobs {
		for _, other := range rivals(name) {
			if o, ok := section.Get(other); ok {
				return fmt.Sprintf("%s: [%s] sets %s, which is the same setting under another name, or overrides it: remove it", o.At, section.Name, o.Name)
			}
		}
	}
	return ""
}

// rivals returns the options that override or replace one, or are other names of it.
func rivals(name string) []string {
	for _, names := range oneSetting {
		if slices.Contains(names, name) {
			return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
		}
	}
	return nil
}

// Combinations returns all combinations of the values. The last option varies fastest. Without options there is one
// combination, which sets nothing.
func Combinations(sweeps []Sweep) [][]Option {
	all := [][]Option{nil}
	for _, s := range sweeps {
		var longer [][]Option
		for _, set := range all {
			for _, value := range s.Values {
				longer = append(longer, append(slices.Clone(set), Option{s.Name, value, "--sweep"}))
			}
		}
		all = longer
	}
	return all
}

// With returns the command with options that replace those of all its jobs. They are on its command line after each
// --name. [Movable] adds them to job files.
func (c *Command) With(set []Option) *Command {
	with := *c
	with.Set, with.Args, with.Jobs = set, nil, nil
	isNamed := false
	endJob := func() {
		for _, o := range set {
			if isNamed {
				with.Args = append(with.Args, Arg{Words: []string{"--" + o.Name + "=" + o.Value}, Name: o.Name, Value: o.Value})
			}
		}
	}
	for _, a := range c.Args {
		if !a.IsOwn && replaced(a.Name, set) {
			continue
		}
		if !a.IsOwn && a.Name == "name" {
			endJob()
			isNamed = true
		}
		with.Args = append(with.Args, a)
	}
	endJob()
	for _, section := range c.Jobs {
		s := *section
		s.Options = slices.DeleteFunc(slices.Clone(s.Options), func(o Option) bool { return replaced(o.Name, set) })
		s.Options = append(s.Options, set...)
		with.Jobs = append(with.Jobs, &s)
	}
	return &with
}

func replaced(name string, set []Option) bool {
	return slices.ContainsFunc(set, func(o Option) bool { return o.Name == name })
}

// Differing returns the settings of an option in the sections of a command, with where they are, if they differ. A
// section that does not set it differs from one that does.
func (c *Command) Differing(name string) (list []string) {
	values := map[string]bool{}
	for _, section := range c.Jobs {
		o, ok := section.Get(name)
		values[o.Value] = true
		if text := fmt.Sprintf("%s=%s (%s)", o.Name, o.Value, o.At); ok && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if len(values) < 2 {
		return nil
	}
	return list
}
