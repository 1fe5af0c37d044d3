package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// HintFor returns what is known of the bins of a log besides its number of columns. The user's hint comes first.
// Otherwise it comes from the reports that may cover the log, if they agree.
func (ev *Evidence) HintFor(log cbt.Log, said hist.Hint) hist.Hint {
	var hints []hist.Hint
	half := false
	j := NewJob(&Log{Log: log, Segment: -1})
	for _, out := range ev.Outputs {
		if out.mayCover(j, []*Job{j}) {
			for i := range out.Fio.Jobs {
				hints = append(hints, out.Fio.Hint(i))
			}
			half = half || out.Fio.WritesHalf()
		}
	}
	hint := said.Or(hist.Hint{Half: half})
	if hints = slices.Compact(hints); len(hints) == 1 {
		return hint.Or(hints[0])
	}
	for _, other := range hints { // options of jobs may differ, and all are of one fio
		if other.Unit != hints[0].Unit {
			return hint
		}
		hint = hint.Or(hist.Hint{Unit: other.Unit})
	}
	return hint
}

// setUnit sets the unit of the latencies in a log of completions or averages, and returns an error if nothing shows it.
// fio 2 wrote microseconds, and fio 3 writes nanoseconds. What the user says comes first, then the report, then the
// job's histogram log, then the columns.
func (c *chooser) setUnit(j *Job, l *Log, ofHist hist.Unit) error {
	reported := hist.UnknownUnit
	if j.Entry != nil {
		reported = j.Entry.Out.Fio.Unit
	}
	said := c.opt.Bins.Unit
	if said != hist.UnknownUnit && reported != hist.UnknownUnit && said != reported {
		c.problems.note("%s: read in %s, as FIO2ES_UNIT says, although %s of its report writes %s",
			l.File.Name(), said, j.Entry.Out.Fio.Version, reported)
	}
	j.Unit = cmp.Or(said, reported, c.ev.HintFor(l.Log, c.opt.Bins).Unit, ofHist)
	switch {
	case j.Unit != hist.UnknownUnit:
	case l.Rows.isFio3():
		j.Unit = hist.Nanoseconds
	default:
		return fmt.Errorf("%s: nothing says whether its latencies are ns (fio 3) or us (fio 2), so it is not used: "+
			"set FIO2ES_UNIT=ns or FIO2ES_UNIT=us, or put fio's JSON report beside it", l.File.Name())
	}
	return nil
}

// Nanoseconds returns the length of a unit.
func Nanoseconds(unit hist.Unit) int64 {
	if unit == hist.Microseconds {
		return 1000
	}
	return 1
}

// proveHalf returns an error if a log lacks the second half of the bins and the job may have had requests there.
func (j *Job) proveHalf() error {
	if !j.Log.Hint.Half {
		return nil
	}
	least, _ := j.Layout.Bounds(j.Layout.Half())
	if j.Entry != nil && !j.Entry.exceeds(least) {
		return nil
	}
	return fmt.Errorf("%s: fio 3.6 to 3.16 write memory in place of counts at latencies of %v or more, and the report shows "+
		"such latencies: the log is not used; run a newer fio, or this one with --status-interval=1 --output-format=json+",
		j.Log.File.Name(), time.Duration(least))
}

// exceeds reports whether a completion latency may be at or above a limit in nanoseconds.
func (e *Entry) exceeds(limit int64) bool {
	if len(e.parts) > 0 {
		return slices.ContainsFunc(e.parts, func(part *Entry) bool { return part.exceeds(limit) })
	}
	return slices.ContainsFunc(e.All(), func(s *fiolog.DirectionStats) bool {
		l := &s.Clat
		if len(l.Bins) == 0 {
			most := max(l.Max, s.Lat.Max) // logs may have total latencies
			return s.TotalIOs > 0 && (most >= limit || most == 0)
		}
		_, high := l.Layout.Bounds(int(l.Bins[len(l.Bins)-1].Index))
		return high > limit
	})
}

// setGroups sets the number of groups of bins for the fio of each entry. It comes from its logs, from the user, or from
// its reports. It is 0 if unknown.
func (c *chooser) setGroups(jobs []*Job) {
	for _, e := range c.Entries {
		e.groups = cmp.Or(c.opt.Bins.Groups, e.groups)
	}
	for _, j := range jobs {
		if j.Entry != nil && j.HasRows {
			j.Entry.groups = j.Layout.Groups()
		}
	}
}

// checkLayout adds a note if the columns of a job's log usually mean another layout.
func (c *chooser) checkLayout(j *Job) {
	usual, err := hist.Resolve(j.Layout.Len(), hist.Hint{})
	if j.HasRows && err == nil && usual != j.Layout {
		c.problems.note("%s: %d bins are usually %s, but are read as %s: FIO2ES_GROUPS, FIO2ES_UNIT or fio's report say %s",
			j.Log.File.Name(), j.Layout.Len(), usual, j.Layout, j.Log.Hint)
	}
}

// MixedGroups returns a text about what is unknown if the fios of a run have different numbers of groups. It is empty
// if all have the same number.
func MixedGroups(jobs []*Job) string {
	var layouts []hist.Layout
	for _, j := range jobs {
		if j.HasRows {
			layouts = append(layouts, j.Layout)
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
