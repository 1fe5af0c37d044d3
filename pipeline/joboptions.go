package pipeline

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// jobOptions are the options of one job of a report: its own, else those of all jobs.
type jobOptions struct {
	report  *fiolog.Report
	index   int  // of the job
	isGroup bool // the entry is of several sections (group_reporting), and has the options of the last one
}

// all are the options of the job. Of several sections they are those that all have: what the last one sets itself may be
// otherwise in the others.
func (o jobOptions) all() map[string]string {
	all := map[string]string{}
	maps.Copy(all, o.report.GlobalOptions)
	if o.index < 0 {
		return all
	}
	own := o.report.Jobs[o.index].Options
	if !o.isGroup {
		maps.Copy(all, own)
		return all
	}
	maps.DeleteFunc(all, func(name, _ string) bool { _, ok := own[name]; return ok })
	return all
}

// shared are the options of several sections that all have, see [jobOptions.all].
func (o jobOptions) shared() jobOptions {
	return jobOptions{report: &fiolog.Report{GlobalOptions: o.all()}, index: -1, isGroup: true}
}

func (o jobOptions) option(name string) string {
	value, _ := o.report.Option(o.index, name)
	return value
}

func (o jobOptions) hasOption(name string) bool {
	_, ok := o.report.Option(o.index, name)
	return ok
}

// seconds is an option of fio that is a time; 0 if it is not set. It returns false for
// anything else, such as the range of a random startdelay ("1-3").
func (o jobOptions) seconds(name string) (time.Duration, bool) {
	text := o.option(name)
	if text == "" {
		return 0, true
	}
	return fiolog.ParseTime(text)
}

// ramp is how long the job ran before fio measured it.
func (o jobOptions) ramp() time.Duration {
	ramp, _ := o.seconds("ramp_time")
	return ramp
}

// delay is how long after its own start fio measures a job of the first stage: startdelay and
// ramp_time. It returns false if that is random.
func (o jobOptions) delay() (time.Duration, bool) {
	if o.isGroup && o.index >= 0 {
		o = o.shared()
	}
	start, ok := o.seconds("startdelay")
	return start + o.ramp(), ok
}

// histMsec is log_hist_msec; 0 if it is not set.
func (o jobOptions) histMsec() int64 { return milliseconds(o.option("log_hist_msec")) }

// wantsRows reports whether the options name a histogram log. If the run has only totals, the
// log of such a job is missing.
func (o jobOptions) wantsRows() bool { return o.hasOption("write_hist_log") && o.histMsec() > 0 }

func (o jobOptions) namesLog() bool {
	return o.option("write_hist_log") != "" || o.option("write_lat_log") != ""
}

// mayWrite reports whether the job's logs may have a prefix: that of histogram logs or,
// because fio lists no option without a value, the job's name and the prefix of its logs of
// completions.
func (o jobOptions) mayWrite(prefix string) bool {
	if p := o.option("write_hist_log"); p != "" {
		return path.Base(p) == prefix
	}
	p := o.option("write_lat_log")
	return path.Base(o.report.Jobs[o.index].Name) == prefix || p != "" && path.Base(p) == prefix
}

// mixesSizes reports whether the options set several block sizes, whose mean may be a whole
// number by chance.
func (o jobOptions) mixesSizes() bool {
	several := []string{"bssplit", "bsrange", "blocksize_range", "bs_unaligned"}
	return slices.ContainsFunc(several, func(name string) bool { return o.option(name) != "" })
}

// directions are those of fio's option rw, or of its other name.
func (o jobOptions) directions() []fiolog.Direction {
	if o.isGroup {
		return []fiolog.Direction{fiolog.Read, fiolog.Write, fiolog.Trim}
	}
	switch o.either("rw", "readwrite") {
	case "", "read", "randread": // fio's default is read
		return []fiolog.Direction{fiolog.Read}
	case "write", "randwrite":
		return []fiolog.Direction{fiolog.Write}
	case "trim", "randtrim":
		return []fiolog.Direction{fiolog.Trim}
	case "trimwrite", "randtrimwrite":
		return []fiolog.Direction{fiolog.Write, fiolog.Trim}
	}
	return []fiolog.Direction{fiolog.Read, fiolog.Write}
}

// milliseconds is an option in milliseconds; 0 for anything else.
func milliseconds(option string) int64 {
	ms, err := strconv.ParseInt(option, 10, 64)
	if err != nil {
		return 0
	}
	return max(ms, 0)
}
