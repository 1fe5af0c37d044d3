package matrix

import (
	"cmp"
	"slices"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
)

// Run is what matrices need of a run, or of a section of one.
type Run struct {
	ID     string
	Like   *mapping.Run // the run, or another one of its workload with the same values of the settings
	start  int64        // milliseconds since 1970
	totals [len(mapping.Directions) + 1]*mapping.Totals
}

// directions are those of the totals.
var directions = append(mapping.Directions[:], mapping.AllDirections)

func newRun(run, like *mapping.Run) *Run {
	r := &Run{ID: run.Run.ID, Like: like, start: run.Run.Start.UnixMilli()}
	for i, d := range directions {
		r.totals[i] = run.Of(d)
	}
	return r
}

// RunsOf returns few runs for matrices, each with its own document.
func RunsOf(runs []*mapping.Run) (list []*Run) {
	for _, run := range runs {
		list = append(list, newRun(run, run))
	}
	return list
}

// Of returns the totals in a direction, or nil if there are none.
func (r *Run) Of(direction string) *mapping.Totals {
	return r.totals[slices.Index(directions, direction)]
}

// likesOf returns the documents of runs, once each.
func likesOf(runs []*Run) (list []*mapping.Run) {
	seen := map[*mapping.Run]bool{}
	for _, run := range runs {
		if !seen[run.Like] {
			list = append(list, run.Like)
		}
		seen[run.Like] = true
	}
	return list
}

// Collection takes the runs of a history one after another. Of many it keeps ids and totals, and one document of those of a workload that
// have the same values of the settings.
type Collection struct {
	Read int // how many runs it took
	Live int // of these, left out: not over

	by                     []Setting
	meets                  func(*mapping.Run) bool
	measured, preparations struct {
		runs  int
		parts []*Run
	}
	incomplete []*Run
	kinds      kinds
}

// kinds is a tree. Each level has the values of one thing in which runs may differ, and its leaves have a document.
type kinds struct {
	like *mapping.Run
	by   map[any]*kinds
}

func (k *kinds) of(value any) *kinds {
	next := k.by[value]
	if next == nil {
		if next = new(kinds); k.by == nil {
			k.by = map[any]*kinds{}
		}
		k.by[value] = next
	}
	return next
}

// Collect returns a collection for matrices by these settings, or by those of [SettingsOf] if there are none. Of the sections of a
// run ([facts.Parts]), those count that meet a condition; nil means all.
func Collect(by []Setting, meets func(*mapping.Run) bool) *Collection {
	return &Collection{by: by, meets: meets}
}

// Add adds runs.
func (c *Collection) Add(runs ...*mapping.Run) {
	for _, run := range runs {
		c.add(run)
	}
}

func (c *Collection) add(run *mapping.Run) {
	c.Read++
	switch {
	case run.Run.Live():
		c.Live++
		return
	case !run.Run.Complete:
		c.incomplete = append(c.incomplete, newRun(run, nil))
	}
	to := &c.measured
	if run.IsPrecondition() {
		to = &c.preparations
	}
	to.runs++
	for _, part := range facts.Parts(run) {
		if len(part.Sections) == 1 && c.meets != nil && !c.meets(part) {
			continue
		}
		kind := c.kinds.of(workload.Key(part)).of(rule.HasAllOptions(part)) // all that the rule of workloads compares is the same then
		for _, s := range c.by {
			kind = kind.of(s.of(part).raw)
		}
		if kind.like == nil {
			kind.like = part
		}
		to.parts = append(to.parts, newRun(part, kind.like))
	}
}

// Sort puts runs that came in any order into the one of lists: the newest start first.
func (c *Collection) Sort() {
	for _, list := range [][]*Run{c.measured.parts, c.preparations.parts, c.incomplete} {
		slices.SortStableFunc(list, func(a, b *Run) int { return cmp.Or(cmp.Compare(b.start, a.start), cmp.Compare(a.ID, b.ID)) })
	}
}

// Incomplete returns the short ids of the runs that are over and not complete.
func (c *Collection) Incomplete() (ids []string) {
	for _, run := range c.incomplete {
		ids = append(ids, facts.ShortID(run.ID))
	}
	return ids
}

// Runs returns the collected runs, without those that prepared volumes for others, as in CBT's reports. A note says so. Alone they
// are what is asked for.
func (c *Collection) Runs() (list []*Run, note string) {
	if c.measured.runs == 0 {
		return c.preparations.parts, ""
	}
	return c.measured.parts, leftOut(c.preparations.runs)
}

// Measured is like [Collection.Runs], for documents.
func Measured(runs []*mapping.Run) (list []*mapping.Run, note string) {
	if list = slices.DeleteFunc(slices.Clone(runs), (*mapping.Run).IsPrecondition); len(list) == 0 {
		return runs, ""
	}
	return list, leftOut(len(runs) - len(list))
}

func leftOut(preparations int) string {
	if preparations == 0 {
		return ""
	}
	return unit.Plural(preparations, "run") + " left out: precondition, as in CBT's reports"
}
