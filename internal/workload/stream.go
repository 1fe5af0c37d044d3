package workload

import (
	"errors"
	"hash/maphash"
	"iter"
	"maps"
	"runtime"
	"slices"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
)

// Trends are the changes of all workloads of a history.
type Trends struct {
	Workloads []*Trend // sorted by title
	Runs      int
	LeftOut   map[string]int // runs that are in no series, by the reason: see [LeftOut]
}

// Trend has the changes of a workload, of whose runs it has the first one. Its series have no other runs but those at changes, and of
// their values the last.
type Trend struct {
	*Workload
	Key    string // of [Key]
	Count  int    // of runs
	Series []*Series

	records []*record // all, and then the first and the last
}

// Latest returns the last run, without all but its id, its start and the name of its section.
func (t *Trend) Latest() *mapping.Run {
	last := t.records[len(t.records)-1]
	run := &mapping.Run{Run: mapping.RunInfo{ID: last.id, Start: last.start}}
	if last.section != "" {
		run.Sections = []mapping.RunSection{{Name: last.section}}
	}
	return run
}

// Members are the members of run documents that [Find] needs of all runs.
var Members = append([]string{"run", "workload", "sections", "ingested", mapping.AllDirections}, mapping.Directions[:]...)

// Find finds the changes of at least least (a share) in the numbers of all workloads. Without ids, read returns all runs in any order,
// with the members [Members]. The documents of all may be too many for the memory, so Find keeps only their numbers. The few that it needs
// whole it then reads by their ids: the first run of each workload, and those at changes. If one of them is not as before, Find begins
// again, so the answer is one state of the history.
func Find(read func(ids ...string) iter.Seq2[*mapping.Run, error], numbers []facts.Metric, least float64) (*Trends, error) {
	const attempts = 20 // other processes may be changing one run after another
	f := &finder{read: read, numbers: numbers, least: least, unreadable: map[string]bool{}}
	for range attempts {
		if found, err := f.find(); !errors.Is(err, errChanged) {
			return found, err
		}
	}
	return nil, errChanged
}

var errChanged = errors.New("runs changed during each attempt to read them: try again")

type finder struct {
	read       func(ids ...string) iter.Seq2[*mapping.Run, error]
	numbers    []facts.Metric
	least      float64
	unreadable map[string]bool // ids of runs that did not come again
}

func (f *finder) find() (*Trends, error) {
	found := &Trends{LeftOut: map[string]int{}}
	byKey, unnamed := map[string][]*record{}, map[string][]*record{}
	add := func(parts []*mapping.Run) bool {
		for _, part := range parts {
			r, key := newRecord(part, f.numbers), Key(part)
			r.section, r.state = sectionOf(part), stateOf(part)
			byKey[key] = append(byKey[key], r)
		}
		return true
	}
	for run, err := range f.read() {
		if err != nil {
			return nil, err
		}
		if f.unreadable[run.Run.ID] {
			continue
		}
		found.Runs++
		if why := LeftOut(run); why != "" {
			found.LeftOut[why]++
		}
		// the rule needs all of a document that does not have the workload
		if parts := facts.Parts(run); slices.ContainsFunc(parts, func(part *mapping.Run) bool { return !rule.IsSet(part) }) {
			unnamed[run.Run.ID] = []*record{{state: stateOf(run)}}
		} else {
			add(parts)
		}
	}
	if err := f.again(unnamed, add); err != nil {
		return nil, err
	}
	var list []*Workload
	byWorkload := map[*Workload]*Trend{}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		t := &Trend{Workload: &Workload{}, Key: key, Count: len(byKey[key]), records: byKey[key]}
		found.Workloads, list, byWorkload[t.Workload] = append(found.Workloads, t), append(list, t.Workload), t
	}
	clear(byKey) // so that series leave only the records that they need
	f.series(found.Workloads)
	needed := map[string][]*record{}
	need := func(list ...*record) {
		for _, r := range list {
			needed[r.id] = append(needed[r.id], r)
		}
	}
	for _, t := range found.Workloads {
		need(t.records[0])
		for _, s := range t.Series {
			for i := range s.Changes {
				need(s.Changes[i].before, s.Changes[i].after)
			}
		}
	}
	if err := f.again(needed, func(parts []*mapping.Run) bool {
		for _, r := range needed[parts[0].Run.ID] {
			i := slices.IndexFunc(parts, func(part *mapping.Run) bool { return sectionOf(part) == r.section })
			if i < 0 { // of a live run
				return false
			}
			r.run = parts[i]
		}
		return true
	}); err != nil {
		return nil, err
	}
	for _, t := range found.Workloads {
		t.Runs = []*mapping.Run{t.records[0].run}
		for _, s := range t.Series {
			for i := range s.Changes {
				c := &s.Changes[i]
				c.Before, c.After = c.before.run, c.after.run
			}
		}
	}
	setTitles(list)
	for i, w := range list {
		found.Workloads[i] = byWorkload[w]
	}
	return found, nil
}

// sectionOf returns the name of the section that a run of [facts.Parts] is, or "".
func sectionOf(part *mapping.Run) string {
	if len(part.Sections) == 1 {
		return part.Sections[0].Name
	}
	return ""
}

// series makes the series of workloads, on all processors.
func (f *finder) series(list []*Trend) {
	ahead.Each(runtime.GOMAXPROCS(0), len(list), func(i int) {
		t := list[i]
		slices.SortStableFunc(t.records, (*record).compare)
		t.Series = t.series(t.records, f.numbers, f.least)
		for _, s := range t.Series {
			s.Values = slices.Clone(s.Values[max(len(s.Values)-1, 0):])
		}
		t.records = []*record{t.records[0], t.records[len(t.records)-1]}
	})
}

// again reads the documents of records by their ids, and passes them to do as [facts.Parts]. It fails with errChanged if they are not as
// before, or if do returns false.
func (f *finder) again(records map[string][]*record, do func(parts []*mapping.Run) bool) error {
	const most = 10_000 // at once
	isChanged, came := false, map[string]bool{}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(records)), most) {
		for run, err := range f.read(ids...) {
			if err != nil {
				return err
			}
			came[run.Run.ID] = true
			if records[run.Run.ID][0].state != stateOf(run) || !do(facts.Parts(run)) {
				isChanged = true
			}
		}
	}
	for id := range records {
		if !came[id] {
			isChanged, f.unreadable[id] = true, true
		}
	}
	if isChanged {
		return errChanged
	}
	return nil
}

var stateSeed = maphash.MakeSeed()

// stateOf returns a number that is another one if the document is: it has another version, was stored again, or has other labels. Those
// of live runs change all the time, and are in no series.
func stateOf(run *mapping.Run) (state uint64) {
	if run.Run.Live() {
		return 0
	}
	for name, text := range run.Run.Labels {
		state += maphash.Comparable(stateSeed, [2]string{name, text})
	}
	return state + maphash.String(stateSeed, run.Run.Ingest) + uint64(run.Ingested.UnixNano())
}
