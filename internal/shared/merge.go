package shared

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
)

// Merge returns the document of a shared run by its parts: what they sum up to, their hosts, and what is to be said of them.
// It starts when the first of them does, on the grid.
func Merge(run *mapping.Run, parts []*mapping.Part, now time.Time) (*mapping.Run, error) {
	whole := *run
	if len(parts) == 0 {
		return &whole, nil
	}
	var jobs []rangeOf
	for _, p := range parts {
		jobs = append(jobs, rangeOf{p.Document.Run.Start, p.Document.Run.End})
	}
	first, last := spanOf(jobs)
	whole.Run.Start, whole.Run.End = cell(first, run.IntervalMS), last
	whole.Run.Complete, whole.Warnings = false, Silent(parts, now)
	whole.Source, whole.Clock, whole.Documents = mapping.Source{}, mapping.Clock{}, mapping.Documents{}
	whole.Levels = []mapping.Level{mapping.Cluster, mapping.Host}
	of := mapping.FioInfo{Version: whole.Fio.Version, Format: whole.Fio.Format}
	for _, p := range parts {
		d := p.Document
		n := float64(d.Fio.Jobs)
		of.Jobs, of.Switches = of.Jobs+d.Fio.Jobs, of.Switches+d.Fio.Switches
		of.UsrCPU, of.SysCPU = of.UsrCPU+n*d.Fio.UsrCPU, of.SysCPU+n*d.Fio.SysCPU
		whole.Documents.Host += p.Windows
		whole.Missing.Requests, whole.Recovered.Requests = whole.Missing.Requests+d.Missing.Requests, whole.Recovered.Requests+d.Recovered.Requests
		if d.Clock.ErrorMS >= whole.Clock.ErrorMS {
			whole.Clock = d.Clock
		}
		whole.Source.Files, whole.Source.Bytes = whole.Source.Files+d.Source.Files, whole.Source.Bytes+d.Source.Bytes
		for _, f := range d.Source.List {
			f.Path = p.Host + "/" + f.Path
			whole.Source.List = append(whole.Source.List, f)
		}
		whole.Run.Partial = whole.Run.Partial || d.Run.Partial
		if p.Ended.IsZero() { // more is to come, so what it lacks says nothing yet
			continue
		}
		if p.Exit != 0 {
			whole.Warnings = append(whole.Warnings, fmt.Sprintf("%s: fio ended with exit code %d", nameOf(p, parts), p.Exit))
		}
		for _, text := range d.Warnings {
			whole.Warnings = append(whole.Warnings, nameOf(p, parts)+": "+text)
		}
	}
	if of.Jobs > 0 {
		of.UsrCPU, of.SysCPU = mapping.Rounded(of.UsrCPU/float64(of.Jobs), 100), mapping.Rounded(of.SysCPU/float64(of.Jobs), 100)
	}
	of.Options = optionsOf(parts)
	whole.Fio = of
	if whole.Run.IsShared() && !Ended(parts) {
		whole.Warnings = append(whole.Warnings, stillSend)
	}
	var err error
	sum := func(all totals, among []*mapping.Part, of func(*mapping.Run) totals) {
		for i, to := range all {
			var list []*mapping.Totals
			var jobs []rangeOf
			for _, p := range among {
				if t := *of(p.Document)[i]; t != nil {
					list, jobs = append(list, t), append(jobs, rangeOf{p.Document.Run.Start, p.Document.Run.Start.Add(time.Duration(t.DurationMS) * time.Millisecond)})
				}
			}
			total, failed := add(list, jobs)
			*to, err = total, cmp.Or(err, failed)
		}
		if syncs := *all[len(all)-1]; syncs != nil { // fio counts syncs apart from the requests that they follow, so they have no rate
			syncs.IOPS, syncs.Bandwidth = 0, 0
		}
	}
	sum(totalsOf(&whole), parts, totalsOf)
	whole.Hosts = nil
	hosts := byHost(parts)
	for host, among := range hosts {
		h := mapping.RunHost{Name: host}
		for _, p := range among {
			h.Jobs += p.Document.Fio.Jobs
			for _, at := range p.Document.Hosts {
				if h.Start.IsZero() || at.Start.Before(h.Start) {
					h.Start = at.Start
				}
				if at.ClockErrorMS >= h.ClockErrorMS {
					h.Clock, h.ClockErrorMS = at.Clock, at.ClockErrorMS
				}
				h.ClockOffsetMS = at.ClockOffsetMS
			}
		}
		h.SkewMS = h.Start.Sub(whole.Run.Start).Milliseconds()
		if len(hosts) > 1 {
			var all mapping.Run
			sum(totalsOf(&all), among, totalsOf)
			h.Read, h.Write, h.Trim, h.Sync = all.Read.OfHost(), all.Write.OfHost(), all.Trim.OfHost(), all.Sync.OfHost()
		}
		whole.Hosts = append(whole.Hosts, h)
	}
	slices.SortFunc(whole.Hosts, func(a, b mapping.RunHost) int { return strings.Compare(a.Name, b.Name) })
	whole.Sections = nil
	for _, name := range sectionsOf(parts) {
		s := mapping.RunSection{Name: name}
		for _, p := range parts {
			for i := range p.Document.Sections {
				if of := &p.Document.Sections[i]; of.Name == name {
					s.CBT, s.Options, s.Jobs = of.CBT, of.Options, s.Jobs+of.Jobs
				}
			}
		}
		sum(totalsOfSection(&s), parts, func(d *mapping.Run) totals {
			if i := slices.IndexFunc(d.Sections, func(s mapping.RunSection) bool { return s.Name == name }); i >= 0 {
				return totalsOfSection(&d.Sections[i])
			}
			return totalsOfSection(new(mapping.RunSection))
		})
		whole.Sections = append(whole.Sections, s)
	}
	if len(whole.Sections) > 0 {
		whole.Levels = append(whole.Levels, mapping.Section)
	}
	whole.Workload = mapping.Workload{}
	rule.Set(&whole)
	return &whole, err
}

// stillSend is a warning of a run that is not over.
const stillSend = "its hosts still send: not all of it is here"

// totals are those of all requests and of each direction, syncs last.
type totals [5]**mapping.Totals

func totalsOf(d *mapping.Run) totals { return totals{&d.All, &d.Read, &d.Write, &d.Trim, &d.Sync} }

func totalsOfSection(s *mapping.RunSection) totals {
	return totals{&s.All, &s.Read, &s.Write, &s.Trim, &s.Sync}
}

// cell returns the beginning of the cell of the grid in which a time is. The grid is that of the wall clock.
func cell(t time.Time, intervalMS int64) time.Time {
	return t.UTC().Truncate(time.Duration(max(intervalMS, 1)) * time.Millisecond)
}

func byHost(parts []*mapping.Part) map[string][]*mapping.Part {
	all := map[string][]*mapping.Part{}
	for _, p := range parts {
		all[p.Host] = append(all[p.Host], p)
	}
	return all
}

// sectionsOf returns the names of the sections of some parts, in their order.
func sectionsOf(parts []*mapping.Part) (names []string) {
	for _, p := range parts {
		for _, s := range p.Document.Sections {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// optionsOf returns the options of fio that all parts have. Values that differ stand beside one another.
func optionsOf(parts []*mapping.Part) map[string]string {
	all := maps.Clone(parts[0].Document.Fio.Options)
	for name := range all {
		var values []string
		for _, p := range parts {
			value, ok := p.Document.Fio.Options[name]
			if !ok {
				values = nil
				break
			}
			if !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
		if all[name] = strings.Join(values, " | "); values == nil {
			delete(all, name)
		}
	}
	return all
}

// rangeOf is when something ran.
type rangeOf struct{ from, to time.Time }

func spanOf(list []rangeOf) (first, last time.Time) {
	for i, r := range list {
		if i == 0 || r.from.Before(first) {
			first = r.from
		}
		if r.to.After(last) {
			last = r.to
		}
	}
	return first, last
}

// add returns the sum of totals of jobs that ran at these times, or nil without any: as if one call had read the reports of all.
func add(list []*mapping.Totals, ran []rangeOf) (*mapping.Totals, error) {
	if len(list) == 0 {
		return nil, nil
	}
	bins, sum := &hist.Histogram{}, &mapping.Totals{}
	exact := &mapping.FioLatency{Min: math.Inf(1)}
	isExact, unbinned := true, int64(0)
	var all mapping.Pool
	var means, weights [3]float64
	for _, t := range list {
		if t.Latency.HasPercentiles() {
			h, err := t.Latency.Hist()
			if err != nil {
				return nil, err
			}
			bins.Merge(h)
		}
		sum.Requests, sum.Bytes, unbinned = sum.Requests+t.Requests, sum.Bytes+t.Bytes, unbinned+t.Unbinned
		sum.Sums.IOPS, sum.Sums.Bandwidth = sum.Sums.IOPS+t.Sums.IOPS, sum.Sums.Bandwidth+t.Sums.Bandwidth
		l, weight := &t.Latency, float64(t.Requests)
		isExact = isExact && l.Exact
		exact.Min, exact.Max = min(exact.Min, l.Min), max(exact.Max, l.Max)
		all.Add(weight, l.Mean, l.StdDev)
		for i, of := range []float64{t.Means.Slat, t.Means.Clat, t.Means.Lat} {
			if of > 0 {
				means[i], weights[i] = means[i]+of*weight, weights[i]+weight
			}
		}
	}
	sum.Latency = mapping.NewLatency(bins, nil)
	if isExact && all.N() > 0 && !bins.IsEmpty() {
		exact.Mean, exact.StdDev = mapping.Rounded(all.Mean(), 1000), mapping.Rounded(all.StdDev(), 1000)
		sum.Latency.SetExact(exact)
	}
	for i, to := range []*float64{&sum.Means.Slat, &sum.Means.Clat, &sum.Means.Lat} {
		if weights[i] > 0 {
			*to = mapping.Rounded(means[i]/weights[i], 1000)
		}
	}
	sum.SetUnbinned(unbinned, bins)
	first, last := spanOf(ran)
	if sum.DurationMS = last.Sub(first).Milliseconds(); sum.DurationMS > 0 {
		seconds := float64(sum.DurationMS) / 1000
		sum.IOPS, sum.Bandwidth = mapping.Rounded(float64(sum.Requests)/seconds, 1000), mapping.Rounded(float64(sum.Bytes)/seconds, 1)
	}
	return sum, nil
}
