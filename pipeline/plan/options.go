package plan

import (
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

type jobOptions struct {
	job         string            // its name
	own, global map[string]string // own options have precedence over global ones
	isGroup     bool              // several sections (group_reporting): own has the options of one of them, in fio 3.33 of the last
}

// OptionOfOne returns an option that at least one job has. It is "" if no job has it or it has no value.
func (o jobOptions) OptionOfOne(name string) string {
	if value, ok := o.own[name]; ok {
		return value
	}
	return o.global[name]
}

// option returns an option that all jobs have. It is also "" if one of several sections sets it, because the others may
// have another value.
func (o jobOptions) option(name string) string {
	if _, isOwn := o.own[name]; isOwn && o.isGroup {
		return ""
	}
	return o.OptionOfOne(name)
}

// HasOption reports whether an option is set for at least one job.
func (o jobOptions) HasOption(name string) bool {
	_, isOwn := o.own[name]
	_, isGlobal := o.global[name]
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
func (o jobOptions) waits() (ramp, delay time.Duration, isKnown bool) {
	ramp, _ = fioargs.ParseTime(o.option("ramp_time"))
	if text := o.option("startdelay"); text != "" {
		delay, isKnown = fioargs.ParseTime(text)
		return ramp, delay, isKnown
	}
	return ramp, 0, true
}

// timesOf returns the run times of a job in a report.
func (o jobOptions) timesOf(j *fiolog.Job) evidence.RunTimes {
	return evidence.TimesOf(j, o.HasOption("verify"))
}

// WantsRows reports whether the options name a histogram log. If the run has only totals, that log is missing.
func (o jobOptions) WantsRows() bool {
	return o.HasOption("write_hist_log") && number(o.OptionOfOne("log_hist_msec")) > 0
}

// mayWrite reports whether the logs of the job may have a prefix. It is the prefix of histogram logs, the job's name,
// or the prefix of logs of completions. fio lists no option without a value, and without one the prefix is the job's
// name.
func (o jobOptions) mayWrite(prefix string) bool {
	if p := o.OptionOfOne("write_hist_log"); p != "" {
		return path.Base(p) == prefix
	}
	p := o.OptionOfOne("write_lat_log")
	return path.Base(o.job) == prefix || p != "" && path.Base(p) == prefix
}

// directions returns the directions of fio's option rw. For several sections, and if the report does not list the options of the job, it
// returns all directions.
func (o jobOptions) directions() []fiolog.Direction {
	if o.isGroup || len(o.own) == 0 && !o.HasOption("rw") {
		return []fiolog.Direction{fiolog.Read, fiolog.Write, fiolog.Trim}
	}
	_, directions := fioargs.ParseMode(o.option("rw"))
	return directions
}

// listed returns the options that a report lists. Of a group whose sections are not known, those of the listed section
// end with "?".
func (o jobOptions) listed() map[string]string {
	options := maps.Clone(o.global)
	if options == nil {
		options = map[string]string{}
	}
	for name, value := range o.own {
		if o.isGroup {
			value += fioargs.Between + "?"
		}
		options[name] = value
	}
	return options
}

// listsAll reports whether an option that is not listed has fio's default. Before fio 3, a report may lack global options,
// and that of a group lists one of its sections; fio --client lists none of the second group of a host.
func (e *Entry) listsAll() bool {
	// Without a report, the options are those of a job file. Normal output has some of them.
	isWhole := e.Out == nil || e.Out.Fio.Unit == hist.Nanoseconds && e.Out.Fio.Format == fiolog.JSON
	return isWhole && !e.isGroup && len(e.own)+len(e.global) > 0 && (len(e.own) > 0 || e.Out == nil || !e.Out.Client)
}

// engine returns the ioengine of an entry, or "" if it is not known.
func (e *Entry) engine() string {
	if e.listsAll() && !e.HasOption("ioengine") {
		return fioargs.OptionDefault("ioengine")
	}
	return e.option("ioengine")
}

// settings returns the settings that the options of an entry name, and fio's defaults of the others. If they set the shares of reads and of writes, fio takes
// the later one, and options are kept without their order. One section of a group may have another value than the report
// lists for all, so a setting that the requests contradict is unknown.
func (e *Entry) settings() mapping.CBT {
	mode, directions := fioargs.ParseMode(e.option("rw"))
	set := mapping.CBT{
		Mode: mode, OpSize: e.requestSize(), IODepth: number(e.option("iodepth")), NumJobs: number(e.option("numjobs")),
	}
	if isReplay := e.HasOption("read_iolog"); e.listsAll() && !isReplay {
		orDefault := func(n int64, option string) int64 {
			if !e.HasOption(option) {
				return number(fioargs.OptionDefault(option))
			}
			return n
		}
		set.IODepth, set.NumJobs = orDefault(set.IODepth, "iodepth"), orDefault(set.NumJobs, "numjobs")
		if !e.HasOption("rw") {
			set.Mode = fioargs.OptionDefault("rw")
		}
		if !e.HasOption("bs") && !slices.ContainsFunc(severalSizes, e.HasOption) {
			set.OpSize = usual
		}
	}
	if engine := e.engine(); fioargs.IsSynchronous(engine) && e.option("io_submit_mode") != "offload" {
		set.IODepth = min(set.IODepth, 1)
	}
	if runtime, _ := fioargs.ParseTime(e.option("runtime")); runtime%time.Second == 0 {
		set.RunSeconds = int64(runtime / time.Second)
	}
	if ramp, _, _ := e.waits(); ramp%time.Second == 0 {
		set.RampSeconds = int64(ramp / time.Second)
	}
	if fioargs.Mixes(mode) {
		set.RWMixRead = number(e.option("rwmixread"))
		if e.HasOption("rwmixwrite") {
			writes, err := strconv.ParseInt(e.option("rwmixwrite"), 10, 32)
			if reads := 100 - writes; err != nil || writes < 0 || reads < 0 || e.HasOption("rwmixread") && set.RWMixRead != reads {
				set.RWMixRead = 0
			} else {
				set.RWMixRead = reads
			}
		} else if e.listsAll() && !e.HasOption("rwmixread") {
			set.RWMixRead = number(fioargs.OptionDefault("rwmixread"))
		}
	}
	if !e.isGroup {
		return set
	}
	for d := range fiolog.Direction(fiolog.Directions) {
		s := &e.Directions[d]
		isVerify := d == fiolog.Read && e.HasOption("verify")
		if s.TotalIOs > 0 && !slices.Contains(directions, d) && !isVerify {
			set.Mode, set.RWMixRead = "", 0
		}
	}
	for _, s := range e.All() {
		const few = 0.01 // requests that failed, or were in flight at the end of ramp_time
		size := float64(set.OpSize)
		if s.TotalIOs > 0 && math.Abs(float64(s.IOBytes)/float64(s.TotalIOs)-size) > few*size {
			set.OpSize = 0
		}
	}
	return set
}

// usual is fio's default block size in bytes.
const usual = 4096

// severalSizes are the options that set several block sizes. Their mean may be a whole number by chance.
var severalSizes = []string{"bssplit", "bsrange", "bs_unaligned"}

// requestSize is the size of all requests, in bytes; 0 if sizes differ. The option has one size for
// all directions, or one for reads and one for writes and trims, or one for each. A direction whose
// size is left out has fio's usual one. With kb_base=1000 the order of the options decides what a unit is, and they are
// kept without it.
func (o jobOptions) requestSize() int64 {
	text := o.option("bs")
	if text == "" || slices.ContainsFunc(severalSizes, o.HasOption) || o.HasOption("kb_base") {
		return 0
	}
	sizes := strings.Split(text, ",")
	var same int64
	for _, d := range o.directions() {
		one := sizes[min(int(d), len(sizes)-1)]
		size, ok := fioargs.ParseSize(one)
		if one == "" {
			size, ok = usual, true
		}
		if !ok || same != 0 && same != size {
			return 0
		}
		same = size
	}
	return same
}

// completeText adds to fio's normal and terse output what the sections of the job file say: options, and in terse output with
// these what its numbers are. fio counts no requests there, but their bytes, and IOPS without decimals, so a size of all
// requests that fits both gives their number. Sums of several sections stay as they are. Normal output stays as it is if one of
// its jobs is such a sum, or contradicts its section: then the file was changed after the run, or it is another file.
func (p *planner) completeText() {
	for _, o := range p.Outputs {
		if o.Fio.Format == fiolog.JSON {
			continue
		}
		sections := make([]*fioargs.Section, len(o.Fio.Jobs))
		for i := range sections {
			sections[i] = p.sectionOf(&o.Fio.Jobs[i])
		}
		if o.Fio.Format == fiolog.Normal && slices.Contains(sections, nil) {
			continue
		}
		o.Fio.Jobs = slices.Clone(o.Fio.Jobs) // evidence does not change
		for i, s := range sections {
			if s == nil {
				continue
			}
			j, options := &o.Fio.Jobs[i], s.Map()
			maps.Copy(options, j.Options)
			if j.Options = options; o.Fio.Format == fiolog.Terse {
				completeTerse(o.Fio, j, s)
			}
		}
	}
}

// sectionOf returns the section of the job file that a job of a report is of, or nil if that is not known.
func (p *planner) sectionOf(j *fiolog.Job) *fioargs.Section {
	for _, group := range p.groupsOfFile() {
		i := slices.IndexFunc(group, func(s *fioargs.Section) bool { return s.Name == j.Name })
		if i < 0 || len(group) > 1 && group[i].IsOn("group_reporting") {
			continue
		}
		printed, inFile := fioargs.Measured(j.Options, false), fioargs.Measured(group[i].Map(), false)
		for name := range j.Options {
			isEngine := name == "ioengine" && strings.HasPrefix(inFile[name], "external:") // fio prints its own name
			if printed[name] != inFile[name] && !isEngine {
				return nil
			}
		}
		return group[i]
	}
	return nil
}

// completeTerse changes the statistics of a job in terse output to what its section of the job file says that they are.
func completeTerse(r *fiolog.Report, j *fiolog.Job, section *fioargs.Section) {
	if r.CallsAllReads() && section.IsOn("unified_rw_reporting") {
		j.Mixed = new(j.Directions[fiolog.Read])
		j.Directions = [fiolog.Directions]fiolog.DirectionStats{}
	}
	for _, name := range []string{"fsync", "fdatasync", "sync_file_range"} { // terse output does not have syncs
		o, isSet := section.Get(name)
		j.Sync.Uncounted = j.Sync.Uncounted || isSet && o.Value != "0" && served(&j.Directions[fiolog.Write])
	}
	size := uint64(jobOptions{own: j.Options}.requestSize())
	if j.Mixed != nil {
		j.Mixed = new(*j.Mixed)
	}
	for _, d := range j.All() {
		if section.IsOn("lat_percentiles") {
			d.Lat.Percentiles, d.Lat.PercentileStep = d.Clat.Percentiles, d.Clat.PercentileStep
			d.Clat.Percentiles = nil
		}
		const kib = 1024 // bytes are whole KiB
		if !d.Uncounted || size == 0 || size%kib > 0 || d.IOBytes%size > 0 || d.IOBytes/size*1000/uint64(d.Runtime) != uint64(d.IOPS) {
			continue
		}
		d.TotalIOs, d.Uncounted = d.IOBytes/size, false
		d.IOPS = float64(d.TotalIOs) * 1000 / float64(d.Runtime)
	}
}
