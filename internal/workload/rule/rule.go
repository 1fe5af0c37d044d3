// Package rule says which runs are of one workload: those whose settings are the same. It is apart from package workload,
// because documents have the workload, too, and are made where nothing is known of histories and series.
//
// The rule has a version. Documents of an older version, or without a workload, get theirs when they are read.
package rule

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/mapping"
)

// version begins each id. Every change of what [Settings] or [Of] return raises it, so that a change of the rule joins no
// runs that it should not.
const version = "1-"

// Of returns the workload of a run, as its document has it, or else by the rule. That of a run with sections is made of
// those of its sections, in any order.
func Of(run *mapping.Run) mapping.Workload {
	if IsSet(run) {
		return run.Workload
	}
	var keys []string
	parts := facts.Parts(run)
	for _, part := range parts {
		key := ""
		for _, s := range Settings(part) {
			key += s.Name + "=" + s.Text + "\n"
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	sum := sha256.Sum256([]byte(strings.Join(keys, "\n")))
	id := hex.EncodeToString(sum[:8])
	name := Short(run, withDefaults)
	if len(parts) == 1 {
		name += details(run)
	}
	return mapping.Workload{ID: version + id, Name: strings.TrimSpace(name + " #" + id[:4])}
}

// IsSet reports whether the document of a run has its workload.
func IsSet(run *mapping.Run) bool { return strings.HasPrefix(run.Workload.ID, version) }

// Set sets the workloads of a run and of its sections.
func Set(run *mapping.Run) {
	if len(run.Sections) > 1 {
		for i, part := range facts.Parts(run) {
			run.Sections[i].Workload = Of(part)
		}
	}
	run.Workload = Of(run)
}

// said are the options that a name says, in this order. Of a flag it says no value.
var said = strings.Fields("benchmark workload pool_profile ioengine direct sync fsync fdatasync rate rate_iops rwmixread jobs clients volumes numjobs filename directory rbdname")

// details returns what a name says beside the most important settings, each a word of its own, so that of several names
// only the words that differ can be shown. Workloads that differ in more have other beginnings of their ids.
func details(run *mapping.Run) (text string) {
	texts := map[string]string{}
	for _, s := range Settings(run) {
		texts[s.Name] = s.Text
	}
	for _, name := range said {
		const longest = 40 // of a list of devices
		value := texts[name]
		if len(value) > longest {
			value = value[:longest] + "…"
		}
		switch isNumber := strings.Trim(value, "0123456789") == ""; {
		case value == "" || name == "jobs" && value == "1" || name == "numjobs" && value == "1":
		case name == "direct" || name == "sync" && value == "1":
			text += " " + name
		case isNumber || name == "rate" || name == "rwmixread":
			text += " " + name + "=" + value
		default:
			text += " " + value
		}
	}
	if len(run.Sections) == 1 {
		text += " beside " + run.Sections[0].Beside
	}
	if name := texts[Unnamed]; name != "" {
		text = name
	}
	return text
}

// apart are settings that do not make another workload: how often and for how long the test ran, properties of the
// cluster, and what users look for changes in, such as the version of Ceph.
var apart = []string{"ceph_version", "iteration", "time", "ramp", "osds", "osd_hosts"}

// OptionOf has the option of fio that is the same as a column.
var OptionOf = map[string]string{"mode": "rw", "rwmixread": "rwmixread", "op_size": "bs", "iodepth": "iodepth", "numjobs": "numjobs"}

// Setting is one of the settings by which a run is compared.
type Setting struct{ Name, Heading, Text string }

// Unnamed is the setting of runs whose settings are not known.
const Unnamed = "name"

// Settings returns the settings by which a run is compared: those of CBT, and all options of fio that change what is
// measured and do not have fio's default. Of hosts and of CBT's volumes only the numbers count. If nothing is known, the
// name of the run counts instead.
func Settings(run *mapping.Run) (list []Setting) {
	byCBT := run.CBT.ByCBT()
	measured := fioargs.Measured(run.Fio.Options, byCBT)
	if byCBT && run.CBT.TotalIODepth > 0 { // the depths of volumes follow from it
		delete(measured, "iodepth")
	}
	for _, c := range facts.Settings() {
		option := OptionOf[c.Name]
		text := c.TextOf(run)
		if text == "" || slices.Contains(apart, c.Name) || option != "" && hasOptions(run) && !byCBT || c.Name == "iodepth" && run.CBT.TotalIODepth > 0 {
			continue
		}
		delete(measured, option)
		list = append(list, Setting{c.Name, c.Heading, text})
	}
	if hosts := len(run.Hosts); byCBT && run.CBT.Clients == 0 && hosts > 0 {
		measured["clients"] = strconv.Itoa(hosts)
	}
	if byCBT && run.CBT.Volumes == 0 && run.Fio.Jobs > 0 {
		measured["jobs"] = strconv.Itoa(run.Fio.Jobs)
	}
	if hasOptions(run) && !byCBT {
		if !strings.Contains(measured["numjobs"], fioargs.Between) {
			delete(measured, "numjobs")
		}
		measured["jobs"] = strconv.Itoa(run.Fio.Jobs) // of all sections and hosts
	}
	if len(list)+len(measured) == 0 {
		list = append(list, Setting{Unnamed, "Name", run.Run.Name})
	}
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		list = append(list, Setting{name, name, measured[name]})
	}
	if len(run.Sections) == 1 { // one of [facts.Parts]
		list = append(list, Setting{"beside", "beside", run.Sections[0].Beside})
	}
	return list
}

func hasOptions(run *mapping.Run) bool { return len(run.Fio.Options) > 0 }

// HasAllOptions reports whether an option that a run lacks has its default. fio's text has only a few of the options.
func HasAllOptions(run *mapping.Run) bool { return hasOptions(run) && run.Fio.Format == "" }

// BetweenSections is between the settings of the sections of a run.
const BetweenSections = " + "

// Short returns the most important settings of a run, or of its sections: "randread 4K qd8 + write 64K qd1".
func Short(run *mapping.Run, of func(*mapping.Run) string) string {
	var texts []string
	for _, part := range facts.Parts(run) {
		texts = append(texts, of(part))
	}
	return strings.Join(slices.Compact(texts), BetweenSections)
}

// WithDefaults returns the most important settings, also those that are fio's defaults because no option sets them.
func WithDefaults(run *mapping.Run) string { return Short(run, withDefaults) }

func withDefaults(run *mapping.Run) string {
	all := mapping.Run{CBT: run.CBT}
	all.CBT.Mode = cmp.Or(all.CBT.Mode, DefaultOf(run, "mode"))
	size, _ := fioargs.ParseSize(DefaultOf(run, "op_size"))
	all.CBT.OpSize = cmp.Or(all.CBT.OpSize, size)
	depth, _ := fioargs.ParseSize(DefaultOf(run, "iodepth"))
	all.CBT.IODepth = cmp.Or(all.CBT.IODepth, depth)
	return facts.ShortSettings(&all)
}

// DefaultOf returns fio's default of a setting, such as "4k" of op_size, if the run has it because no option sets it.
// Otherwise it is empty.
func DefaultOf(run *mapping.Run, name string) string {
	option := OptionOf[name]
	hasTotal := name == "iodepth" && run.CBT.TotalIODepth > 0
	if _, isSet := run.Fio.Options[option]; isSet || hasTotal || option == "" || !HasAllOptions(run) {
		return ""
	}
	return fioargs.OptionDefault(option)
}
