package pipeline

import (
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// documents makes interval documents from windows.
type documents struct {
	common      mapping.Interval           // fields that all documents of the run share
	hosts       []string                   // all that have names
	plan.Timing                            // of the run
	size        [fiolog.Directions]float64 // of every request in bytes; 0 if sizes differ or are unknown
	rates       averages                   // of bandwidth; nil if not needed

	last [fiolog.Directions]lastLatency
}

// lastLatency caches the latency of the last window of a direction. Windows of several levels share it if they have the
// same requests.
type lastLatency struct {
	of   *hist.Histogram
	made mapping.Latency
}

// documents returns a maker of interval documents. ref names the run and its version.
func (p *input) documents(ref mapping.RunRef) *documents {
	return &documents{
		common: mapping.Interval{
			Run: ref, CBT: p.Settings(), Fio: mapping.FioRef{Version: p.Version()}, Weighting: p.opt.Weighting.String(),
		},
		hosts:  slices.DeleteFunc(plan.HostNames(p.Jobs), func(host string) bool { return host == "" }),
		Timing: p.Timing,
	}
}

// interval makes the document of one key from start to end. Both are milliseconds since the start of the run.
func (d *documents) interval(key align.Key, start, end int64) *mapping.Interval {
	doc := d.common
	doc.Time, doc.Level, doc.Host.Name = d.At(start), key.Level, key.Host
	doc.Window = mapping.Window{End: d.At(end), MS: end - start}
	doc.Fio.Direction, doc.Fio.Job = key.Direction.String(), key.Job
	doc.Hosts.Name = d.hosts
	if key.Host != "" {
		doc.Hosts.Name = []string{key.Host}
	}
	return &doc
}

func (d *documents) ofWindow(w *align.Window) *mapping.Interval {
	start, end := max(w.Start-d.Shift, 0), max(w.End-d.Shift, 0)
	doc := d.interval(w.Key, start, end)
	doc.Window.ElapsedMS = max(w.Elapsed-d.Shift, 0)
	doc.Window.FromMS, doc.Window.ToMS = max(w.From-d.Shift, 0), max(w.To-d.Shift, 0)
	last := &d.last[w.Key.Direction]
	if last.of != w.Latencies {
		last.of, last.made = w.Latencies, mapping.NewLatency(w.Latencies, w.Counts)
	}
	doc.Latency = last.made
	doc.DocCount = doc.Latency.Bins.Total()
	doc.Requests = mapping.Requests{Completed: w.Completed, Weight: rounded(w.Latencies.Total(), 1e6)}
	doc.IOPS = rounded(perSecond(float64(w.Completed), end-start), 1e3)
	doc.Bandwidth = d.bandwidth(w, doc.IOPS, end-start)
	return doc
}

// ofAverage makes the document of a window of averages. The run ended at a time in milliseconds since its start. It returns
// nil if nothing completed in the window.
func (d *documents) ofAverage(k averageKey, s *average, ended int64) *mapping.Interval {
	start, end := k.window*d.Window, min((k.window+1)*d.Window, ended)
	if !s.iops.isPartial && s.iops.sum == 0 || end-start <= d.Window/20 { // rows come some milliseconds late
		return nil
	}
	doc := d.interval(k.Key, start, end)
	doc.Window.ElapsedMS = start
	doc.Weighting = mapping.Averaged
	doc.IOPS = rounded(s.iops.known(end-start), 1e3)
	doc.Bandwidth = rounded(s.bandwidth.known(end-start), 1)
	doc.Latency.Mean = rounded(s.meanLatency()/1000, 1e3)
	return doc
}

// rounded rounds x to a multiple of 1/per, because further digits have no meaning.
func rounded(x, per float64) float64 { return math.Round(x*per) / per }

func perSecond(n float64, ms int64) float64 {
	if ms <= 0 {
		return 0
	}
	return n * 1000 / float64(ms)
}

// reference returns the fields of the run for its interval documents, without its id and version.
func (p *input) reference() mapping.RunRef {
	return mapping.RunRef{
		Name: p.Run.Name(), Archive: p.opt.ArchiveOf(p.Run), Start: p.Start, Labels: labelsOf(nil, p.opt.Labels),
	}
}
