package fioargs

import (
	"slices"
	"strings"
)

// Section describes jobs of fio: a --name of the command line, or a [name] of a job file.
type Section struct {
	Name    string
	At      string   // where it begins
	File    string   // the job file; empty on the command line
	Options []Option // in the order in which they take effect: global ones, then its own
}

// Get is the option of a name that is in effect.
func (s *Section) Get(name string) (Option, bool) { return last(s.Options, name) }

// IsOn reports whether an option that is on or off is on.
func (s *Section) IsOn(name string) bool {
	o, ok := s.Get(name)
	return ok && o.IsOn()
}

// Jobs is how many jobs fio makes of the section.
func (s *Section) Jobs() int {
	o, _ := s.Get("numjobs")
	return max(o.Int(1), 1)
}

// HistogramLog is the prefix of the histogram logs that the section writes: NAME of NAME_clat_hist.1.log. It is false
// if the section writes none. Without log_hist_msec the logs are empty.
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

// NoLatencies returns the option that turns the measurement of completion latencies off, so histogram logs and reports
// of the section have none.
func (s *Section) NoLatencies() (Option, bool) {
	for _, name := range []string{"gtod_reduce", "disable_clat"} {
		if o, ok := s.Get(name); ok && o.IsOn() {
			return o, true
		}
	}
	return Option{}, false
}
