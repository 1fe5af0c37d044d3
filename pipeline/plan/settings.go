package plan

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Settings returns the settings of the run. They come from the path and from CBT's configuration, because fio does not
// know all of them. In runs of pbench-fio, fio's options complete them. People name folders as they like, so the path
// counts only if no option of fio is known.
func (p *Plan) Settings() mapping.CBT {
	set := p.Run.CBT
	switch {
	case set.Iteration != nil:
		return set
	case set.Benchmark == "":
		return cmp.Or(p.FioSettings(), set)
	case p.Run.Config == nil:
		v, more := reflect.ValueOf(&set).Elem(), reflect.ValueOf(p.FioSettings())
		for f := range v.NumField() {
			if v.Field(f).IsZero() {
				v.Field(f).Set(more.Field(f))
			}
		}
	}
	set.Iteration = new(0)
	return set
}

// FioSettings returns the settings that fio's options name, if they are the same for all jobs. A default of fio that no
// option names is unknown. Options come from the reports, because fio did what they say. They come from the job file if
// a report lists none, and for the sections of a group, because a report lists the options of one section only.
func (p *Plan) FioSettings() mapping.CBT {
	var all []mapping.CBT
	p.eachSection(func(o jobOptions, e *Entry) {
		if o.isGroup {
			all = append(all, e.settings())
		} else {
			all = append(all, o.settings())
		}
	})
	return sameSettings(all)
}

// eachSection calls do with the options of each job or section, and with its entry, which is nil if the options are only
// in the job file.
func (p *Plan) eachSection(do func(o jobOptions, e *Entry)) {
	ofFile := func(sections []fiolog.JobSection, global map[string]string, e *Entry) {
		for _, s := range sections {
			do(jobOptions{own: s.Options, global: global}, e)
		}
	}
	reported := p.Entries.Reported()
	if !slices.ContainsFunc(reported, func(e *Entry) bool { return len(e.own)+len(e.global) > 0 }) {
		ofFile(p.Run.Sections, nil, nil)
		return
	}
	for _, e := range reported {
		if sections := p.sectionsOf(e); len(sections) > 0 {
			ofFile(sections, e.global, e)
		} else {
			do(e.jobOptions, e)
		}
	}
}

// sectionsOf returns the sections of a group from the job file. It returns none if the file lacks the section whose
// options the report lists. Then the file was changed after the run, or it is another file.
func (p *Plan) sectionsOf(e *Entry) []fiolog.JobSection {
	isListed := func(s fiolog.JobSection) bool {
		for name, value := range e.own {
			if s.Options[name] != value {
				return false
			}
		}
		return true
	}
	if !e.isGroup || !slices.ContainsFunc(p.Run.Sections, isListed) {
		return nil
	}
	return p.Run.Sections
}

// sameSettings are the settings that are the same in a list.
func sameSettings(list []mapping.CBT) (same mapping.CBT) {
	for i, one := range list {
		if i == 0 {
			same = one
			continue
		}
		v, other := reflect.ValueOf(&same).Elem(), reflect.ValueOf(one)
		for f := range v.NumField() {
			if !v.Field(f).Equal(other.Field(f)) {
				v.Field(f).SetZero()
			}
		}
	}
	return same
}

// Contradiction returns a note if CBT's configuration, or the path, has another mode or block size than fio's own
// options. It is empty if they agree, or if one of them is unknown.
func (p *Plan) Contradiction() string {
	set, ran := p.Settings(), p.FioSettings()
	mode, _ := fiolog.ParseMode(set.Mode)
	text := ""
	switch {
	case p.Run.Config == nil:
	case mode != "" && ran.Mode != "" && mode != ran.Mode:
		text = fmt.Sprintf("mode %s, and fio's report %s", set.Mode, ran.Mode)
	case set.OpSize > 0 && ran.OpSize > 0 && set.OpSize != ran.OpSize:
		text = fmt.Sprintf("%d bytes a request, and fio's report %d", set.OpSize, ran.OpSize)
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%s has %s: its settings may be those of another run; put the configuration of this run there", p.Run.Config.Name(), text)
}

// Settings returns the settings that all jobs of the entry have. One section of a group may have another value than the
// report lists for all. So a setting that the requests contradict is unknown.
func (e *Entry) settings() mapping.CBT {
	set := e.jobOptions.settings()
	if !e.isGroup {
		return set
	}
	_, directions := fiolog.ParseMode(set.Mode)
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

// Settings are the settings that the options name.
func (o jobOptions) settings() mapping.CBT {
	mode, _ := fiolog.ParseMode(o.option("rw"))
	return mapping.CBT{
		Mode: mode, RWMixRead: o.readShare(mode), OpSize: o.requestSize(), IODepth: o.count("iodepth"), NumJobs: o.count("numjobs"),
		RunSeconds: o.wholeSeconds("runtime"), RampSeconds: o.wholeSeconds("ramp_time"),
	}
}

// count returns an option that is a number, or 0 if it is something else.
func (o jobOptions) count(name string) int64 {
	n, err := strconv.ParseInt(o.option(name), 10, 32)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// wholeSeconds returns an option that is a time, in seconds, or 0 if it is not a number of whole seconds.
func (o jobOptions) wholeSeconds(name string) int64 {
	d, ok := fiolog.ParseTime(o.option(name))
	if !ok || d%time.Second != 0 {
		return 0
	}
	return int64(d / time.Second)
}

// readShare is the percentage of reads that the options set for a mode with reads and writes.
// If they set both shares, fio takes the later one, and options are kept without their order.
func (o jobOptions) readShare(mode string) int64 {
	if !fiolog.Mixes(mode) {
		return 0
	}
	reads := o.count("rwmixread")
	if !o.HasOption("rwmixwrite") {
		return reads
	}
	writes, err := strconv.ParseInt(o.option("rwmixwrite"), 10, 32)
	if err != nil || writes < 0 || writes > 100 || o.HasOption("rwmixread") && reads != 100-writes {
		return 0
	}
	return 100 - writes
}

// usual is fio's default block size in bytes.
const usual = 4096

// requestSize is the size of all requests, in bytes; 0 if sizes differ. The option has one size for
// all directions, or one for reads and one for writes and trims, or one for each. A direction whose
// size is left out has fio's usual one. With kb_base=1000 the order of the options decides what a unit is, and they are
// kept without it.
func (o jobOptions) requestSize() int64 {
	text := o.option("bs")
	if text == "" || o.mixesSizes() || o.HasOption("kb_base") {
		return 0
	}
	sizes := strings.Split(text, ",")
	var same int64
	for _, d := range o.directions() {
		one := sizes[min(int(d), len(sizes)-1)]
		size, ok := fiolog.ParseSize(one)
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
