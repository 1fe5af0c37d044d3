// Package workload groups runs that are comparable because their settings are the same, such as the runs of a
// benchmark that is repeated every night. It makes series of numbers over these runs, and finds changes in them.
package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
)

// Workload is a group of runs with the same settings.
type Workload struct {
	Title string // made of the settings, such as "randwrite 4K qd16"; unique in a list
	Runs  []*mapping.Run
}

// isIn reports whether a setting is in the most important settings of a run ([facts.ShortSettings]), such as "read 4K qd16".
func isIn(s rule.Setting, short string) bool {
	words := strings.Fields(strings.ToLower(short))
	isOfSections := strings.Contains(short, rule.BetweenSections) && strings.Contains(s.Text, fioargs.Between)
	switch s.Name {
	case "mode", "op_size":
		return true
	case "rw", "bs":
		return isOfSections || slices.Contains(words, s.Text)
	case "total_iodepth":
		return strings.HasSuffix(short, "total-qd"+s.Text)
	case "iodepth":
		return isOfSections || slices.Contains(words, "qd"+s.Text)
	}
	return false
}

// Key returns a text that identifies the workload of a run. Runs with the same settings have the same key; runs with sections
// have it if all of their sections have the same settings.
func Key(run *mapping.Run) string { return rule.Of(run).ID }

// Keys returns the keys of the workloads of runs.
func Keys(runs []*mapping.Run) map[string]bool {
	keys := map[string]bool{}
	for _, run := range runs {
		keys[Key(run)] = true
	}
	return keys
}

// Has reports whether a run, or one of its sections, is of one of the workloads with these keys.
func Has(run *mapping.Run, keys map[string]bool) bool {
	return keys[Key(run)] || slices.ContainsFunc(facts.Parts(run), func(part *mapping.Run) bool { return keys[Key(part)] })
}

// textsOf returns the texts of the settings of a run, by their names.
func textsOf(run *mapping.Run) map[string]string {
	texts := map[string]string{}
	for _, s := range rule.Settings(run) {
		texts[s.Name] = s.Text
	}
	return texts
}

// SettingsApart lists the settings in which other differs from run, such as "iodepth 16, not 1".
func SettingsApart(run, other *mapping.Run) []string { return settingsApart(run, other, false) }

// settingsApart is [SettingsApart]. If hasBoth, it lists only settings that both runs have.
func settingsApart(run, other *mapping.Run, hasBoth bool) (list []string) {
	was, is := textsOf(run), textsOf(other)
	for _, name := range differing(was, is) {
		if hasBoth && (was[name] == "" || is[name] == "" || name == rule.Unnamed) {
			continue
		}
		list = append(list, fmt.Sprintf("%s %s, not %s", name, textOr(other, name, is[name]), textOr(run, name, was[name])))
	}
	return list
}

// textOr returns the text of a setting. If a run does not have it, that is the default of the option, or "none".
func textOr(run *mapping.Run, name, text string) string {
	if hasTotal := name == "iodepth" && run.CBT.TotalIODepth > 0; text == "" && rule.HasAllOptions(run) && !hasTotal {
		text = fioargs.OptionDefault(cmp.Or(rule.OptionOf[name], name))
	}
	return cmp.Or(text, none)
}

// Doubt says how the settings of two runs differ, so that comparing them is doubtful. It is empty if they do not. If not
// all options of a run are known, only settings that both have can differ. The length of windows does not count.
func Doubt(base, other *mapping.Run) string {
	list := settingsApart(base, other, !rule.HasAllOptions(base) || !rule.HasAllOptions(other))
	if base.CBT.ByCBT() && other.CBT.ByCBT() {
		for _, n := range []struct {
			name        string
			base, other int
		}{{"hosts", len(base.Hosts), len(other.Hosts)}, {"jobs", base.Fio.Jobs, other.Fio.Jobs}} {
			if text := fmt.Sprintf("%s %d, not %d", n.name, n.other, n.base); n.base != n.other && !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	for _, s := range [][3]string{{"host", hostsUnlessCBT(base), hostsUnlessCBT(other)}, {"weighting", base.Weighting, other.Weighting}, {"bins", layout(base), layout(other)}} {
		if s[1] != s[2] && s[1] != "" && s[2] != "" {
			list = append(list, fmt.Sprintf("%s %s, not %s", s[0], s[2], s[1]))
		}
	}
	return strings.Join(list, "; ")
}

// hostsUnlessCBT returns the names of the hosts of a run. It is empty if none is known, or if CBT chose them.
func hostsUnlessCBT(run *mapping.Run) string {
	if run.CBT.ByCBT() {
		return ""
	}
	return hostsOf(run)
}

// hostsOf returns the names of the hosts of a run. It is empty if none is known.
func hostsOf(run *mapping.Run) string {
	var hosts []string
	for _, h := range run.Hosts {
		hosts = append(hosts, h.Name)
	}
	slices.Sort(hosts)
	return strings.Join(slices.Compact(hosts), ",")
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
		w.sort()
	}
	setTitles(list)
	return list
}

func (w *Workload) sort() {
	slices.SortStableFunc(w.Runs, func(a, b *mapping.Run) int {
		return cmp.Or(a.Run.Start.Compare(b.Run.Start), cmp.Compare(a.Run.ID, b.Run.ID))
	})
}

// setTitles sets the titles of workloads, which need a run each, and sorts these by them.
func setTitles(list []*Workload) {
	byShort := map[string][]*Workload{}
	for _, w := range list {
		short := rule.WithDefaults(w.Runs[0])
		byShort[short] = append(byShort[short], w)
	}
	for _, alike := range byShort {
		title(alike)
	}
	slices.SortFunc(list, func(a, b *Workload) int { return unit.Compare(a.Title, b.Title) })
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

// Varied is a setting in which runs differ.
type Varied struct {
	Name   string   // of a column, or of an option of fio
	Values []string // for people, sorted
}

// Varying lists the settings in which runs differ, by name. Runs that differ in none did the same.
func Varying(runs []*mapping.Run) (list []Varied) {
	runs = distinct(runs)
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

// distinct returns a run of each workload, because all others have the same settings, and all with sections. Without all options of fio,
// a run may show other settings.
func distinct(runs []*mapping.Run) (list []*mapping.Run) {
	type kind struct {
		key    string
		hasAll bool
	}
	seen := map[kind]bool{}
	for _, run := range runs {
		k := kind{Key(run), rule.HasAllOptions(run)}
		if len(run.Sections) > 1 || !seen[k] {
			list = append(list, run)
		}
		seen[k] = true
	}
	return list
}

// title sets the titles of workloads whose most important settings are the same: these, and those in which the workloads
// differ.
func title(list []*Workload) {
	values, has := map[string]map[string]bool{}, map[string]int{}
	for _, w := range list {
		for _, s := range rule.Settings(w.Runs[0]) {
			if values[s.Name] == nil {
				values[s.Name] = map[string]bool{}
			}
			values[s.Name][s.Text] = true
			has[s.Name]++
		}
	}
	for _, w := range list {
		short := rule.Short(w.Runs[0], facts.ShortSettings)
		isCommon := func(s rule.Setting) bool {
			isShort := slices.Contains([]string{"rw", "bs", "bssplit", "bsrange", "iodepth", "beside"}, s.Name)
			return len(values[s.Name]) == 1 && has[s.Name] == len(list) && !isShort
		}
		all := rule.Settings(w.Runs[0])
		var parts []string
		if short != "" {
			parts = append(parts, short)
		} else if !slices.ContainsFunc(all, func(s rule.Setting) bool { return !isCommon(s) }) {
			// then all settings are in the titles, because a title must not be empty
			isCommon = func(rule.Setting) bool { return false }
		}
		for _, s := range all {
			switch {
			case isIn(s, short) || isCommon(s):
			case s.Name == rule.Unnamed || s.Name == "benchmark":
				parts = append(parts, s.Text)
			default:
				parts = append(parts, strings.ToLower(s.Heading)+" "+s.Text)
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
