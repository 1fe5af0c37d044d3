package pipeline

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// settings are the settings of a run that CBT did not make: those options of fio that are the
// same for all jobs. Defaults of fio that no option names are unknown.
func (list entryList) settings() mapping.CBT {
	var same mapping.CBT
	for i, e := range list.reported() {
		one := e.settings()
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

// contradiction is a note if CBT's configuration, or the path, has another mode or block size than fio's own options. It is
// empty if they agree, or one of them is unknown.
func (p *plan) contradiction() string {
	set, ran := p.settings(), p.entries.settings()
	text := ""
	switch {
	case p.run.Config == nil:
	case set.Mode != "" && ran.Mode != "" && set.Mode != ran.Mode && set.Mode != "readwrite":
		text = fmt.Sprintf("mode %s, and fio's report %s", set.Mode, ran.Mode)
	case set.OpSize > 0 && ran.OpSize > 0 && set.OpSize != ran.OpSize:
		text = fmt.Sprintf("%d bytes a request, and fio's report %d", set.OpSize, ran.OpSize)
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%s has %s: its settings may be those of another run; put the configuration of this run there", p.run.Config.Name(), text)
}

// settings are the settings that the options name.
func (o jobOptions) settings() mapping.CBT {
	if o.isGroup && o.index >= 0 {
		return o.shared().settings()
	}
	mode, _, _ := strings.Cut(o.either("rw", "readwrite"), ":") // after the colon is how offsets go
	if mode == "readwrite" {
		mode = "rw"
	}
	return mapping.CBT{
		Mode: mode, RWMixRead: o.readShare(mode), OpSize: o.requestSize(), IODepth: o.count("iodepth"), NumJobs: o.count("numjobs"),
		RunSeconds: o.wholeSeconds("runtime", "timeout"), RampSeconds: o.wholeSeconds("ramp_time"),
	}
}

// either is an option of fio by one of its names.
func (o jobOptions) either(names ...string) (value string) {
	for _, name := range names {
		value = cmp.Or(value, o.option(name))
	}
	return value
}

// count is an option that is a number; 0 for anything else.
func (o jobOptions) count(name string) int {
	n, err := strconv.ParseInt(o.option(name), 10, 32)
	if err != nil {
		return 0
	}
	return max(int(n), 0)
}

// wholeSeconds is an option that is a time; 0 for one that is not of whole seconds.
func (o jobOptions) wholeSeconds(names ...string) int {
	d, ok := fiolog.ParseTime(o.either(names...))
	if !ok || d%time.Second != 0 {
		return 0
	}
	return int(d / time.Second)
}

// readShare is the percentage of reads that the options set for a mode with reads and writes.
// If they set both shares, fio takes the later one, and a report does not have their order.
func (o jobOptions) readShare(mode string) int {
	if mode != "rw" && mode != "randrw" {
		return 0
	}
	reads, writes := o.count("rwmixread"), o.count("rwmixwrite")
	switch {
	case o.hasOption("rwmixread") && o.hasOption("rwmixwrite") && reads != 100-writes:
		return 0
	case o.hasOption("rwmixwrite") && writes <= 100:
		return 100 - writes
	}
	return reads
}

// usual is fio's block size where no option sets one, in bytes.
const usual = 4096

// requestSize is the size of all requests, in bytes; 0 if sizes differ. The option has one size for
// all directions, or one for reads and one for writes and trims, or one for each. A direction whose
// size is left out before a comma has fio's usual one.
func (o jobOptions) requestSize() int64 {
	text := o.either("bs", "blocksize")
	if text == "" || o.mixesSizes() {
		return 0
	}
	sizes := strings.Split(text, ",")
	var same int64
	for _, d := range o.directions() {
		i := min(int(d), len(sizes)-1)
		size, ok := fiolog.ParseSize(sizes[i])
		if sizes[i] == "" && i < len(sizes)-1 {
			size, ok = usual, true
		}
		if !ok || same != 0 && same != size {
			return 0
		}
		same = size
	}
	return same
}
