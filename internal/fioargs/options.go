package fioargs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/late"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Section describes jobs of fio: a --name on the command line, or a [name] in a job file.
type Section struct {
	Name    string
	At      string   // where it begins
	File    string   // path of the job file; empty for the command line
	Options []Option // in the order in which they take effect: global options, then its own
}

// Get returns the effective option with this name: the last one. ok is false if it is not set.
func (s *Section) Get(name string) (o Option, ok bool) {
	for _, o := range slices.Backward(s.Options) {
		if o.Name == name {
			return o, true
		}
	}
	return Option{}, false
}

// Value returns the value that is in effect: fio's default if the option is not set, as far as it is known here.
func (s *Section) Value(name string) string {
	if o, ok := s.Get(name); ok {
		return o.Value
	}
	return OptionDefault(name)
}

// Int returns a number that is set, or otherwise.
func (s *Section) Int(name string, otherwise int) int {
	o, _ := s.Get(name)
	return o.Int(otherwise)
}

// Time returns a time that is set, or 0.
func (s *Section) Time(name string) time.Duration {
	o, _ := s.Get(name)
	return o.Time()
}

// Map returns the effective options by their names.
func (s *Section) Map() map[string]string {
	all := map[string]string{}
	for _, o := range s.Options {
		all[o.Name] = o.Value
	}
	return all
}

// IsOn reports whether a boolean option is set and on.
func (s *Section) IsOn(name string) bool {
	o, ok := s.Get(name)
	return ok && o.IsOn()
}

// Jobs returns how many jobs fio makes from the section.
func (s *Section) Jobs() int {
	return max(s.Int("numjobs", 1), 1)
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

// Option is an option as it was written.
type Option struct {
	Name  string // without dashes; the main name if fio has several
	Value string // empty without a value; in sections, "***" for a secret
	At    string // where it was written: "job.fio:12" or "command line"
}

// IsOn reports whether a boolean option is on. Without a value it is on.
func (o Option) IsOn() bool { return o.Value == "" || o.Int(0) != 0 }

// Int returns the value as a number, such as 16 or 4k, or otherwise if the value is not a number.
func (o Option) Int(otherwise int) int {
	text, factor := strings.ToLower(o.Value), 1
	if short, ok := strings.CutSuffix(text, "k"); ok {
		text, factor = short, 1024
	}
	n, err := strconv.ParseInt(text, 0, 32)
	if err != nil {
		return otherwise
	}
	return int(n) * factor
}

// Time returns the value as a duration, such as 30, 5m or 100ms. A number without a unit is in seconds. If the value
// is not a duration, Time returns 0.
func (o Option) Time() time.Duration {
	t, _ := ParseTime(o.Value)
	return t
}

// variable matches ${NAME}, a variable of the environment.
var variable = late.Regexp(`\$\{[^}]*\}`)

// own are the options of fio itself; true means that a value follows, after "=" or as the next argument. All others are
// options of jobs.
var own = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(`output latency-log output-format eta eta-interval eta-newline debug section inflate-log alloc-size
		profile max-jobs terse-version daemonize client remote-config idle-prof status-interval trigger-file
		trigger-timeout trigger trigger-remote aux-path`) {
		all[name] = true
	}
	for _, name := range strings.Fields(`bandwidth-log minimal append-terse version help cmdhelp enghelp showcmd readonly parse-only
		warnings-fatal server cpuclock-test crctest memcpytest merge-blktrace-only`) {
		all[name] = false
	}
	return all
}()

// decisive are the options that decide where reports and logs are written, and whether jobs run.
var decisive = []string{
	"output-format", "status-interval", "client", "server", "section", "write_hist_log", "log_hist_msec", "per_job_logs",
	"numjobs", "daemonize", "showcmd", "parse-only", "minimal", "append-terse", "eta-newline", "latency-log",
}

// switches are options of jobs whose value is optional, in fio and in its engines. All other options of jobs need a
// value.
var switches = []string{
	"bs_unaligned", "blocksize_unaligned", "exitall", "exitall_on_error", "fixedbufs", "group_reporting", "hipri",
	"libblkio_force_enable_completion_eventfd", "libblkio_vectored", "libblkio_write_zeroes_on_trim", "listen", "new_group",
	"no_completion_thread", "nodelay", "norandommap", "pingpong", "refill_buffers", "registerfiles", "sqthread_poll",
	"stats", "stonewall", "wait_for_previous", "thread", "time_based", "unlink_each_loop", "userspace_reap",
	"verify_only", "xnvme_iovec", "zero_buffers",
}

// Version is a version of fio, without its patch number.
type Version struct{ Major, Minor int }

// Versions since which fio has features that fio2es uses.
var (
	HasHistogramLogs = Version{2, 14} // write_hist_log, log_hist_msec, log_unix_epoch; json+ is older
	HasJobStart      = Version{3, 36} // reports have the time at which each job began
)

// ParseVersion parses the output of fio --version, such as "fio-3.33" or "fio-3.36-17-g1a2b-dirty".
func ParseVersion(text string) (Version, error) {
	var v Version
	name, ok := strings.CutPrefix(strings.TrimSpace(text), "fio-")
	if _, err := fmt.Sscanf(name, "%d.%d", &v.Major, &v.Minor); !ok || err != nil || v.Major < 0 || v.Minor < 0 {
		return Version{}, fmt.Errorf("%q is no version of fio: want one such as fio-3.33", text)
	}
	return v, nil
}

// Before reports whether a version is older than another.
func (v Version) Before(other Version) bool {
	return v.Major < other.Major || v.Major == other.Major && v.Minor < other.Minor
}

// WritesHalf reports whether this fio is 3.6 to 3.16. These versions write contents of their memory into histogram
// logs in place of the counts of slow requests.
func (v Version) WritesHalf() bool { return (&fiolog.Report{Version: v.String()}).WritesHalf() }

func (v Version) String() string { return fmt.Sprintf("fio-%d.%d", v.Major, v.Minor) }
