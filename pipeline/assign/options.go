package assign

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// JobOptions are the options of a job that are known.
type JobOptions struct {
	JobName     string
	Own, Global map[string]string // own options have precedence over global ones
	IsGroup     bool              // several sections (group_reporting): own has the options of one of them, in fio 3.33 of the last
}

// OptionOfOne returns an option that at least one job has. It is "" if no job has it or it has no value.
func (o JobOptions) OptionOfOne(name string) string {
	if value, ok := o.Own[name]; ok {
		return value
	}
	return o.Global[name]
}

// option returns an option that all jobs have. It is also "" if one of several sections sets it, because the others may
// have another value.
func (o JobOptions) Option(name string) string {
	if _, isOwn := o.Own[name]; isOwn && o.IsGroup {
		return ""
	}
	return o.OptionOfOne(name)
}

// HasOption reports whether an option is set for at least one job.
func (o JobOptions) HasOption(name string) bool {
	_, isOwn := o.Own[name]
	_, isGlobal := o.Global[name]
	return isOwn || isGlobal
}

// number returns an option that is a number, or 0 if it is something else.
func number(option string) int64 {
	n, err := strconv.ParseInt(option, 10, 32)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// waits returns how long the job ran before fio measured it (ramp_time), and how long it waited before it ran
// (startdelay). isKnown is false for the range of a random startdelay ("1-3"), and for what is no time.
func (o JobOptions) Waits() (ramp, delay time.Duration, isKnown bool) {
	ramp, _ = fioargs.ParseTime(o.Option("ramp_time"))
	if text := o.Option("startdelay"); text != "" {
		delay, isKnown = fioargs.ParseTime(text)
		return ramp, delay, isKnown
	}
	return ramp, 0, true
}

// timesOf returns the run times of a job in a report.
func (o JobOptions) timesOf(j *fiolog.Job) evidence.RunTimes {
	return evidence.TimesOf(j, o.HasOption("verify"))
}

// WantsRows reports whether the options name a histogram log. If the run has only totals, that log is missing.
func (o JobOptions) WantsRows() bool {
	return o.HasOption("write_hist_log") && o.HistInterval() > 0
}

// HistInterval returns log_hist_msec of at least one job, or 0 if it is not set.
func (o JobOptions) HistInterval() int64 { return number(o.OptionOfOne("log_hist_msec")) }

// mayWrite reports whether the logs of the job may have a prefix. It is the prefix of histogram logs, the job's name,
// or the prefix of logs of completions. fio lists no option without a value, and without one the prefix is the job's
// name.
func (o JobOptions) mayWrite(prefix string) bool {
	if p := o.OptionOfOne("write_hist_log"); p != "" {
		return path.Base(p) == prefix
	}
	p := o.OptionOfOne("write_lat_log")
	return path.Base(o.JobName) == prefix || p != "" && path.Base(p) == prefix
}

// directions returns the directions of fio's option rw. For several sections, and if the report does not list the options of the job, it
// returns all directions.
func (o JobOptions) directions() []fiolog.Direction {
	if o.IsGroup || len(o.Own) == 0 && !o.HasOption("rw") {
		return []fiolog.Direction{fiolog.Read, fiolog.Write, fiolog.Trim}
	}
	_, directions := fioargs.ParseMode(o.Option("rw"))
	return directions
}

// listed returns the options that a report lists. Of a group whose sections are not known, those of the listed section
// end with "?".
func (o JobOptions) Listed() map[string]string {
	options := maps.Clone(o.Global)
	if options == nil {
		options = map[string]string{}
	}
	for name, value := range o.Own {
		if o.IsGroup {
			value += fioargs.Between + "?"
		}
		options[name] = value
	}
	return options
}

// requestSize is the size of all requests, in bytes; 0 if sizes differ. The option has one size for
// all directions, or one for reads and one for writes and trims, or one for each. A direction whose
// size is left out has fio's usual one. With kb_base=1000 the order of the options decides what a unit is, and they are
// kept without it.
func (o JobOptions) requestSize() int64 {
	text := o.Option("bs")
	if text == "" || slices.ContainsFunc(SeveralSizes, o.HasOption) || o.HasOption("kb_base") {
		return 0
	}
	sizes := strings.Split(text, ",")
	var same int64
	for _, d := range o.directions() {
		one := sizes[min(int(d), len(sizes)-1)]
		size, ok := fioargs.ParseSize(one)
		if one == "" {
			size, ok = UsualSize, true
		}
		if !ok || same != 0 && same != size {
			return 0
		}
		same = size
	}
	return same
}

// UsualSize is fio's default block size in bytes.
const UsualSize = 4096

// SeveralSizes are the options that set several block sizes. Their mean may be a whole number by chance.
var SeveralSizes = []string{"bssplit", "bsrange", "bs_unaligned"}
