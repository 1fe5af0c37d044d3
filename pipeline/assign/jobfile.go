package assign

import (
	"maps"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// SectionsOf returns the sections of a group from the job file: the one that the report names, which is the first of the
// group, and those behind it until a stonewall or new_group. It returns none if these lack the section whose options the
// report lists. Then the file was changed after the run, or it is another file.
func (r *Run) SectionsOf(e *Entry) []*fioargs.Section {
	isListed := func(s *fioargs.Section) bool {
		for name, value := range e.Own {
			if o, _ := s.Get(name); o.Value != value {
				return false
			}
		}
		return true
	}
	if !e.IsGroup {
		return nil
	}
	for _, group := range r.groups() {
		i := slices.IndexFunc(group, func(s *fioargs.Section) bool { return s.Name == e.Name })
		if i >= 0 && slices.ContainsFunc(group[i:], isListed) {
			return group[i:]
		}
	}
	return nil
}

// groups returns the sections of the job file by their groups (groupid), as fio would form them.
func (r *Run) groups() (groups [][]*fioargs.Section) {
	for i, s := range r.Sections {
		if i == 0 || s.IsOn("stonewall") || s.IsOn("new_group") {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], s)
	}
	return groups
}

// completeText adds to fio's normal and terse output what the sections of the job file say: options, and in terse output with
// these what its numbers are. fio counts no requests there, but their bytes, and IOPS without decimals, so a size of all
// requests that fits both gives their number. Sums of several sections stay as they are. Normal output stays as it is if one of
// its jobs is such a sum, or contradicts its section: then the file was changed after the run, or it is another file.
func (p *assigner) completeText() {
	for _, o := range p.Outputs {
		if o.Fio.Format == fiolog.JSON {
			continue
		}
		sections := make([]*fioargs.Section, len(o.Fio.Jobs))
		for i := range sections {
			sections[i] = p.ev.Run.sectionOf(&o.Fio.Jobs[i])
		}
		if o.Fio.Format == fiolog.Normal && slices.Contains(sections, nil) {
			continue
		}
		o.Fio.Jobs = slices.Clone(o.Fio.Jobs) // evidence does not change
		for i, s := range sections {
			if s == nil {
				continue
			}
			j, options := &o.Fio.Jobs[i], s.Map()
			maps.Copy(options, j.Options)
			if j.Options = options; o.Fio.Format == fiolog.Terse {
				completeTerse(o.Fio, j, s)
			}
		}
	}
}

// sectionOf returns the section of the job file that a job of a report is of, or nil if that is not known.
func (r *Run) sectionOf(j *fiolog.Job) *fioargs.Section {
	for _, group := range r.groups() {
		i := slices.IndexFunc(group, func(s *fioargs.Section) bool { return s.Name == j.Name })
		if i < 0 || len(group) > 1 && group[i].IsOn("group_reporting") {
			continue
		}
		printed, inFile := fioargs.Measured(j.Options, false), fioargs.Measured(group[i].Map(), false)
		for name := range j.Options {
			isEngine := name == "ioengine" && strings.HasPrefix(inFile[name], "external:") // fio prints its own name
			if printed[name] != inFile[name] && !isEngine {
				return nil
			}
		}
		return group[i]
	}
	return nil
}

// completeTerse changes the statistics of a job in terse output to what its section of the job file says that they are.
func completeTerse(r *fiolog.Report, j *fiolog.Job, section *fioargs.Section) {
	if r.CallsAllReads() && section.IsOn("unified_rw_reporting") {
		j.Mixed = new(j.Directions[fiolog.Read])
		j.Directions = [fiolog.Directions]fiolog.DirectionStats{}
	}
	for _, name := range []string{"fsync", "fdatasync", "sync_file_range"} { // terse output does not have syncs
		o, isSet := section.Get(name)
		j.Sync.Uncounted = j.Sync.Uncounted || isSet && o.Value != "0" && j.Directions[fiolog.Write].Served()
	}
	size := uint64(JobOptions{Own: j.Options}.requestSize())
	if j.Mixed != nil {
		j.Mixed = new(*j.Mixed)
	}
	for _, d := range j.All() {
		if section.IsOn("lat_percentiles") {
			d.Lat.Percentiles, d.Lat.PercentileStep = d.Clat.Percentiles, d.Clat.PercentileStep
			d.Clat.Percentiles = nil
		}
		const kib = 1024 // bytes are whole KiB
		if !d.Uncounted || size == 0 || size%kib > 0 || d.IOBytes%size > 0 || d.IOBytes/size*1000/uint64(d.Runtime) != uint64(d.IOPS) {
			continue
		}
		d.TotalIOs, d.Uncounted = d.IOBytes/size, false
		d.IOPS = float64(d.TotalIOs) * 1000 / float64(d.Runtime)
	}
}
