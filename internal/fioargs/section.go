package fioargs

import (
	"slices"
	"strings"
)

// Section describes jobs of fio: a --name on the command line, or a [name] in a job file.
type Section struct {
	Name    string
	At      string   // where it begins
	File    string   // path of the job file; empty for the command line
	Options []Option // in the order in which they take effect: global options, then its own
}

// Get returns the effective option with this name. ok is false if it is not set.
func (s *Section) Get(name string) (Option, bool) { return last(s.Options, name) }

// IsOn reports whether a boolean option is set and on.
func (s *Section) IsOn(name string) bool {
	o, ok := s.Get(name)
	return ok && o.IsOn()
}

// Jobs returns how many jobs fio makes from the section.
func (s *Section) Jobs() int {
	o, _ := s.Get("numjobs")
	return max(o.Int(1), 1)
}

// HistogramLog returns the prefix of the histogram logs that the section writes: NAME in NAME_clat_hist.1.log. ok is
// false if it writes none. Without log_hist_msec the logs are empty.
func (s *Section) HistogramLog() (prefix string, ok bool) {
	o, ok := s.Get("write_hist_log")
	if ok && o.Value == "" {
		return s.Name, true
	}
	return o.Value, ok
}

// WritesLogs reports whether the section writes logs with times.
func (s *Section) WritesLogs() bool {
	return slices.ContainsFunc(s.Options, func(o Option) bool {
		return strings.HasPrefix(o.Name, "write_") && strings.HasSuffix(o.Name, "_log")
	})
}

// NoLatencies returns the option that turns off the measurement of completion latencies. Then histogram logs and
// reports of the section have none. ok is false if there is no such option.
func (s *Section) NoLatencies() (Option, bool) {
	for _, name := range []string{"gtod_reduce", "disable_clat"} {
		if o, ok := s.Get(name); ok && o.IsOn() {
			return o, true
		}
	}
	return Option{}, false
}
