// Package facts has what tables, pages and messages show of a run: its title, its settings and the latencies of its
// directions. Each is a column that internal/table can write, so commands, reports and pages for browsers show the
// same. A [Metric] is a number of requests that columns, conditions, rules and comparisons are about.
//
// Latencies are in microseconds.
package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// ShortID returns the beginning of a run's id, which is enough to name the run.
func ShortID(id string) string { return id[:min(8, len(id))] }

// Started returns when a run started, to the second, or "-" if its date is not known.
func Started(run *mapping.Run) string { return started(run, unit.Second) }

// StartedInZone is like [Started], with the time zone, for sentences.
func StartedInZone(run *mapping.Run) string { return started(run, unit.Second+unit.InZone) }

func started(run *mapping.Run, layout string) string {
	if !unit.IsKnown(run.Run.Start) {
		return "-"
	}
	return unit.Time(run.Run.Start, layout)
}

// Title returns a run's name with its most important settings.
func Title(run *mapping.Run) string {
	return strings.TrimSpace(inArchive(run) + run.ShortName() + " " + ShortSettings(run))
}

// inArchive returns what stands before the name of a run. The folder of a run of fio2es run is named after its start, which is
// shown beside names.
func inArchive(run *mapping.Run) string {
	name := run.Run.Archive
	if name == "" { // of a file of histograms
		return ""
	}
	if at, err := time.Parse("20060102-150405", name[:min(15, len(name))]); err == nil && run.Run.Start.Sub(at).Abs() < 24*time.Hour {
		return ""
	}
	return name + ":"
}

// ShortSettings returns the most important settings, such as "randwrite 4K qd16".
func ShortSettings(run *mapping.Run) string { return SettingsText(&run.CBT) }

// SettingsText is [ShortSettings] of settings.
func SettingsText(set *mapping.CBT) string {
	var parts []string
	if set.Mode != "" {
		parts = append(parts, set.Mode)
	}
	if set.OpSize > 0 {
		parts = append(parts, strings.TrimSuffix(unit.WholeBytes(set.OpSize), "iB"))
	}
	switch {
	case set.TotalIODepth > 0: // CBT divides it over the volumes of a client
		parts = append(parts, "total-qd"+strconv.FormatInt(set.TotalIODepth, 10))
	case set.IODepth > 0:
		parts = append(parts, "qd"+strconv.FormatInt(set.IODepth, 10))
	}
	return strings.Join(parts, " ")
}

// StageText returns which stage of its execution a run is, such as "2/4", or "" if it is the only one.
func StageText(run *mapping.Run) string {
	if run.Run.Stages < 2 {
		return ""
	}
	return fmt.Sprintf("%d/%d", run.Run.Stage, run.Run.Stages)
}

// StageName returns the name of a stage without that of its execution. The only stage has the name of its execution.
func StageName(run *mapping.Run) string { return cmp.Or(run.Run.StageName, run.Run.Name) }

// Parts returns what was measured in runs as workloads: each run itself or, if its jobs did not all do the same, a run for each
// of its sections, with the settings and the totals of that section. What ran beside a section is one of its settings,
// because both share devices: [mapping.RunSection] has it.
func Parts(runs ...*mapping.Run) (list []*mapping.Run) {
	for _, run := range runs {
		list = append(list, partsOf(run)...)
	}
	return list
}

func partsOf(run *mapping.Run) (list []*mapping.Run) {
	if len(run.Sections) < 2 {
		return []*mapping.Run{run}
	}
	for i, s := range run.Sections {
		var beside []string
		for k := range run.Sections {
			if other := &run.Sections[k]; k != i {
				beside = append(beside, cmp.Or(SettingsText(&other.CBT), other.Name))
			}
		}
		slices.Sort(beside)
		s.Beside = strings.Join(beside, " + ")
		one := *run
		one.Fio.Options, one.Fio.Jobs, one.Sections = s.Options, s.Jobs, []mapping.RunSection{s}
		one.Workload = s.Workload
		one.CBT = run.CBT.Of(&s.CBT)
		one.All, one.Read, one.Write, one.Trim, one.Sync = s.All, s.Read, s.Write, s.Trim, s.Sync
		one.Hosts = slices.Clone(one.Hosts)
		for i := range one.Hosts { // theirs are of all sections
			h := &one.Hosts[i]
			h.Read, h.Write, h.Trim, h.Sync = nil, nil, nil, nil
		}
		list = append(list, &one)
	}
	return list
}

// Part returns a section of a run as a run of its own, as [Parts] does. It is named as if the sections were stages. It is nil
// if the run has no section of this name. A run that is a part stays as it is.
func Part(run *mapping.Run, section string) *mapping.Run {
	if len(run.Sections) == 1 {
		return run
	}
	parts := Parts(run)
	i := slices.IndexFunc(run.Sections, func(s mapping.RunSection) bool { return s.Name == section })
	if i < 0 || len(parts) <= i {
		return nil
	}
	one := parts[i]
	one.Run.Name, one.Run.StageName = PartPath(run.Run.Name, section), PartPath(run.Run.StageName, section)
	one.Run.Stages = max(run.Run.Stages, len(run.Sections))
	one.Recovered, one.Missing, one.SLA, one.Changes = mapping.Lost{}, mapping.Lost{}, nil, nil
	return one
}

// PartPath returns the name of a section after that of its run. It is not a path to be cleaned: a section may be named "..".
func PartPath(run, section string) string {
	if run == "" {
		return section
	}
	return run + "/" + section
}

// PartName names the run of one section: "reader beside write 1M". It is empty for a whole run.
func PartName(run *mapping.Run) string {
	if len(run.Sections) != 1 {
		return ""
	}
	return run.Sections[0].Name + " beside " + run.Sections[0].Beside
}

// ExecutionTitle returns the name of the execution of a run.
func ExecutionTitle(run *mapping.Run) string {
	name := strings.TrimSuffix(strings.TrimSuffix(run.Run.Name, StageName(run)), "/")
	if name = strings.Trim(inArchive(run)+name, ":"); run.Run.Execution != "" {
		name = ShortID(run.Run.Execution) + " " + name
	}
	return fmt.Sprintf("%s, %s", name, unit.Plural(run.Run.Stages, "stage"))
}

// executionOf identifies the execution of a run, or is "" for a run that is its only stage. Runs in files have no ids.
// There the stages of an execution have the same folder.
func executionOf(run *mapping.Run) string {
	if run.Run.Stages < 2 {
		return ""
	}
	return cmp.Or(run.Run.Execution, run.Run.Archive+":"+run.Run.Path)
}

// IsExecution reports whether runs are stages of one execution, at least two of them, and each once.
func IsExecution(runs []*mapping.Run) bool {
	seen := map[string]bool{}
	for _, run := range runs {
		stage := fmt.Sprint(run.Run.Stage, " ", run.Run.Name) // sections of a stage are runs, too
		if execution := executionOf(run); execution == "" || execution != executionOf(runs[0]) || seen[stage] {
			return false
		}
		seen[stage] = true
	}
	return len(runs) > 1
}

// KeepTogether sorts runs so that the stages of an execution follow one another, in their order. An execution has the
// place of its first run in the list.
func KeepTogether(runs []*mapping.Run) {
	first, place := map[string]int{}, map[*mapping.Run]int{}
	for i, run := range runs {
		execution := executionOf(run)
		if _, ok := first[execution]; !ok && execution != "" {
			first[execution] = i
		}
		if place[run] = i; execution != "" {
			place[run] = first[execution]
		}
	}
	slices.SortStableFunc(runs, func(a, b *mapping.Run) int {
		return cmp.Or(cmp.Compare(place[a], place[b]), cmp.Compare(a.Run.Stage, b.Run.Stage))
	})
}

// ShortNote returns the first line of the note of a run.
func ShortNote(run *mapping.Run) string {
	line, rest, _ := strings.Cut(run.Run.Note, "\n")
	if rest != "" {
		line += " …"
	}
	return line
}

// State says in a few words what is wrong with a run or unfinished, such as "live" or "incomplete".
func State(run *mapping.Run) string {
	words, _ := run.State()
	return strings.Join(words, ", ")
}

// StateText returns the state for people. For a compacted run it includes the length of the windows.
func StateText(run *mapping.Run) string {
	words, _ := run.State()
	if run.Run.Compacted.From != "" {
		words = append(words, "windows of "+windowLength(run))
	}
	return strings.Join(words, ", ")
}

// windowLength returns the length of a run's windows, or "" if the run has none.
func windowLength(run *mapping.Run) string {
	if run.IntervalMS == 0 {
		return ""
	}
	return Length(run.IntervalMS)
}

// Length returns the length of windows in milliseconds as in flags, such as 1s or 1m30s.
func Length(ms int64) string { return unit.Short(time.Duration(ms) * time.Millisecond) }
