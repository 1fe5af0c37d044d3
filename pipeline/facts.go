package pipeline

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

func (p *plan) fio() mapping.FioInfo {
	info := mapping.FioInfo{Version: p.version(), Options: p.options()}
	for _, j := range p.jobs {
		info.Jobs += j.stands()
	}
	reported := p.entries.reported()
	for _, e := range reported {
		info.UsrCPU += e.UsrCPU
		info.SysCPU += e.SysCPU
	}
	if n := float64(len(reported)); n > 0 {
		info.UsrCPU, info.SysCPU = rounded(info.UsrCPU/n, 100), rounded(info.SysCPU/n, 100)
	}
	return info
}

// version returns the version of fio, or "" if it is unknown.
func (p *plan) version() string {
	for _, o := range p.outputs {
		if o.fio.Version != "" {
			return o.fio.Version
		}
	}
	return ""
}

// reported returns the entries of the run as fio reported them: parts in place of combined entries.
func (list entryList) reported() (all []*entry) {
	for _, e := range list {
		if all = append(all, e.parts...); len(e.parts) == 0 {
			all = append(all, e)
		}
	}
	return all
}

// stands returns the number of fio's jobs that a job stands for. The first job of an entry stands for all jobs of the
// entry without logs of their own: because of group_reporting, of one log for all jobs, or of missing logs.
func (j *job) stands() int {
	e := j.entry
	if e == nil || j != e.jobs[0] {
		return 1
	}
	parts := 0
	for _, part := range e.parts {
		parts += part.size
	}
	return 1 + max(0, max(e.size, parts)-len(e.jobs))
}

// fioLatency returns what fio itself computed, if the run is one job without bins.
func (p *plan) fioLatency(d fiolog.Direction) *mapping.FioLatency {
	if len(p.entries) != 1 || len(p.jobs) != 1 || p.entries[0].size > 1 {
		return nil
	}
	l := &p.entries[0].Directions[d].Clat
	if len(l.Bins) > 0 || len(l.Percentiles) == 0 || l.Max == 0 {
		return nil
	}
	us := func(ns float64) float64 { return rounded(ns/1000, 1000) }
	out := &mapping.FioLatency{Min: us(float64(l.Min)), Max: us(float64(l.Max)), Mean: us(l.Mean), StdDev: us(l.StdDev)}
	for _, q := range l.Percentiles {
		out.Percentiles = append(out.Percentiles, mapping.FioPercentile{Rank: q.Rank, Value: us(float64(q.Value))})
	}
	return out
}

// options returns the options of fio that are the same for all jobs. An option that changes what is measured, and that
// sections have apart, has the values of all, in their order. Of a group whose sections are not known, the options of
// the section that the report lists end with "?".
func (p *plan) options() map[string]string {
	var all, sections []map[string]string
	seen := map[string]bool{}
	p.eachSection(func(o jobOptions, e *entry) {
		options := map[string]string{}
		maps.Copy(options, o.global)
		for name, value := range o.own {
			if o.isGroup {
				value += fiolog.Between + "?"
			}
			options[name] = value
		}
		all = append(all, options)
		own := fiolog.Measured(options, p.run.ByCBT())
		if e != nil && e.GroupID > p.entries[0].GroupID { // fio ran it after the others (stonewall)
			own["groupid"] = strconv.Itoa(e.GroupID - p.entries[0].GroupID)
		}
		if key := fmt.Sprint(own); !seen[key] { // Sprint sorts a map
			seen[key], sections = true, append(sections, own)
		}
	})
	if slices.ContainsFunc(p.outputs, func(o *output) bool { return o.client }) { // which lists clients as they end
		slices.SortFunc(sections, func(a, b map[string]string) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	same := common(all)
	known := fiolog.Measured(same, p.run.ByCBT())
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
func (list entryList) options() map[string]string {
	var all []map[string]string
	for _, e := range list.reported() {
		all = append(all, e.all())
	}
	return common(all)
}

// hosts returns the hosts of the run, in the order of their first jobs.
func (p *plan) hosts() []mapping.RunHost {
	var hosts []mapping.RunHost
	for _, j := range p.jobs {
		i := slices.IndexFunc(hosts, func(h mapping.RunHost) bool { return h.Name == j.host })
		if i < 0 {
			hosts = append(hosts, mapping.RunHost{
				Name: j.host, Start: j.start, Clock: j.clock.String(), ClockErrorMS: j.error.Milliseconds(),
			})
			i = len(hosts) - 1
		}
		h := &hosts[i]
		h.Jobs += j.stands()
		h.Start = earlier(h.Start, j.start).UTC()
		if !p.start.IsZero() {
			h.SkewMS = h.Start.Sub(p.start).Milliseconds()
		}
	}
	return hosts
}

// hasLatency reports whether fio measured completion latencies.
func (e *entry) hasLatency() bool {
	return slices.ContainsFunc(e.All(), func(s *fiolog.DirectionStats) bool { return s.Clat.Mean > 0 })
}

// whyNoWindows says why there are no windows with percentiles, and what to do.
func (p *plan) whyNoWindows() string {
	const options = "run fio with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	anyJob := func(is func(*job) bool) bool { return slices.ContainsFunc(p.jobs, is) }
	anyEntry := func(is func(*entry) bool) bool { return slices.ContainsFunc(p.entries, is) }
	noEntry := func(is func(*entry) bool) bool { return len(p.entries) > 0 && !anyEntry(is) }
	hist := anyJob(func(j *job) bool { return j.source == fromHist })
	switch {
	case len(p.averages) > 0:
		return "its logs are averages (log_avg_msec), which have no percentiles: " + options +
			", or without log_avg_msec"
	case noEntry(func(e *entry) bool { return slices.ContainsFunc(e.All(), served) }):
		return "fio served no requests, as its report says"
	case noEntry((*entry).hasLatency):
		return "completion latencies are disabled (disable_clat, disable_lat or gtod_reduce): run fio without " +
			"that option, and with --write_hist_log=NAME --log_hist_msec=1000 --output-format=json+"
	case anyEntry(func(e *entry) bool { return e.optionOfOne("clat_percentiles") == "0" }):
		return "clat_percentiles=0 leaves the rows out of histogram logs: run fio without it"
	case anyJob(func(j *job) bool { return j.source == fromNothing && j.damage == nil && j.raw != nil }):
		return "none of its logs can be used, as the warnings say: " + options
	case len(p.run.Logs) > 0 && (!hist || anyJob(func(j *job) bool { return j.isJunk })):
		return "none of its histogram logs can be used, as the warnings say: keep fio's logs as they are, or " + options
	case anyJob(func(j *job) bool { return j.hasRows }):
		return "its histogram logs have rows, but no requests in them"
	case hist && !anyJob(func(j *job) bool { return j.interval > 0 }) && !anyEntry(func(e *entry) bool { return e.setsHistMsec() }):
		return "log_hist_msec is not set, so that the histogram logs are empty: " + options
	case hist:
		return "its histogram logs have no rows: they were cut, or the run took less than an interval: keep them " +
			"whole, or set --log_hist_msec to less"
	}
	return "no histogram logs and no logs of single completions: " + options
}
