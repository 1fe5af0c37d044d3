package pipeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// hintFor is what is known of the bins of a log beside its columns: what the user says and,
// where that is silent, what the reports say that cover the log, if they agree.
func (r *reader) hintFor(log cbt.Log) hist.Hint {
	var hints []hist.Hint
	for _, out := range r.outputs {
		if out.mayCover(&job{log: log}) {
			for i := range out.fio.Jobs {
				hints = append(hints, out.fio.Hint(i))
			}
		}
	}
	if hints = slices.Compact(hints); len(hints) == 1 {
		return r.opt.Bins.Or(hints[0])
	}
	return r.opt.Bins
}

// hint is the same where the job's entry in the report is known.
func (j *job) hint() hist.Hint {
	if j.entry == nil {
		return j.run.hintFor(j.log)
	}
	at := slices.IndexFunc(j.entry.out.fio.Jobs, func(one fiolog.Job) bool { return one.Name == j.entry.Name })
	return j.run.opt.Bins.Or(j.entry.out.fio.Hint(at))
}

// checkLayout notes where the log's columns alone would say something else.
func (h *histRows) checkLayout(l hist.Layout) {
	h.layout, h.knowsLayout = l, true
	if usual, err := hist.Resolve(l.Len(), hist.Hint{}); err == nil && usual != l {
		h.run.problems.note("%s: %d bins are usually %s, but are read as %s: --groups, --unit or fio's report say %s",
			h.log.File.Name(), l.Len(), usual, l, h.hint())
	}
}

// groups is how many groups of bins the fio was built with whose entry this is: as its logs
// show, or the user says, or its reports need; 0 if it is not known.
func (e *entry) groups() int {
	for _, j := range e.logs {
		if j.knowsLayout {
			return j.layout.Groups()
		}
	}
	if len(e.logs) > 0 && e.logs[0].run.opt.Bins.Groups != 0 {
		return e.logs[0].run.opt.Bins.Groups
	}
	return e.out.groups
}

// reported is the histogram of the entry's bins, of direction d.
func (e *entry) reported(d fiolog.Direction) *hist.Histogram {
	return e.Directions[d].Clat.Histogram(e.groups())
}

// layouts are those of all jobs whose layout is known.
func (r *reader) layouts() []hist.Layout {
	var all []hist.Layout
	for _, j := range r.jobs {
		if _, ok := j.source.(*reportRows); ok {
			if l, err := hist.NewLayout(j.entry.out.fio.Unit, j.entry.groups(), 0); err == nil {
				all = append(all, l)
			}
		} else if j.hasRows {
			all = append(all, j.layout)
		}
	}
	return all
}

// mixedGroups says what is not known of a run whose fios have different numbers of groups;
// nothing if they have the same.
func mixedGroups(layouts []hist.Layout) string {
	if len(layouts) == 0 {
		return ""
	}
	merged := layouts[0]
	for _, l := range layouts {
		merged = merged.Merged(l)
	}
	least, _ := merged.Bounds(merged.Len() - 1)
	for _, l := range layouts {
		if float64(l.Reach()) > 1.05*float64(merged.Reach()) { // those of fio 2 and 3 differ by 2 %
			return fmt.Sprintf("its fios were built with different numbers of groups of bins, so latencies above %v are \"or more\" "+
				"in all its numbers; read its hosts apart to see more", time.Duration(least).Round(time.Millisecond))
		}
	}
	return ""
}
