package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/mapping"
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

// Reported returns the entries of the run as fio reported them: parts in place of combined entries.
func (list Entries) Reported() (all []*Entry) {
	for _, e := range list {
		if all = append(all, e.parts...); len(e.parts) == 0 {
			all = append(all, e)
		}
	}
	return all
}

// Stands returns the number of fio's jobs that a job stands for. The first job of an entry stands for all jobs of the
// entry without logs of their own: because of group_reporting, of one log for all jobs, or of missing logs.
func (j *Job) Stands() int {
	e := j.Entry
	if e == nil || j != e.Jobs[0] {
		return 1
	}
	parts := 0
	for _, part := range e.parts {
		parts += part.Size
	}
	return 1 + max(0, max(e.Size, parts)-len(e.Jobs))
}

// Options returns the options of fio that are the same for all jobs. An option that changes what is measured, and that
// sections have apart, has the values of all, in their order. Of a group whose sections are not known, the options of
// the section that the report lists end with "?".
func (p *Plan) Options() map[string]string {
	var all, sections []map[string]string
	seen := map[string]bool{}
	p.eachSection(func(o jobOptions, e *Entry) {
		options := o.listed()
		all = append(all, options)
		own := fiolog.Measured(options, p.Run.ByCBT())
		if e != nil && e.GroupID > p.Entries[0].GroupID { // fio ran it after the others (stonewall)
			own["groupid"] = strconv.Itoa(e.GroupID - p.Entries[0].GroupID)
		}
		if key := fmt.Sprint(own); !seen[key] { // Sprint sorts a map
			seen[key], sections = true, append(sections, own)
		}
	})
	if slices.ContainsFunc(p.Outputs, func(o *Output) bool { return o.Client }) { // which lists clients as they end
		slices.SortFunc(sections, func(a, b map[string]string) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	same := common(all)
	known := fiolog.Measured(same, p.Run.ByCBT())
	for _, section := range sections {
		for name, value := range section {
			if _, isDone := same[name]; isDone || known[name] == value {
				continue
			}
			var values []string
			for _, s := range sections {
				values = append(values, cmp.Or(s[name], fiolog.OptionDefault(name), "-"))
			}
			if len(slices.Compact(slices.Clone(values))) == 1 {
				values = values[:1]
			}
			same[name] = strings.Join(values, fiolog.Between)
		}
	}
	return same
}

// common returns the options that are the same in all of a list.
func common(list []map[string]string) map[string]string {
	var same map[string]string
	for i, one := range list {
		if i == 0 {
			same = maps.Clone(one)
		}
		maps.DeleteFunc(same, func(name, value string) bool { is, ok := one[name]; return !ok || is != value })
	}
	return same
}

// options returns the options of fio that are the same for all jobs.
func (list Entries) options() map[string]string {
	var all []map[string]string
	for _, e := range list.Reported() {
		all = append(all, e.all())
	}
	return common(all)
}

// Hosts returns the hosts of the run, in the order of their first jobs.
func (p *Plan) Hosts() []mapping.RunHost {
	var hosts []mapping.RunHost
	for _, j := range p.Jobs {
		i := slices.IndexFunc(hosts, func(h mapping.RunHost) bool { return h.Name == j.Host })
		if i < 0 {
			hosts = append(hosts, mapping.RunHost{
				Name: j.Host, Start: j.Start, Clock: j.Clock.String(), ClockErrorMS: j.Error.Milliseconds(),
			})
			i = len(hosts) - 1
		}
		h := &hosts[i]
		h.Jobs += j.Stands()
		h.Start = Earlier(h.Start, j.Start).UTC()
		if !p.Start.IsZero() {
			h.SkewMS = h.Start.Sub(p.Start).Milliseconds()
		}
	}
	return hosts
}

// hasLatency reports whether fio measured completion latencies.
func (e *Entry) hasLatency() bool {
	return slices.ContainsFunc(e.All(), func(s *fiolog.DirectionStats) bool { return s.Clat.Mean > 0 })
}

// WhyNoWindows says why there are no windows with percentiles, and what to do.
func (p *Plan) WhyNoWindows() string {
	const options = "run fio with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	anyJob := func(is func(*Job) bool) bool { return slices.ContainsFunc(p.Jobs, is) }
	anyEntry := func(is func(*Entry) bool) bool { return slices.ContainsFunc(p.Entries, is) }
	noEntry := func(is func(*Entry) bool) bool { return len(p.Entries) > 0 && !anyEntry(is) }
	hist := anyJob(func(j *Job) bool { return j.Source == FromHist })
	switch {
	case len(p.Averages) > 0:
		return "its logs are averages (log_avg_msec), which have no percentiles: " + options +
			", or without log_avg_msec"
	case noEntry(func(e *Entry) bool { return slices.ContainsFunc(e.All(), served) }):
		return "fio served no requests, as its report says"
	case noEntry((*Entry).hasLatency):
		return "completion latencies are disabled (disable_clat, disable_lat or gtod_reduce): run fio without " +
			"that option, and with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	case anyEntry(func(e *Entry) bool { return e.OptionOfOne("clat_percentiles") == "0" }):
		return "clat_percentiles=0 leaves the rows out of histogram logs: run fio without it"
	case anyJob(func(j *Job) bool { return j.Source == FromNothing && j.damage == nil && j.raw != nil }):
		return "none of its logs can be used, as the warnings say: " + options
	case len(p.Run.Logs) > 0 && (!hist || anyJob(func(j *Job) bool { return j.IsJunk })):
		return "none of its histogram logs can be used, as the warnings say: keep fio's logs as they are, or " + options
	case anyJob(func(j *Job) bool { return j.HasRows }):
		return "its histogram logs have rows, but no requests in them"
	case hist && !anyJob(func(j *Job) bool { return j.Interval > 0 }) && !anyEntry(func(e *Entry) bool { return e.setsHistMsec() }):
		return "log_hist_msec is not set, so that the histogram logs are empty: " + options
	case hist:
		return "its histogram logs have no rows: they were cut, or the run took less than an interval: keep them " +
			"whole, or set --log_hist_msec to less"
	}
	return "no histogram logs and no logs of single completions: " + options
}

// RequestSize returns the size of all requests of a direction in bytes. It returns false if sizes differ or a job has
// no report.
func (p *Plan) RequestSize(d fiolog.Direction) (float64, bool) {
	if slices.ContainsFunc(p.Jobs, func(j *Job) bool { return j.Entry == nil }) {
		return 0, false
	}
	size := uint64(0)
	for _, e := range p.Entries {
		s := e.in(d)
		if s.TotalIOs == 0 {
			continue
		}
		if s.IOBytes%s.TotalIOs != 0 || size != 0 && s.IOBytes/s.TotalIOs != size || e.mixesSizes() {
			return 0, false
		}
		size = s.IOBytes / s.TotalIOs
	}
	return float64(size), true
}

// UsualSize returns fio's default block size if no option of any job sets another one and the bytes so far agree. They
// agree if they are a multiple of that size, and at most that size for each request. Otherwise it returns 0.
func (list Entries) UsualSize(d fiolog.Direction) int64 {
	setting := []string{"bs", "bssplit", "bsrange", "bs_unaligned", "read_iolog", "replay"}
	for _, e := range list {
		s := e.in(d)
		if slices.ContainsFunc(setting, e.HasOption) || !e.HasOption("name") && !e.HasOption("rw") ||
			s.IOBytes%usual != 0 || s.IOBytes/usual > s.TotalIOs {
			return 0
		}
	}
	return usual
}
