package plan

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/group"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Version returns the version of fio, or "" if it is unknown.
func (p *Plan) Version() string {
	for _, o := range p.Outputs {
		if o.Fio.Version != "" {
			return o.Fio.Version
		}
	}
	return ""
}

// Format returns the format of fio's reports if they are not JSON, or "": that of the least exact one.
func (p *Plan) Format() string {
	format := fiolog.JSON
	for _, e := range p.Entries {
		format = max(format, e.Out.Fio.Format)
	}
	if format == fiolog.JSON {
		return ""
	}
	return format.String()
}

// Stand returns the number of fio's jobs that some jobs stand for.
func Stand(jobs []*Job) (n int) {
	for _, j := range jobs {
		n += j.Stands
	}
	return n
}

// RunSections returns the sections of a run whose jobs did not all do the same, without their totals.
func (p *Plan) RunSections() (list []mapping.RunSection) {
	if p.HasSections() {
		for _, s := range p.Sections {
			list = append(list, mapping.RunSection{Name: s.Name, CBT: s.Settings, Options: s.Options, Jobs: Stand(s.Jobs)})
		}
	}
	return list
}

// Options returns the options of fio that are the same for all jobs. An option that changes what is measured, and that
// sections have apart, has the values of all, in their order. Of a group whose sections are not known, the options of
// the section that the report lists end with "?".
func (p *Plan) Options() map[string]string {
	var all, sections []map[string]string
	seen := map[string]bool{}
	for _, e := range p.optionSets() {
		options := e.Listed()
		all = append(all, options)
		own := fioargs.Measured(options, p.Run.ByCBT())
		if key := fmt.Sprint(own); !seen[key] { // Sprint sorts a map
			seen[key], sections = true, append(sections, own)
		}
	}
	if slices.ContainsFunc(p.Outputs, func(o *assign.Output) bool { return o.Client }) { // which lists clients as they end
		slices.SortFunc(sections, func(a, b map[string]string) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	same := fioargs.Common(all)
	known := fioargs.Measured(same, p.Run.ByCBT())
	for _, section := range sections {
		for name, value := range section {
			if _, isDone := same[name]; isDone || known[name] == value {
				continue
			}
			var values []string
			for _, s := range sections {
				values = append(values, cmp.Or(s[name], fioargs.OptionDefault(name), "-"))
			}
			if len(slices.Compact(slices.Clone(values))) == 1 {
				values = values[:1]
			}
			same[name] = strings.Join(values, fioargs.Between)
		}
	}
	return same
}

// Hosts returns the hosts of the run, in the order of their first jobs.
func (p *Plan) Hosts() []mapping.RunHost {
	var hosts []mapping.RunHost
	for _, jobs := range group.By(p.Jobs, func(j *Job) string { return j.Host }) {
		first := slices.MinFunc(jobs, func(a, b *Job) int { return a.Start.Compare(b.Start) })
		h := mapping.RunHost{Name: first.Host, Start: first.Start.UTC(), Clock: jobs[0].Clock.String(), ClockErrorMS: jobs[0].Error.Milliseconds(), Jobs: Stand(jobs)}
		if !p.Start.IsZero() {
			h.SkewMS = h.Start.Sub(p.Start).Milliseconds()
		}
		hosts = append(hosts, h)
	}
	return hosts
}

// WhyNoWindows says why there are no windows with percentiles, and what to do.
func (p *Plan) WhyNoWindows() string { return NoWindowsPrefix + p.whyNoWindows() }

// NoWindowsPrefix begins [Plan.WhyNoWindows].
const NoWindowsPrefix = "no percentiles over time: "

func (p *Plan) whyNoWindows() string {
	const options = "run fio with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	anyJob := func(is func(*Job) bool) bool { return slices.ContainsFunc(p.Jobs, is) }
	anyEntry := func(is func(*assign.Entry) bool) bool { return slices.ContainsFunc(p.Entries, is) }
	noEntry := func(is func(*assign.Entry) bool) bool { return len(p.Entries) > 0 && !anyEntry(is) }
	hist := anyJob(func(j *Job) bool { return j.Source == assign.FromHist })
	switch {
	case len(p.Averages) > 0:
		return "its logs are averages (log_avg_msec): " + options + ", or without log_avg_msec"
	case noEntry(func(e *assign.Entry) bool { return slices.ContainsFunc(e.All(), (*fiolog.DirectionStats).Served) }):
		return mapping.NoRequests
	case noEntry(func(e *assign.Entry) bool {
		return slices.ContainsFunc(e.All(), func(s *fiolog.DirectionStats) bool { return s.Clat.Mean > 0 })
	}):
		return "completion latencies are disabled (disable_clat, disable_lat or gtod_reduce): run fio without " +
			"that option, and with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	case anyEntry(func(e *assign.Entry) bool { return e.OptionOfOne("clat_percentiles") == "0" }):
		return "clat_percentiles=0 leaves the rows out of histogram logs: run fio without it"
	case anyJob(func(j *Job) bool { return j.Source == assign.FromNothing && j.Damage == nil && j.Raw != nil }):
		return "none of its logs can be used, as the warnings say: " + options
	case len(p.Run.Logs) > 0 && (!hist || anyJob(func(j *Job) bool { return j.IsJunk })):
		return "none of its histogram logs can be used, as the warnings say: copy them again, as fio wrote them"
	case anyJob(func(j *Job) bool { return j.HasRows }):
		return "its histogram logs have rows, but no requests in them"
	case hist && !anyJob(func(j *Job) bool { return j.Interval > 0 }) && !anyEntry(func(e *assign.Entry) bool {
		return e.HistInterval() > 0 || e.Out.Fio.Format != fiolog.JSON // which lists no options
	}):
		return "log_hist_msec is not set, so that the histogram logs are empty: " + options
	case hist:
		return "its histogram logs have no rows: they were cut, or the run took less than an interval: keep them " +
			"whole, or set --log_hist_msec to less"
	case anyEntry(func(e *assign.Entry) bool { return e.WantsRows() }):
		return "its histogram logs (write_hist_log) are not here: put them beside the report"
	case len(p.Run.Others) == 0:
		return "a report alone: " + options
	}
	return "no histogram logs and no logs of single completions: " + options
}

// RequestSize returns the size of all requests of a direction in bytes. It returns false if sizes differ, or nothing shows
// them. While fio runs (isLive) it has counted requests whose bytes it has not counted, so options decide. Without any,
// the size is fio's usual one, if the bytes so far are a multiple of it and at most that for each request.
func (p *Plan) RequestSize(d fiolog.Direction, isLive bool) (float64, bool) {
	size, isSame := uint64(0), !slices.ContainsFunc(p.Jobs, func(j *Job) bool { return j.Entry == nil })
	isUsual := true
	setting := append([]string{"bs", "read_iolog", "replay"}, assign.SeveralSizes...)
	for _, e := range p.Entries {
		s := &e.Directions[d]
		if e.Mixed != nil {
			s = e.Mixed // all directions in one
		}
		if s.TotalIOs > 0 && isSame {
			one := s.IOBytes / s.TotalIOs
			isSame = s.IOBytes%s.TotalIOs == 0 && (size == 0 || size == one) && !slices.ContainsFunc(assign.SeveralSizes, e.HasOption)
			size = one
		}
		isUsual = isUsual && !slices.ContainsFunc(setting, e.HasOption) && (e.HasOption("name") || e.HasOption("rw")) &&
			s.IOBytes%assign.UsualSize == 0 && s.IOBytes/assign.UsualSize <= s.TotalIOs
	}
	switch {
	case isSame:
		return float64(size), true
	case !isLive:
		return 0, false
	}
	if isUsual {
		return assign.UsualSize, true
	}
	set := p.FioSettings().OpSize
	if !slices.ContainsFunc(p.Entries, func(e *assign.Entry) bool { return e.HasOption("bs") }) {
		set = 0 // the bytes contradict fio's default
	}
	return float64(set), set > 0
}

// WantedTime returns for how long a job was to run, in milliseconds, or 0 if that is not known: without time_based, or with a
// number of requests or bytes, a job may end before its time.
func (p *Plan) WantedTime(j *Job) int64 {
	e := j.Entry
	if e == nil || slices.ContainsFunc([]string{"io_size", "io_limit", "number_ios"}, e.HasOption) || !p.Run.IsTimed && !e.HasOption("time_based") {
		return 0
	}
	if set, ok := fioargs.ParseTime(e.Option("runtime")); ok {
		return set.Milliseconds()
	}
	return p.Run.RunSeconds * 1000
}

// Nanoseconds returns the length of a unit.
func Nanoseconds(unit hist.Unit) int64 {
	if unit == hist.Microseconds {
		return 1000
	}
	return 1
}

// NoWindows says why there will be no windows with percentiles, or is empty if there will be some. A log without rows is of
// a job that ended before the first one was due. Then the report has its requests.
func (p *Plan) NoWindows() string {
	for _, j := range p.Jobs {
		e, has := j.Entry, j.HasRows
		switch j.Source {
		case assign.FromReports:
			has = slices.ContainsFunc(e.All(), func(s *fiolog.DirectionStats) bool { return len(s.Clat.Bins) > 0 })
		case assign.FromHist:
			isShort := e != nil && e.Out.HasBins && e.WantsRows() && !j.IsJunk && j.Ran <= 2*j.Interval && e.Job.Requests() > 0
			has = j.HasRows && !j.IsZero || !j.HasRows && isShort
		}
		if has {
			return ""
		}
	}
	return p.WhyNoWindows()
}

// Settings returns the settings of the run. They come from the path and from CBT's configuration, because fio does not
// know all of them. Without a configuration, or if it does not have the workload, fio's options complete them. People name folders as they like, so the path
// counts only if no option of fio is known.
func (p *Plan) Settings() mapping.CBT {
	set := p.Run.CBT
	if !set.ByCBT() && set.Benchmark == "" {
		return cmp.Or(p.FioSettings(), set)
	}
	if p.Run.Config == nil || p.Run.IsUnlisted {
		v, more := reflect.ValueOf(&set).Elem(), reflect.ValueOf(p.FioSettings())
		for f := range v.NumField() {
			if v.Field(f).IsZero() {
				v.Field(f).Set(more.Field(f))
			}
		}
	}
	if set.TotalIODepth > 0 { // CBT divides it over the volumes of a client, evenly or not; option.iodepth has the parts
		set.IODepth = 0
	}
	if set.Iteration == nil {
		set.Iteration = new(0)
	}
	return set
}

// FioSettings returns the settings that fio's options name or leave at their defaults, if they are the same for all jobs.
func (p *Plan) FioSettings() (same mapping.CBT) {
	for i, e := range p.optionSets() {
		set := e.Settings()
		if i == 0 {
			same = set
			continue
		}
		v, other := reflect.ValueOf(&same).Elem(), reflect.ValueOf(set)
		for f := range v.NumField() {
			if !v.Field(f).Equal(other.Field(f)) {
				v.Field(f).SetZero()
			}
		}
	}
	return same
}

// Reported returns the entries of the run as fio reported them: parts in place of combined entries.
func (p *Plan) Reported() (all []*assign.Entry) {
	for _, e := range p.Entries {
		all = append(all, e.Parts()...)
	}
	return all
}

// optionSets returns an entry with the options of each job or section. They come from the reports, because fio did what
// they say. They come from the job file, and the entries have no job, if a report lists none. For the sections of a group
// they come from the job file, too, because a report lists the options of one section only.
func (p *Plan) optionSets() (all []*assign.Entry) {
	reported := p.Reported()
	if !slices.ContainsFunc(reported, func(e *assign.Entry) bool { return len(e.Own)+len(e.Global) > 0 }) {
		for _, s := range p.sectionsHere() {
			all = append(all, &assign.Entry{JobOptions: assign.JobOptions{Own: s.Map()}})
		}
		return all
	}
	for _, e := range reported {
		sections := p.Run.SectionsOf(e)
		for _, s := range sections {
			all = append(all, &assign.Entry{JobOptions: assign.JobOptions{Own: s.Map(), Global: e.Global}, Job: e.Job})
		}
		if len(sections) == 0 {
			all = append(all, e)
		}
	}
	return all
}

// sectionsHere returns the sections of the job file whose jobs are in the stage, by the numbers of the jobs. It returns none
// if the logs are not those of all jobs of the file, because a number then may be of another section.
func (p *Plan) sectionsHere() (here []*fioargs.Section) {
	if p.Stages <= 1 {
		return p.Run.Sections
	}
	last, most := 0, 0
	for _, s := range p.Run.Sections {
		first := last + 1
		last += s.Jobs()
		if slices.ContainsFunc(p.Jobs, func(j *Job) bool { return first <= j.Number && j.Number <= last }) {
			here = append(here, s)
		}
	}
	for _, log := range slices.Concat(p.Run.Logs, p.Run.Others) {
		most = max(most, log.Job)
	}
	if last != most {
		return nil
	}
	return here
}
