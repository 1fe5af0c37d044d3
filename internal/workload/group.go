// Package workload groups runs that are comparable because their settings are the same, such as the runs of a
// benchmark that is repeated every night. It makes series of numbers over these runs, and finds changes in them.
package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Workload is a group of runs with the same settings.
type Workload struct {
	Title string // made of the settings, such as "randwrite 4K qd16"; unique in a list
	Runs  []*mapping.Run
}

// apart are settings that do not make another workload: how often and for how long the test ran, properties of the
// cluster, and what users look for changes in, such as the version of Ceph.
var apart = []string{"ceph_version", "iteration", "time", "ramp", "osds", "osd_hosts"}

// optionOf has the option of fio that is the same as a column.
var optionOf = map[string]string{"mode": "rw", "rwmixread": "rwmixread", "op_size": "bs", "iodepth": "iodepth", "numjobs": "numjobs"}

type setting struct{ name, heading, text string }

// settingsOf returns the settings by which a run is compared: those of CBT, and all options of fio that change what is
// measured and do not have fio's default. If it has none, its name counts instead. Names of hosts count if CBT did not
// choose them.
func settingsOf(run *mapping.Run) (list []setting) {
	byCBT := run.CBT.ByCBT()
	measured := fioargs.Measured(run.Fio.Options, byCBT)
	for _, c := range facts.Settings() {
		option := optionOf[c.Name]
		text := c.TextOf(run)
		if text == "" || slices.Contains(apart, c.Name) || option != "" && hasOptions(run) && !byCBT {
			continue
		}
		delete(measured, option)
		list = append(list, setting{c.Name, c.Heading, text})
	}
	if hasOptions(run) && !byCBT {
		if !strings.Contains(measured["numjobs"], fioargs.Between) {
			delete(measured, "numjobs")
		}
		measured["jobs"] = strconv.Itoa(run.Fio.Jobs) // of all sections and hosts
	}
	if len(list)+len(measured) == 0 {
		list = append(list, setting{unnamed, "Name", run.Run.Name})
	}
	if hosts := hostsOf(run); hosts != "" && !byCBT {
		measured["host"] = hosts
	}
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		list = append(list, setting{name, name, measured[name]})
	}
	if len(run.Sections) == 1 { // one of [facts.Parts]
		list = append(list, setting{"beside", "beside", run.Sections[0].Beside})
	}
	return list
}

// isIn reports whether a setting is in the most important settings of a run ([facts.ShortSettings]), such as "read 4K qd16".
func (s setting) isIn(short string) bool {
	words := strings.Fields(strings.ToLower(short))
	isOfSections := strings.Contains(short, betweenSections) && strings.Contains(s.text, fioargs.Between)
	switch s.name {
	case "mode", "op_size":
		return true
	case "rw", "bs":
		return isOfSections || slices.Contains(words, s.text)
	case "iodepth":
		return isOfSections || slices.Contains(words, "qd"+s.text)
	}
	return false
}

// unnamed is the setting of runs whose settings are not known.
const unnamed = "name"

func hasOptions(run *mapping.Run) bool { return len(run.Fio.Options) > 0 }

// hasAllOptions reports whether an option that a run lacks has its default. fio's text has only a few of the options.
func hasAllOptions(run *mapping.Run) bool { return hasOptions(run) && run.Fio.Format == "" }

// hostsOf returns the names of the hosts of a run. It is empty if none is known.
func hostsOf(run *mapping.Run) string {
	var hosts []string
	for _, h := range run.Hosts {
		hosts = append(hosts, h.Name)
	}
	slices.Sort(hosts)
	return strings.Join(slices.Compact(hosts), ",")
}

// Key returns a text that identifies the workload of a run. Runs with the same settings have the same key; runs with sections
// have it if all of their sections have the same settings.
func Key(run *mapping.Run) string {
	var keys []string
	for _, part := range facts.Parts(run) {
		key := ""
		for _, s := range settingsOf(part) {
			key += s.name + "=" + s.text + "\n"
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return strings.Join(keys, "\n")
}

// Has reports whether a run, or one of its sections, is of the workload with a key.
func Has(run *mapping.Run, key string) bool {
	return Key(run) == key || slices.ContainsFunc(facts.Parts(run), func(part *mapping.Run) bool { return Key(part) == key })
}

// textsOf returns the texts of the settings of a run, by their names.
func textsOf(run *mapping.Run) map[string]string {
	texts := map[string]string{}
	for _, s := range settingsOf(run) {
		texts[s.name] = s.text
	}
	return texts
}

// SettingsApart lists the settings in which other differs from run, such as "iodepth 16, not 1".
func SettingsApart(run, other *mapping.Run) []string { return settingsApart(run, other, false) }

// settingsApart is [SettingsApart]. If hasBoth, it lists only settings that both runs have.
func settingsApart(run, other *mapping.Run, hasBoth bool) (list []string) {
	was, is := textsOf(run), textsOf(other)
	for _, name := range differing(was, is) {
		if hasBoth && (was[name] == "" || is[name] == "" || name == unnamed) {
			continue
		}
		list = append(list, fmt.Sprintf("%s %s, not %s", name, textOr(other, name, is[name]), textOr(run, name, was[name])))
	}
	return list
}

// textOr returns the text of a setting. If a run does not have it, that is the default of the option, or "none".
func textOr(run *mapping.Run, name, text string) string {
	if text == "" && hasAllOptions(run) {
		text = fioargs.OptionDefault(cmp.Or(optionOf[name], name))
	}
	return cmp.Or(text, none)
}

// Doubt says how the settings of two runs differ, so that comparing them is doubtful. It is empty if they do not. If not
// all options of a run are known, only settings that both have can differ. The length of windows does not count.
func Doubt(base, other *mapping.Run) string {
	list := settingsApart(base, other, !hasAllOptions(base) || !hasAllOptions(other))
	for _, s := range [][3]string{{"weighting", base.Weighting, other.Weighting}, {"bins", layout(base), layout(other)}} {
		if s[1] != s[2] && s[1] != "" && s[2] != "" {
			list = append(list, fmt.Sprintf("%s %s, not %s", s[0], s[2], s[1]))
		}
	}
	return strings.Join(list, "; ")
}

func layout(run *mapping.Run) string {
	for _, d := range run.ByDirection() {
		return d.Latency.Layout
	}
	return ""
}

// Group groups runs by workload. It takes runs with sections as one workload each: see [facts.Parts]. Workloads are sorted by title, and the runs of each by start. Runs with an unknown
// date come first.
func Group(runs []*mapping.Run) []*Workload {
	byKey := map[string]*Workload{}
	for _, run := range runs {
		key := Key(run)
		if byKey[key] == nil {
			byKey[key] = &Workload{}
		}
		byKey[key].Runs = append(byKey[key].Runs, run)
	}
	list := slices.Collect(maps.Values(byKey))
	for _, w := range list {
		slices.SortStableFunc(w.Runs, func(a, b *mapping.Run) int {
			return cmp.Or(a.Run.Start.Compare(b.Run.Start), cmp.Compare(a.Run.ID, b.Run.ID))
		})
	}
	byShort := map[string][]*Workload{}
	for _, w := range list {
		short := short(w.Runs[0], withDefaults)
		byShort[short] = append(byShort[short], w)
	}
	for _, alike := range byShort {
		title(alike)
	}
	slices.SortFunc(list, func(a, b *Workload) int { return unit.Compare(a.Title, b.Title) })
	return list
}

// betweenSections is between the settings of the sections of a run.
const betweenSections = " + "

// short returns the most important settings of a run, or of its sections: "randread 4K qd8 + write 64K qd1".
func short(run *mapping.Run, of func(*mapping.Run) string) string {
	var texts []string
	for _, part := range facts.Parts(run) {
		texts = append(texts, of(part))
	}
	return strings.Join(slices.Compact(texts), betweenSections)
}

// withDefaults returns the most important settings, also those that are fio's defaults because no option sets them.
func withDefaults(run *mapping.Run) string {
	all := mapping.Run{CBT: run.CBT}
	all.CBT.Mode = cmp.Or(all.CBT.Mode, DefaultOf(run, "mode"))
	size, _ := fioargs.ParseSize(DefaultOf(run, "op_size"))
	all.CBT.OpSize = cmp.Or(all.CBT.OpSize, size)
	depth, _ := fioargs.ParseSize(DefaultOf(run, "iodepth"))
	all.CBT.IODepth = cmp.Or(all.CBT.IODepth, depth)
	return facts.ShortSettings(&all)
}

// Settings returns the titles of the workloads of runs, by which runs with different settings can be told apart.
func Settings(runs []*mapping.Run) map[*mapping.Run]string {
	texts := map[*mapping.Run]string{}
	for _, w := range Group(runs) {
		for _, run := range w.Runs {
			texts[run] = w.Title
		}
	}
	return texts
}

// DefaultOf returns fio's default of a setting, such as "4k" of op_size, if the run has it because no option sets it.
// Otherwise it is empty.
func DefaultOf(run *mapping.Run, name string) string {
	option := optionOf[name]
	if _, isSet := run.Fio.Options[option]; isSet || option == "" || !hasAllOptions(run) {
		return ""
	}
	return fioargs.OptionDefault(option)
}

// Varied is a setting in which runs differ.
type Varied struct {
	Name   string   // of a column, or of an option of fio
	Values []string // for people, sorted
}

// Varying lists the settings in which runs differ, by name. Runs that differ in none did the same.
func Varying(runs []*mapping.Run) (list []Varied) {
	all, texts := map[string]string{}, make([]map[string]string, len(runs))
	for i, run := range runs {
		texts[i] = textsOf(run)
		maps.Copy(all, texts[i])
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var values []string
		for i, run := range runs {
			values = append(values, textOr(run, name, texts[i][name]))
		}
		slices.SortFunc(values, unit.Compare)
		if values = slices.Compact(values); len(values) > 1 {
			list = append(list, Varied{name, values})
		}
	}
	return list
}

// title sets the titles of workloads whose most important settings are the same: these, and those in which the workloads
// differ.
func title(list []*Workload) {
	values, has := map[string]map[string]bool{}, map[string]int{}
	for _, w := range list {
		for _, s := range settingsOf(w.Runs[0]) {
			if values[s.name] == nil {
				values[s.name] = map[string]bool{}
			}
			values[s.name][s.text] = true
			has[s.name]++
		}
	}
	for _, w := range list {
		short := short(w.Runs[0], facts.ShortSettings)
		isCommon := func(s setting) bool {
			isShort := slices.Contains([]string{"rw", "bs", "bssplit", "bsrange", "iodepth", "beside"}, s.name)
			return len(values[s.name]) == 1 && has[s.name] == len(list) && !isShort
		}
		all := settingsOf(w.Runs[0])
		var parts []string
		if short != "" {
			parts = append(parts, short)
		} else if !slices.ContainsFunc(all, func(s setting) bool { return !isCommon(s) }) {
			// then all settings are in the titles, because a title must not be empty
			isCommon = func(setting) bool { return false }
		}
		for _, s := range all {
			switch {
			case s.isIn(short) || isCommon(s):
			case s.name == unnamed || s.name == "benchmark":
				parts = append(parts, s.text)
			default:
				parts = append(parts, strings.ToLower(s.heading)+" "+s.text)
			}
		}
		w.Title = strings.Join(parts, ", ")
	}
}

// Matched has the runs of one workload on two sides. One side may have none.
type Matched struct {
	Title       string
	Base, Other []*mapping.Run // sorted by start
}

// Add adds a run to its side.
func (m *Matched) Add(run *mapping.Run, isOther bool) {
	if isOther {
		m.Other = append(m.Other, run)
	} else {
		m.Base = append(m.Base, run)
	}
}

// Without returns the runs of base that are not on the other side, too. Runs in files have no id, and are never the same.
func Without(base, other []*mapping.Run) []*mapping.Run {
	isOther := map[string]bool{}
	for _, run := range other {
		isOther[run.Run.ID] = run.Run.ID != ""
	}
	return slices.DeleteFunc(slices.Clone(base), func(run *mapping.Run) bool { return isOther[run.Run.ID] })
}

// Match groups the runs of two sides by workload. A run that is on both sides counts only for other.
func Match(base, other []*mapping.Run) (list []Matched) {
	base = Without(base, other)
	ofOther := map[*mapping.Run]bool{}
	for _, run := range other {
		ofOther[run] = true
	}
	for _, w := range Group(slices.Concat(base, other)) {
		m := Matched{Title: w.Title}
		for _, run := range w.Runs {
			m.Add(run, ofOther[run])
		}
		list = append(list, m)
	}
	return list
}

// MatchStages pairs the stages of executions on two sides: those with the same name, also if their settings differ. Of the
// others, those with the same settings are pairs. The rest has no partner. Pairs are in the order of the base.
func MatchStages(base, other []*mapping.Run) []Matched {
	base = Without(base, other)
	var list []*Matched
	byName := map[string]*Matched{}
	for i, run := range slices.Concat(base, other) {
		name := facts.StageName(run)
		if byName[name] == nil {
			byName[name] = &Matched{Title: name}
			list = append(list, byName[name])
		}
		byName[name].Add(run, i >= len(base))
	}
	for _, m := range list {
		i := slices.IndexFunc(list, func(o *Matched) bool {
			return len(o.Base) == 0 && len(o.Other) > 0 && len(m.Base) > 0 && Key(m.Base[0]) == Key(o.Other[0])
		})
		if i >= 0 && len(m.Other) == 0 {
			m.Title, m.Other, list[i].Other = m.Title+" and "+list[i].Title, list[i].Other, nil
		}
	}
	settings := Settings(slices.Concat(base, other))
	var pairs []Matched
	for _, m := range list {
		all := slices.Concat(m.Base, m.Other)
		if len(all) == 0 { // it is the partner of another one
			continue
		}
		text := settings[all[0]]
		if !slices.ContainsFunc(all, func(run *mapping.Run) bool { return settings[run] != text }) && text != "" {
			m.Title += ": " + text
		}
		pairs = append(pairs, *m)
	}
	return pairs
}
