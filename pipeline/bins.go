package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// hintFor is what is known of the bins of a log besides its columns: from the user and, for
// the rest, from the reports that may cover the log, if they agree.
func (l jobLogs) hintFor(log cbt.Log) hist.Hint {
	var hints []hist.Hint
	j := newJob(log)
	for _, out := range l.outputs {
		if out.mayCover(j, []*job{j}) {
			for i := range out.fio.Jobs {
				hints = append(hints, out.fio.Hint(i))
			}
		}
	}
	if hints = slices.Compact(hints); len(hints) == 1 {
		return l.opt.Bins.Or(hints[0])
	}
	return l.opt.Bins
}

// setGroups sets the number of groups of bins of the fio of each entry: by its logs, by the
// user, or by its reports; 0 if it is unknown.
func (c *chooser) setGroups(jobs []*job) {
	for _, e := range c.entries {
		e.groups = cmp.Or(c.opt.Bins.Groups, e.groups)
	}
	for _, j := range jobs {
		if j.entry != nil && j.hasRows {
			j.entry.groups = j.layout.Groups()
		}
	}
}

// checkLayout notes if the columns of a job's log usually mean another layout.
func (c *chooser) checkLayout(j *job) {
	usual, err := hist.Resolve(j.layout.Len(), hist.Hint{})
	if j.hasRows && err == nil && usual != j.layout {
		c.problems.note("%s: %d bins are usually %s, but are read as %s: --groups, --unit or fio's report say %s",
			j.log.File.Name(), j.layout.Len(), usual, j.layout, j.hint)
	}
}

// mixedGroups describes what is unknown of a run whose fios have different numbers of groups.
// It is empty if they have the same.
func mixedGroups(jobs []*job) string {
	var layouts []hist.Layout
	for _, j := range jobs {
		if j.hasRows {
			layouts = append(layouts, j.layout)
		}
	}
	if len(layouts) == 0 {
		return ""
	}
	merged := layouts[0]
	for _, l := range layouts {
		merged = merged.Merged(l)
	}
	least, _ := merged.Bounds(merged.Len() - 1)
	for _, l := range layouts {
		if float64(l.Reach()) > 1.05*float64(merged.Reach()) { // fio 2 and 3 differ by 2 %
			return fmt.Sprintf("its fios were built with different numbers of groups of bins, so latencies above "+
				"%v are \"or more\" "+
				"in all its numbers; read its hosts apart to see more", time.Duration(least).Round(time.Millisecond))
		}
	}
	return ""
}
