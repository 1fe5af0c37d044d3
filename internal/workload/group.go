package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
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

// short are the settings that are always in a title, in this order.
var short = []string{"mode", "op_size", "iodepth"}

type setting struct{ name, heading, text string }

// settingsOf returns the settings by which a run is compared. If it has none, its name counts instead.
func settingsOf(run *mapping.Run) (list []setting) {
	for _, c := range facts.Settings {
		if text := c.TextOf(run); text != "" && !slices.Contains(apart, c.Name) {
			list = append(list, setting{c.Name, c.Heading, text})
		}
	}
	if len(list) == 0 {
		list = append(list, setting{"name", "Name", run.Run.Name})
	}
	return list
}

// Key returns a text that identifies the workload of a run. Runs with the same settings have the same key.
func Key(run *mapping.Run) string {
	var key strings.Builder
	for _, s := range settingsOf(run) {
		fmt.Fprintf(&key, "%s=%s\n", s.name, s.text)
	}
	return key.String()
}

// SettingsApart lists the settings in which run differs from a run of another workload, such as "iodepth 16, not 1".
func SettingsApart(run, other *mapping.Run) (list []string) {
	was := map[string]string{}
	for _, s := range settingsOf(run) {
		was[s.name] = s.text
	}
	for _, s := range settingsOf(other) {
		if was[s.name] != s.text {
			list = append(list, fmt.Sprintf("%s %s, not %s", s.name, s.text, orNone(was[s.name])))
		}
		delete(was, s.name)
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		list = append(list, fmt.Sprintf("no %s, not %s", name, was[name]))
	}
	return list
}

// Group groups runs by workload. Workloads are sorted by title, and the runs of each by start. Runs with an unknown
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
	title(list)
	slices.SortFunc(list, func(a, b *Workload) int { return cmp.Compare(a.Title, b.Title) })
	return list
}

// title sets the titles of workloads: the settings that are always in a title, and those in which these workloads
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
		isCommon := func(s setting) bool {
			return len(values[s.name]) == 1 && has[s.name] == len(list)
		}
		all := settingsOf(w.Runs[0])
		var parts []string
		if text := facts.ShortSettings(w.Runs[0]); text != "" {
			parts = append(parts, text)
		} else if !slices.ContainsFunc(all, func(s setting) bool { return !isCommon(s) }) {
			// then all settings are in the titles, because a title must not be empty
			isCommon = func(setting) bool { return false }
		}
		for _, s := range all {
			switch {
			case slices.Contains(short, s.name) || isCommon(s):
			case s.name == "name" || s.name == "benchmark":
				parts = append(parts, s.text)
			default:
				parts = append(parts, strings.ToLower(s.heading)+" "+s.text)
			}
		}
		w.Title = strings.Join(parts, ", ")
	}
}
