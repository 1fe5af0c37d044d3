package pipeline

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// attribute gives each slot the entry of fio's output that covers it, and returns all
// entries of the run. Logs are numbered as fio numbers jobs, over all groups.
func (b *planner) attribute(outputs []*output, slots []*slot) []*entry {
	var all []*entry
	for _, out := range outputs {
		mine := b.mine(out, outputs, slots)
		if len(mine) == 0 && len(slots) > 0 && !out.Named {
			b.note("%s: no log here is of the jobs of this report: it is not used", out.File.Name())
			continue
		}
		entries := newEntries(out)
		if out.client {
			entries = b.attributeClients(entries, mine)
		} else {
			entries = b.attributeNumbers(out, entries, mine)
		}
		all = append(all, entries...)
	}
	return all
}

// mine are the slots of logs that the fio wrote whose output this is. Where only a common
// folder says so its bins must hold all rows.
func (b *planner) mine(out *output, outputs []*output, slots []*slot) []*slot {
	var mine []*slot
	for _, s := range slots {
		if s.entry == nil && out.mayCover(s, slots) {
			mine = append(mine, s)
		}
	}
	weak := !out.Named && !out.client && (out.Candidate || len(outputs) > 1) && !slices.ContainsFunc(mine, func(s *slot) bool { return out.names(s.prefix) })
	if weak && len(mine) > 0 && !b.fits(mine, newEntries(out)) {
		return nil
	}
	return mine
}

// mayCover reports whether a log may be of the fio whose output this is: CBT's names say
// so, else the prefix in its options, else their common folder.
func (o *output) mayCover(s *slot, all []*slot) bool {
	oneHost := o.Host == "" && !slices.ContainsFunc(all, func(other *slot) bool { return other.host != s.host })
	switch {
	case s.host != o.Host && !o.client && !oneHost:
		return false
	case o.Named:
		return s.volume == o.Volume
	case o.client && !slices.ContainsFunc(o.fio.Jobs, func(j fiolog.Job) bool { return s.host == "" || cbt.SameHost(j.Host, s.host) }):
		return false
	}
	nearby := below(s.folder, path.Dir(o.File.Path)) || o.Found == cbt.FoundOptions || o.Found == cbt.FoundAbove
	return nearby && (o.names(s.prefix) || !o.namesAny() || o.Found == cbt.FoundNamed)
}

// below reports whether a folder is another one or in it.
func below(folder, other string) bool {
	return other == "." || folder == other || strings.HasPrefix(folder, other+"/")
}

// prefixes are the base names that a job's logs may have, as its options say: those of
// histogram logs, or else, as fio lists no option without a value, the job's name and
// that of its logs of completions.
func (o *output) prefixes(i int) []string {
	if p := o.option(i, "write_hist_log"); p != "" {
		return []string{path.Base(p)}
	}
	all := []string{path.Base(o.fio.Jobs[i].Name)}
	if p := o.option(i, "write_lat_log"); p != "" {
		all = append(all, path.Base(p))
	}
	return all
}

// names reports whether a job of this output may have logs of that prefix by its options.
func (o *output) names(prefix string) bool {
	for i := range o.fio.Jobs {
		if slices.Contains(o.prefixes(i), prefix) {
			return true
		}
	}
	return false
}

// namesAny reports whether any job has the prefix of its logs in its options.
func (o *output) namesAny() bool {
	for i := range o.fio.Jobs {
		if o.option(i, "write_hist_log") != "" || o.option(i, "write_lat_log") != "" {
			return true
		}
	}
	return false
}

// attributeClients goes by the hosts of the entries, and by their order on each.
func (b *planner) attributeClients(entries []*entry, slots []*slot) []*entry {
	for _, s := range slots {
		var of []*entry
		for _, e := range entries {
			if s.host == "" || cbt.SameHost(e.Host, s.host) {
				of = append(of, e)
			}
		}
		if s.number <= len(of) {
			s.entry = of[s.number-1]
			continue
		}
		b.lose(fmt.Errorf("%s: its host has only %d jobs in %s: the log is not used", s.log().File.Name(), len(of), entries[0].out.File.Name()))
	}
	b.drop(slots)
	return entries
}

// attributeNumbers goes by the numbers of the logs. With group_reporting an entry stands
// for as many as its numjobs says; where that is not enough, for several sections.
func (b *planner) attributeNumbers(out *output, entries []*entry, slots []*slot) []*entry {
	if len(slots) == 0 {
		return entries
	}
	var covers []*entry // by number - 1
	for _, e := range entries {
		for range e.size {
			covers = append(covers, e)
		}
	}
	slots = b.dropLeftovers(out, slots, len(covers))
	if slots = slices.DeleteFunc(slots, (*slot).isDropped); len(slots) == 0 {
		return entries
	}
	if slots[0].sums != nil || slots[0].segment >= 0 {
		return b.attributeSegments(out, entries, slots)
	}
	if highest(slots) > len(covers) {
		if one := combine(entries); b.fits(slots, []*entry{one}) {
			b.attributeTogether(slots, one) // fio writes one entry for all sections of a group
			return []*entry{one}
		}
		for _, s := range slots {
			if s.number > len(covers) {
				b.dropSlot(s, fmt.Sprintf("%s has %d jobs, and its bins do not hold the rows of this log", out.File.Name(), len(covers)))
			}
		}
		slots = slices.DeleteFunc(slots, (*slot).isDropped)
	}
	for _, s := range slots {
		e := covers[s.number-1]
		if s.hist.File != nil && !slices.Contains(out.prefixes(e.index), s.prefix) && out.names(s.prefix) {
			e = b.byPrefix(out, entries, s)
		}
		s.entry = e
	}
	return entries
}

func (b *planner) attributeTogether(slots []*slot, one *entry) {
	for _, s := range slots {
		s.entry = one
	}
}

// attributeSegments is for a log of all jobs, which fio writes in the order in which they
// end. A part is of the only entry whose bins hold its rows; where that is not one for
// each, all parts are of all jobs together.
func (b *planner) attributeSegments(out *output, entries []*entry, slots []*slot) []*entry {
	if len(slots) == len(entries) {
		found := make([]*entry, len(slots))
		for i, s := range slots {
			for _, e := range entries {
				if s.sums == nil || !s.sums.fit([]*entry{e}) {
					continue
				}
				if found[i] != nil || slices.Contains(found, e) {
					found[i] = nil
					break
				}
				found[i] = e
			}
		}
		if !slices.Contains(found, nil) {
			for i, s := range slots {
				s.entry = found[i]
			}
			return entries
		}
	}
	one := combine(entries)
	one.size = len(slots) // one log has them all
	if one.several = !isOneStage(entries); one.several {
		one.ran = 0 // the run times of several stages are not the log's
	}
	b.attributeTogether(slots, one)
	if !isOneStage(entries) && !(len(slots) == 1 || slots[0].head.first > epochTimes) {
		b.lose(fmt.Errorf("%s: a log of jobs that may have run one after another, of which nothing says which part is whose: "+
			"they are shown side by side; run fio with --per_job_logs=1 or --log_unix_epoch=1", slots[0].log().File.Name()))
	}
	return []*entry{one}
}

// byPrefix is the only entry whose options have the slot's prefix; nil if several do.
func (b *planner) byPrefix(out *output, entries []*entry, s *slot) *entry {
	var found *entry
	for _, e := range entries {
		if !slices.Contains(out.prefixes(e.index), s.prefix) {
			continue
		}
		if found != nil {
			b.note("%s: several jobs of %s write logs of this name: it is not attributed", s.log().File.Name(), out.File.Name())
			return nil
		}
		found = e
	}
	return found
}

// fits reports whether the bins of some entries hold all rows of some logs.
func (b *planner) fits(slots []*slot, entries []*entry) bool {
	var sums rowSums
	for _, s := range slots {
		if s.hist.File == nil {
			continue
		}
		of := s.sums
		if of == nil {
			var err error
			if of, err = sumRows(openHist(s.hist, s.segment, s.hint, b.readers), 0); err != nil {
				return false
			}
		}
		for d := range of {
			sums[d].Merge(&of[d].Histogram)
			sums[d].rows += of[d].rows
		}
	}
	return sums.fit(entries)
}

// dropLeftovers leaves out the logs of an earlier run in the same folder, which had more
// jobs: they were last written before the fio of this report was started.
func (b *planner) dropLeftovers(out *output, slots []*slot, jobs int) []*slot {
	if highest(slots) <= jobs || !out.trustsTimes() {
		return slots
	}
	began := time.UnixMilli(out.fio.Timestamp - elapsed(out.fio)).Add(-time.Second)
	for _, s := range slots {
		if f := s.log().File; s.number > jobs && !f.ModTime.IsZero() && f.ModTime.Before(began) {
			b.dropSlot(s, fmt.Sprintf("it is of an earlier run: %s was written by a fio that was started after it, for %d jobs", out.File.Name(), jobs))
		}
	}
	return slots
}

// trustsTimes reports whether the times of the files are those at which fio wrote them:
// the report's is when it says that it was written.
func (o *output) trustsTimes() bool {
	const apart = 2500 * time.Millisecond // some archives have times of two seconds
	if o.fio.Timestamp == 0 || o.File.ModTime.IsZero() {
		return false
	}
	return o.File.ModTime.Sub(time.UnixMilli(o.fio.Timestamp)).Abs() <= apart
}

// dropSlot leaves the logs of a slot out.
func (b *planner) dropSlot(s *slot, why string) {
	s.number = 0
	b.lose(fmt.Errorf("%s: not used: %s", s.log().File.Name(), why))
}

// isDropped reports whether a slot was left out.
func (s *slot) isDropped() bool { return s.number == 0 }

// drop leaves out slots that belong to no entry.
func (b *planner) drop(slots []*slot) {
	for _, s := range slots {
		if s.entry == nil {
			s.number = 0
		}
	}
}

func highest(slots []*slot) int {
	n := 0
	for _, s := range slots {
		n = max(n, s.number)
	}
	return n
}
