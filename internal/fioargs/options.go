package fioargs

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// takes says whether an option on a command line has a value.
type takes int

const (
	required takes = iota // after "=", or as the next argument
	optional              // only after "="
	none
)

// own are the options of fio itself. All others are options of jobs.
var own = map[string]takes{
	"output": required, "latency-log": required, "bandwidth-log": optional, "minimal": none, "output-format": required,
	"append-terse": optional, "version": none, "help": none, "cmdhelp": optional, "enghelp": optional, "showcmd": none,
	"readonly": none, "eta": required, "eta-interval": required, "eta-newline": required, "debug": required,
	"parse-only": none, "section": required, "inflate-log": required, "alloc-size": required, "profile": required,
	"warnings-fatal": none, "max-jobs": required, "terse-version": required, "server": optional, "daemonize": required,
	"client": required, "remote-config": required, "cpuclock-test": none, "crctest": optional, "memcpytest": optional,
	"idle-prof": required, "status-interval": required, "trigger-file": required, "trigger-timeout": required,
	"trigger": required, "trigger-remote": required, "aux-path": required, "merge-blktrace-only": none,
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

func takesOf(name string) takes {
	if t, ok := own[name]; ok {
		return t
	}
	if slices.Contains(switches, name) {
		return optional
	}
	return required
}

// Option is an option as it was written.
type Option struct {
	Name  string // without dashes; the main name if fio has several
	Value string // empty without a value
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
	t, _ := fiolog.ParseTime(o.Value)
	return t
}

// last returns the effective option with this name: the last one.
func last(options []Option, name string) (Option, bool) {
	for _, o := range slices.Backward(options) {
		if o.Name == name {
			return o, true
		}
	}
	return Option{}, false
}
