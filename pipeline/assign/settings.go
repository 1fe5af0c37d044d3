package assign

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// listsAll reports whether an option that is not listed has fio's default. Before fio 3, a report may lack global options,
// and that of a group lists one of its sections; fio --client lists none of the second group of a host.
func (e *Entry) listsAll() bool {
	// Without a report, the options are those of a job file. Normal output has some of them.
	isWhole := e.Out == nil || e.Out.Fio.Unit == hist.Nanoseconds && e.Out.Fio.Format == fiolog.JSON
	return isWhole && !e.IsGroup && len(e.Own)+len(e.Global) > 0 && (len(e.Own) > 0 || e.Out == nil || !e.Out.Client)
}

// engine returns the ioengine of an entry, or "" if it is not known.
func (e *Entry) engine() string {
	if e.listsAll() && !e.HasOption("ioengine") {
		return fioargs.OptionDefault("ioengine")
	}
	return e.Option("ioengine")
}

// settings returns the settings that the options of an entry name, and fio's defaults of the others. If they set the shares of reads and of writes, fio takes
// the later one, and options are kept without their order. One section of a group may have another value than the report
// lists for all, so a setting that the requests contradict is unknown.
func (e *Entry) Settings() mapping.CBT {
	mode, directions := fioargs.ParseMode(e.Option("rw"))
	set := mapping.CBT{
		Mode: mode, OpSize: e.requestSize(), IODepth: number(e.Option("iodepth")), NumJobs: number(e.Option("numjobs")),
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
		if !e.HasOption("bs") && !slices.ContainsFunc(SeveralSizes, e.HasOption) {
			set.OpSize = UsualSize
		}
	}
	if engine := e.engine(); fioargs.IsSynchronous(engine) && e.Option("io_submit_mode") != "offload" {
		set.IODepth = min(set.IODepth, 1)
	}
	if runtime, _ := fioargs.ParseTime(e.Option("runtime")); runtime%time.Second == 0 {
		set.RunSeconds = int64(runtime / time.Second)
	}
	if ramp, _, _ := e.Waits(); ramp%time.Second == 0 {
		set.RampSeconds = int64(ramp / time.Second)
	}
	if fioargs.Mixes(mode) {
		set.RWMixRead = number(e.Option("rwmixread"))
		if e.HasOption("rwmixwrite") {
			writes, err := strconv.ParseInt(e.Option("rwmixwrite"), 10, 32)
			if reads := 100 - writes; err != nil || writes < 0 || reads < 0 || e.HasOption("rwmixread") && set.RWMixRead != reads {
				set.RWMixRead = 0
			} else {
				set.RWMixRead = reads
			}
		} else if e.listsAll() && !e.HasOption("rwmixread") {
			set.RWMixRead = number(fioargs.OptionDefault("rwmixread"))
		}
	}
	if !e.IsGroup {
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
