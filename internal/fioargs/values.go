package fioargs

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/late"
	"github.com/fio2es/fio2es/internal/secret"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// aliases are the other names that fio has for options that fio2es uses.
var aliases = map[string]string{
	"readwrite": "rw", "blocksize": "bs", "timeout": "runtime", "wait_for_previous": "stonewall", "jobname": "name",
}

// mainName returns the main name of an option of fio: "bs" for "blocksize".
func mainName(option string) string { return cmp.Or(aliases[option], option) }

// Between separates the values of an option that sections have apart, in the order of the sections: "1 | 16".
const Between = " | "

// unmeasured are the options that do not change what fio measures: names, logs and reports; and for how long and from
// when on it measures. The list is not of the options that do, so an option that is not known here counts.
var unmeasured = strings.Fields(`name description comm wait_for stonewall new_group group_reporting unlink randseed
	runtime time_based ramp_time ramp_size startdelay
	write_bw_log write_hist_log write_iolog write_iops_log write_lat_log per_job_logs
	log_alternate_epoch log_alternate_epoch_clock_id log_avg_msec log_compression log_compression_cpus log_entries
	log_hist_coarseness log_hist_msec log_issue_time log_max_value log_offset log_prio log_store_compressed log_unix_epoch
	log_window_value job_start_clock_id
	bwavgtime iopsavgtime percentile_list significant_figures stats disk_util`)

// places are the options that name files, folders, volumes and clients.
var places = strings.Fields("filename filename_format directory opendir rbdname pool clientname")

var number = late.Regexp("[0-9]+")

// Unnumbered returns a name with "#" in place of each number.
func Unnumbered(name string) string { return number().ReplaceAllString(name, "#") }

// Number replaces the numbers in names of files and volumes by "#". It reports whether there were any. Names of devices
// stay as they are: another device is another disk.
func Number(options map[string]string) (any bool) {
	for _, place := range places {
		name := options[place]
		if isDevice := strings.Contains(name, "/dev/") || strings.HasPrefix(name, `\\.\`); isDevice || !number().MatchString(name) {
			continue
		}
		options[place], any = Unnumbered(name), true
	}
	return any
}

// defaults are the values of options that are not set. They are those of Linux.
var defaults = func() map[string]string {
	all := map[string]string{}
	for _, option := range strings.Fields(`rw=read bs=4k ioengine=psync iodepth=1 numjobs=1 nrfiles=1 loops=1 rwmixread=50
		allow_file_create=1 create_fsync=1 create_serialize=1 fadvise_hint=1 invalidate=1 randrepeat=1 scramble_buffers=1
		iodepth_batch=1 iodepth_batch_complete_min=1 thinktime_blocks=1 do_verify=1 percentage_random=100
		fallocate=native file_service_type=roundrobin io_submit_mode=inline mem=malloc random_distribution=random
		random_generator=tausworthe rate_process=linear
		direct=0 sync=0 fsync=0 fdatasync=0 end_fsync=0 fsync_on_close=0 atomic=0 overwrite=0 pre_read=0 thread=0
		norandommap=0 rate=0 rate_iops=0 rate_min=0 rate_iops_min=0 thinktime=0 thinktime_spin=0 offset=0
		offset_increment=0 number_ios=0 verify=0 verify_fatal=0 verify_async=0 zonemode=0 zonesize=0 zonerange=0 zoneskip=0
		refill_buffers=0 zero_buffers=0 lockmem=0 file_append=0 create_on_open=0 gtod_reduce=0 disable_lat=0 disable_clat=0
		disable_slat=0 disable_bw_measurement=0 continue_on_error=0 hipri=0 exitall=0 unified_rw_reporting=0 lat_percentiles=0
		slat_percentiles=0 clat_percentiles=1`) {
		name, value, _ := strings.Cut(option, "=")
		all[name] = value
	}
	return all
}()

// OptionDefault returns the value that an option has if it is not set, or "" if that is not known here.
func OptionDefault(option string) string { return defaults[option] }

// oneAtATime are the engines that return from a request only when it is complete.
var oneAtATime = strings.Fields(`sync psync pvsync pvsync2 mmap splice net netsplice http libhdfs libpmem dev-dax mtd libzbc gfapi
	page_fault ime_psync libcufile libhipfile falloc ftruncate e4defrag
	filecreate filestat filedelete dircreate dirstat dirdelete`)

// IsSynchronous reports whether an engine makes one request at a time, so that iodepth has no effect.
func IsSynchronous(engine string) bool { return slices.Contains(oneAtATime, engine) }

// Measured returns the options that decide what fio measures, in one form for equal values. It leaves out those that
// have fio's default, and secrets. isCBT leaves out the names of files and volumes, which CBT makes for each run.
func Measured(options map[string]string, isCBT bool) map[string]string {
	list := make(map[string]string, len(options))
	for name, value := range options {
		name = mainName(name)
		if !slices.Contains(unmeasured, name) && !secret.IsName(name) && !(isCBT && slices.Contains(places, name)) {
			list[name] = sameForm(name, value)
		}
	}
	// An option is replaced by the one that it is the opposite of. If both are set, fio takes the later one, and the order
	// is not known.
	for _, o := range []struct {
		name, by string
		sum      int
	}{{"buffered", "direct", 1}, {"rwmixwrite", "rwmixread", 100}} {
		n, err := strconv.Atoi(list[o.name])
		if _, isSet := list[o.by]; err == nil && !isSet {
			list[o.by] = strconv.Itoa(o.sum - n)
			delete(list, o.name)
		}
	}
	for name, value := range list {
		if value == defaults[name] {
			delete(list, name)
		}
	}
	return list
}

// sameForm returns a value in the form that all equal values of the option have. A flag has the value 1.
func sameForm(option, value string) string {
	ofEach := func(by string, form func(string) string) string {
		values := strings.Split(value, by)
		for i := range values {
			values[i] = form(values[i])
		}
		return strings.Join(values, by)
	}
	switch {
	case strings.Contains(value, Between):
		return ofEach(Between, func(one string) string { return sameForm(option, one) })
	case strings.Contains(value, ","):
		return ofEach(",", sizeForm)
	case value == "":
		return "1"
	case value == "none":
		return "0"
	case option == "rw":
		mode, more, _ := strings.Cut(value, ":")
		if mode == "readwrite" {
			mode = "rw"
		}
		return strings.TrimSuffix(mode+":"+more, ":")
	case slices.Contains([]string{"thinktime", "thinktime_spin", "thinktime_iotime", "max_latency", "latency_target", "latency_window"}, option):
		if _, err := strconv.Atoi(value); err == nil {
			value += "us"
		}
		d, ok := ParseTime(value)
		switch {
		case ok && d == 0:
			return "0"
		case ok:
			return d.String()
		}
		return value
	}
	return sizeForm(value)
}

// sizeForm returns a number in the shortest form of fio, such as "4k", and any other text as it is.
func sizeForm(text string) string {
	n, ok := ParseSize(text)
	if !ok {
		return text
	}
	unit := 0
	for n%1024 == 0 && unit < len(sizeUnits) {
		n, unit = n/1024, unit+1
	}
	if unit == 0 {
		return strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10) + sizeUnits[unit-1:unit]
}

// ParseMode parses a value of fio's option rw. It returns fio's mode, such as "randread", and the directions of the
// mode. It ignores what follows a colon, which is how offsets grow. If the value is wrong, the mode is empty and the
// directions are all possible ones. Without a value the mode is empty and the direction is fio's default, read.
func ParseMode(rw string) (mode string, directions []fiolog.Direction) {
	mode, _, _ = strings.Cut(rw, ":")
	switch mode {
	case "", "read", "randread":
		return mode, []fiolog.Direction{fiolog.Read}
	case "write", "randwrite":
		return mode, []fiolog.Direction{fiolog.Write}
	case "trim", "randtrim":
		return mode, []fiolog.Direction{fiolog.Trim}
	case "readwrite", "rw": // two names of one mode
		return "rw", []fiolog.Direction{fiolog.Read, fiolog.Write}
	case "randrw":
		return mode, []fiolog.Direction{fiolog.Read, fiolog.Write}
	case "trimwrite", "randtrimwrite":
		return mode, []fiolog.Direction{fiolog.Write, fiolog.Trim}
	}
	return "", []fiolog.Direction{fiolog.Read, fiolog.Write, fiolog.Trim}
}

// Mixes reports whether fio divides the requests of a mode into reads and writes by its option rwmixread.
func Mixes(mode string) bool { return mode == "rw" || mode == "randrw" }

// sizeUnits are powers of 1024 by default, alone and before a "b" or an "i". Before "ib" they are powers of 1000. Only
// with kb_base=1000 units have their usual meaning to fio.
const sizeUnits = "kmgtp"

// ParseSize parses a number of bytes as fio does by default: "4k" is 4096, "4KiB" is 4000. It returns false for
// anything else, such as ranges, several sizes, and hexadecimal numbers.
func ParseSize(text string) (int64, bool) {
	digits := strings.TrimRight(text, "kmgtpibKMGTPIB")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit := strings.ToLower(text[len(digits):])
	size := int64(1)
	if unit != "" && unit != "b" {
		base := int64(1024)
		switch unit[1:] {
		case "ib":
			base = 1000
		case "", "b", "i":
		default:
			return 0, false
		}
		for range strings.IndexByte(sizeUnits, unit[0]) + 1 {
			size *= base
		}
		if size == 1 {
			return 0, false
		}
	}
	if err != nil || n <= 0 || n > 1<<62/size {
		return 0, false
	}
	return n * size, true
}

// ParseTime parses a duration as fio does: seconds, or a number with a unit. It returns false for anything else, and
// for "2min", because fio reads that as two microseconds.
func ParseTime(text string) (time.Duration, bool) {
	s := strings.ToLower(text)
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	unit, ok := map[string]time.Duration{
		"": time.Second, "s": time.Second, "ms": time.Millisecond, "msec": time.Millisecond, "us": time.Microsecond,
		"usec": time.Microsecond, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[s[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n < 0 || n > int64(1<<62/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// Common returns the options that are the same in all of a list.
func Common(list []map[string]string) map[string]string {
	var same map[string]string
	for i, one := range list {
		if i == 0 {
			same = maps.Clone(one)
		}
		maps.DeleteFunc(same, func(name, value string) bool { is, ok := one[name]; return !ok || is != value })
	}
	return same
}
