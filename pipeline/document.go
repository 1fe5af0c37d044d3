package pipeline

import (
	"math"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
)

// reference is the run's part of each interval document, without the id.
func (p *plan) reference(ingest string) mapping.RunRef {
	archive := p.opt.ArchiveOf(p.run)
	return mapping.RunRef{
		Name: p.run.Name(), Archive: archive, Start: p.start, Ingest: ingest, Labels: labelsOf(nil, p.opt.Labels),
	}
}

// document makes the document of a window.
func (p *plan) document(w *align.Window, ref mapping.RunRef, version string, b *bandwidth) *mapping.Interval {
	start, end := max(w.Start-p.shift, 0), max(w.End-p.shift, 0)
	d := &mapping.Interval{
		Time:  p.at(start),
		Level: w.Key.Level,
		Window: mapping.Window{
			End: p.at(end), MS: end - start, ElapsedMS: max(w.Elapsed-p.shift, 0),
		},
		Run: ref, CBT: p.settings(), Host: mapping.HostRef{Name: w.Key.Host}, Hosts: p.hostsOf(w.Key.Host),
		Fio:       mapping.FioRef{Direction: w.Key.Direction.String(), Job: w.Key.Job, Version: version},
		Latency:   mapping.NewLatency(w.Latencies, w.Counts),
		Requests:  mapping.Requests{Completed: w.Completed, Weight: rounded(w.Latencies.Total(), 1e6)},
		IOPS:      rounded(perSecond(float64(w.Completed), end-start), 1e3),
		Weighting: p.opt.Weighting.String(),
	}
	d.DocCount = d.Latency.Bins.Total()
	d.Bandwidth = b.of(w, d, p.window)
	return d
}

func (p *plan) at(ms int64) time.Time { return p.start.Add(time.Duration(ms) * time.Millisecond) }

// rounded removes digits without meaning from a document.
func rounded(x, per float64) float64 { return math.Round(x*per) / per }

func perSecond(n float64, ms int64) float64 {
	if ms <= 0 {
		return 0
	}
	return n * 1000 / float64(ms)
}

// settings are the settings of the run that people search by.
func (p *plan) settings() mapping.CBT {
	s := &p.run.Settings
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

// version is fio's version, if a report has it.
func (p *plan) version() string {
	for _, o := range p.outputs {
		if o.fio.Version != "" {
			return o.fio.Version
		}
	}
	return ""
}
