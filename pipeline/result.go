package pipeline

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Result is what became of one run.
type Result struct {
	Run *mapping.Run
	// Lost is what was left out of it, Notes what else there is to know.
	Lost, Notes []error
	// Unchanged says that Run is what the store has, and nothing was stored.
	Unchanged bool
}

// title names the run in messages.
func (r *reader) title() string {
	if r.opt.Alone {
		return "these logs"
	}
	return r.run.Archive + ":" + r.run.Name()
}

// reference is what each interval document says of the run, but for its id.
func (r *reader) reference(ingest string) mapping.RunRef {
	archive := cmp.Or(r.opt.Archive, r.run.Archive)
	return mapping.RunRef{
		Name: r.run.Name(), Archive: archive, Start: r.start, Ingest: ingest, Labels: labelsOf(nil, r.opt.Labels),
	}
}

// document makes the document of a window.
func (r *reader) document(w *align.Window, ref mapping.RunRef, version string) *mapping.Interval {
	start, end := max(w.Start-r.shift, 0), max(w.End-r.shift, 0)
	d := &mapping.Interval{
		Time:  r.at(start),
		Level: mapping.Cluster + mapping.Level(w.Key.Level),
		Window: mapping.Window{
			End: r.at(end), MS: end - start, ElapsedMS: max(w.Elapsed-r.shift, 0),
		},
		Run: ref, CBT: r.settings(), Host: mapping.HostRef{Name: w.Key.Host}, Hosts: r.hostsOf(w.Key.Host),
		Fio:       mapping.FioRef{Direction: w.Key.Direction.String(), Job: w.Key.Job, Version: version},
		Latency:   mapping.NewLatency(w.Latencies, w.Counts),
		Requests:  mapping.Requests{Completed: w.Completed, Weight: rounded(w.Latencies.Total(), 1e6)},
		IOPS:      rounded(perSecond(float64(w.Completed), end-start), 1e3),
		Weighting: r.opt.Weighting.String(),
	}
	d.DocCount = d.Latency.Bins.Total()
	d.Bandwidth = r.bandwidth.of(w, d, r.window)
	return d
}

func (r *reader) at(ms int64) time.Time { return r.start.Add(time.Duration(ms) * time.Millisecond) }

// rounded spares a document digits that mean nothing.
func rounded(x, per float64) float64 { return math.Round(x*per) / per }

func perSecond(n float64, ms int64) float64 {
	if ms <= 0 {
		return 0
	}
	return n * 1000 / float64(ms)
}

// settings are those of the run that people search by.
func (r *reader) settings() mapping.CBT {
	s := &r.run.Settings
	if s.Iteration < 0 && s.Benchmark == "" {
		return mapping.CBT{}
	}
	return mapping.CBT{
		Benchmark: s.Benchmark, Workload: s.Workload, Mode: s.Mode, RWMixRead: int(s.RWMixRead),
		OpSize: s.OpSize, IODepth: int(s.IODepth), TotalIODepth: int(s.TotalIODepth), NumJobs: int(s.NumJobs),
		Procs: int(s.Procs), Volumes: int(s.Volumes), Clients: s.Clients, OSDs: s.OSDs, OSDHosts: s.OSDHosts,
		Pool: s.Pool, CephVersion: s.CephVersion, OSDReadAhead: s.OSDRA, ReadAhead: s.ClientRA,
		RunSeconds: int(s.Runtime), RampSeconds: int(s.Ramp), Iteration: max(s.Iteration, 0),
	}
}

// version is fio's, where a report tells.
func (r *reader) version() string {
	for _, o := range r.outputs {
		if o.fio.Version != "" {
			return o.fio.Version
		}
	}
	return ""
}

// summary makes the run's document, once all windows have been read.
func (r *reader) summary(ref mapping.RunRef, documents mapping.Documents) *mapping.Run {
	run := &mapping.Run{
		Run: mapping.RunInfo{
			ID: ref.ID, Name: ref.Name, Archive: ref.Archive, Path: r.run.Path, Start: ref.Start, End: r.end(),
			Ingest: ref.Ingest, Labels: ref.Labels,
			Complete: len(r.problems.Lost()) == 0 && r.missing.total() == 0,
		},
		CBT: r.settings(), Config: r.config,
		Fio:        r.fio(),
		Hosts:      r.hosts(),
		Clock:      mapping.Clock{Source: r.clock.String()},
		Weighting:  r.opt.Weighting.String(),
		IntervalMS: r.window,
		Levels:     r.opt.levels(),
		Recovered:  mapping.Lost{Requests: r.recovered.total()},
		Missing:    mapping.Lost{Requests: r.missing.total()},
		Documents:  documents,
	}
	all, total := &hist.Histogram{}, mapping.Totals{}
	for d, to := range [fiolog.Directions]**mapping.Totals{&run.Read, &run.Write, &run.Trim} {
		h := r.whole(fiolog.Direction(d))
		if h.IsEmpty() && r.reported(fiolog.Direction(d)) == 0 {
			continue
		}
		t := r.totals(fiolog.Direction(d), h)
		*to = &t
		all.Merge(h)
		total.Requests += t.Requests
		total.Bytes += t.Bytes
		total.IOPS += t.IOPS
		total.Bandwidth += t.Bandwidth
		total.DurationMS = max(total.DurationMS, t.DurationMS)
	}
	total.IOPS = rounded(total.IOPS, 1e3)
	if run.Read != nil || run.Write != nil || run.Trim != nil {
		total.Latency = mapping.NewLatency(all, nil)
		run.All = &total
	}
	for _, list := range [][]error{r.problems.Lost(), r.problems.Notes()} {
		for _, err := range list {
			run.Warnings = append(run.Warnings, err.Error())
		}
	}
	return run
}

// totals are those of one direction: bytes and rates as fio reports them for the jobs,
// added up; where it does not, the rate over the whole run.
func (r *reader) totals(d fiolog.Direction, h *hist.Histogram) mapping.Totals {
	t := mapping.Totals{Requests: int64(h.Total()), Latency: mapping.NewLatency(h, nil), Means: r.means(d)}
	if h.IsEmpty() { // a report without bins: requests and means are all there is
		t.Requests, t.Latency.Mean = r.reported(d), t.Means.Clat
	}
	for _, e := range r.entries {
		s := &e.Directions[d]
		t.Bytes += int64(s.IOBytes)
		t.IOPS += s.IOPS
		t.Bandwidth += float64(s.BandwidthBytes)
		t.DurationMS = max(t.DurationMS, s.Runtime)
	}
	for _, j := range r.jobs {
		if j.entry == nil {
			t.IOPS += perSecond(float64(j.requests[d]), j.last)
			t.DurationMS = max(t.DurationMS, j.last)
		}
	}
	t.IOPS, t.Bandwidth = rounded(t.IOPS, 1e3), rounded(t.Bandwidth, 1)
	return t
}

// reported is how many requests fio's reports count.
func (r *reader) reported(d fiolog.Direction) int64 {
	sum := uint64(0)
	for _, e := range r.entries {
		sum += e.Directions[d].TotalIOs
	}
	return int64(sum)
}

// fio is what fio says of itself and of its jobs.
func (r *reader) fio() mapping.FioInfo {
	info := mapping.FioInfo{Version: r.version(), Options: r.options(), Jobs: len(r.jobs)}
	jobs := 0.0
	for _, e := range r.entries {
		info.UsrCPU += e.UsrCPU
		info.SysCPU += e.SysCPU
		jobs++
	}
	if jobs > 0 {
		info.UsrCPU, info.SysCPU = rounded(info.UsrCPU/jobs, 100), rounded(info.SysCPU/jobs, 100)
	}
	return info
}

// means are fio's mean latencies of all jobs, each request counting the same.
func (r *reader) means(d fiolog.Direction) mapping.Means {
	mean := func(of func(*fiolog.DirectionStats) *fiolog.Latency) float64 {
		sum, n := 0.0, 0.0
		for _, e := range r.entries {
			s := &e.Directions[d]
			if l := of(s); l.Mean > 0 {
				sum += l.Mean * float64(s.TotalIOs)
				n += float64(s.TotalIOs)
			}
		}
		if n == 0 {
			return 0
		}
		return rounded(sum/n/1000, 1000)
	}
	return mapping.Means{
		Slat: mean(func(s *fiolog.DirectionStats) *fiolog.Latency { return &s.Slat }),
		Clat: mean(func(s *fiolog.DirectionStats) *fiolog.Latency { return &s.Clat }),
		Lat:  mean(func(s *fiolog.DirectionStats) *fiolog.Latency { return &s.Lat }),
	}
}

func (r *reader) end() time.Time {
	var end int64
	for _, j := range r.jobs {
		end = max(end, j.offset+j.last)
		if j.entry != nil {
			end = max(end, j.offset+ranFor(j.entry.Job))
		}
	}
	return r.at(end)
}

// options are fio's for all jobs: global ones, and those that are the same everywhere.
func (r *reader) options() map[string]string {
	var same map[string]string
	for _, o := range r.outputs {
		for i := range o.fio.Jobs {
			job := map[string]string{}
			for _, from := range []map[string]string{o.fio.GlobalOptions, o.fio.Jobs[i].Options} {
				for k, v := range from {
					job[k] = v
				}
			}
			if same == nil {
				same = job
			}
			for k, v := range same {
				if job[k] != v {
					delete(same, k)
				}
			}
		}
	}
	return same
}

func (r *reader) hosts() []mapping.RunHost {
	var hosts []mapping.RunHost
	for _, j := range r.jobs {
		i := slices.IndexFunc(hosts, func(h mapping.RunHost) bool { return h.Name == j.log.Host })
		if i < 0 {
			hosts = append(hosts, mapping.RunHost{Name: j.log.Host, Start: j.start, Clock: j.clock.String()})
			i = len(hosts) - 1
		}
		h := &hosts[i]
		h.Jobs++
		h.Start = earlier(h.Start, j.start).UTC()
		if !r.start.IsZero() {
			h.SkewMS = h.Start.Sub(r.start).Milliseconds()
		}
	}
	return hosts
}

// hostsOf names the hosts whose requests a document holds: the host's own, or, of the
// cluster, all that the run knows by name.
func (r *reader) hostsOf(host string) mapping.HostsRef {
	if host != "" {
		return mapping.HostsRef{Name: []string{host}}
	}
	if !r.named {
		r.named = true
		for _, h := range r.hosts() {
			if h.Name != "" {
				r.names.Name = append(r.names.Name, h.Name)
			}
		}
		slices.Sort(r.names.Name)
	}
	return r.names
}
