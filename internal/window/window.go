// Package window has the type Window: the requests of one direction in a cluster, on a host, in a job or in a section, between two
// times. Windows are read from logs or from the history (internal/query). Objectives, comparisons, heat maps,
// exports and reports are computed from them. So files and the history give the same answers.
package window

import (
	"fmt"
	"math"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// Window is the requests of one direction in a cluster, on a host, in a job or in a section, between two times.
type Window struct {
	Run       *mapping.RunInfo // for files without an id; its end may not be known
	Level     mapping.Level    // 0 for the totals of the run
	Host, Job string           // empty at higher levels
	Section   string           // at level Section, and at level Job that of the job, in runs with several
	Direction string           // one of [mapping.Directions], or [mapping.AllDirections]

	Start, End time.Time // of the measured time
	// ElapsedMS is the nominal start in milliseconds since the run's start. Windows of all hosts and directions that
	// belong together have the same ElapsedMS.
	ElapsedMS int64
	// Planned is when fio expects to end, by the latest report of a live run, up to a second too early. It is zero if that is not known.
	Planned time.Time
	// FromMS and ToMS are when the first job of the window's series began and the last one ended, in milliseconds since
	// the run's start. ToMS is 0 if it is not known.
	FromMS, ToMS int64
	// Fastest and Slowest are the latencies of the fastest and the slowest request of the window's series, in microseconds.
	// Slowest is 0 if they are not known.
	Fastest, Slowest float64

	Completed int64   // number of requests that completed in the window
	Weight    float64 // number of requests, each counted by the share of its time that it spent in the window
	IOPS      float64 // requests per second
	Bandwidth float64 // bytes per second; 0 if it is not known
	// Latency has percentiles if [mapping.Latency.HasPercentiles] is true. Otherwise it has at most a mean; without
	// requests it is empty.
	Latency mapping.Latency
	Bounds  *mapping.Bounds // of percentiles; nil: none were wanted
	// Counts are the requests by bin of Layout, rounded to whole numbers: see [Window.Histogram]. They are nil in the
	// window of a document, which has them as the bins of Latency. Only [Window.Document] makes bins of them.
	Counts []hist.Bin
	Layout hist.Layout
	// IsRough reports that stored windows were joined to this one, and that one request more or less would change a
	// percentile by more than a tenth: stored counts are whole, also where requests were divided between windows.
	IsRough bool
	// Averaged reports that the window comes from fio's averages (log_avg_msec). These have rates and mean latencies,
	// but no requests. Totals of a report that has only rates are alike.
	Averaged bool
}

// Series identifies the windows of a run that follow one another.
type Series struct {
	Level                         mapping.Level
	Direction, Host, Job, Section string
}

// Series returns the series of the window.
func (w *Window) Series() Series {
	return Series{w.Level, w.Direction, w.Host, w.Job, w.Section}
}

// SeriesOf returns the series of the window of a document.
func SeriesOf(d *mapping.Interval) Series {
	return Series{d.Level, d.Fio.Direction, d.Host.Name, d.Fio.Job, d.Fio.Section}
}

// From returns the window of a document that was not split.
func From(d *mapping.Interval) *Window {
	r := &d.Run
	run := &mapping.RunInfo{ID: r.ID, Name: r.Name, Archive: r.Archive, Start: r.Start, Ingest: r.Ingest, Labels: r.Labels}
	return &Window{
		Run: run, Level: d.Level, Host: d.Host.Name, Job: d.Fio.Job, Section: d.Fio.Section, Direction: d.Fio.Direction,
		Start: d.Time, End: d.Window.End, ElapsedMS: d.Window.ElapsedMS, FromMS: d.Window.FromMS, ToMS: d.Window.ToMS,
		Fastest: d.Window.Fastest, Slowest: d.Window.Slowest,
		Completed: d.Requests.Completed, Weight: d.Requests.Weight, IOPS: d.IOPS, Bandwidth: d.Bandwidth,
		Latency: d.Latency, Bounds: d.Bounds, Averaged: d.Weighting == mapping.Averaged,
	}
}

// KnownIOPS returns the requests per second, or NaN if they are not known: averages may lack them, and have no windows
// without requests. And a row may show when it ends, and not when it begins. Syncs are not in IOPS.
func (w *Window) KnownIOPS() float64 {
	if w.IOPS == 0 && (w.Averaged || w.Completed > 0 || w.Direction == mapping.Sync) {
		return math.NaN()
	}
	return w.IOPS
}

// Served returns the number of requests; of averages that by their rate, or NaN if it is not known.
func (w *Window) Served() float64 {
	if w.Averaged {
		return w.KnownIOPS() * w.Length().Seconds()
	}
	return float64(w.Completed)
}

// LevelName returns the name of the window's level. That of a section which is read as a run is section.
func (w *Window) LevelName() string {
	if w.Level == mapping.Cluster && w.Section != "" {
		return mapping.Section.String()
	}
	return w.Level.String()
}

// Total returns the totals of a direction of a run as a window from its start to its end.
func Total(run *mapping.Run, d mapping.DirectionTotals) *Window {
	return &Window{
		Run: &run.Run, Direction: d.Direction, Start: run.Run.Start, End: run.Run.End,
		Completed: d.Requests, IOPS: d.IOPS, Bandwidth: d.Bandwidth, Latency: d.Latency, Averaged: d.Requests == 0,
	}
}

// Histogram returns a new histogram of the window's requests. It is nil if there are none, or if only averages are
// known. It fails if bins are not those of the layout.
func (w *Window) Histogram() (*hist.Histogram, error) {
	if !w.Latency.HasPercentiles() {
		return nil, nil
	}
	if w.Counts != nil {
		h := hist.New(w.Layout)
		h.AddBins(w.Layout, w.Counts)
		return h, nil
	}
	h, err := w.Latency.Hist()
	if err != nil {
		return nil, fmt.Errorf("run %s, %s window at %d ms: %w", w.Run.Name, w.Direction, w.StartMS(), err)
	}
	return h, nil
}

// WithoutClock returns the window of a run in which each job counts from its own start (align: job): its times count from the zero
// time, as those of a run whose date is not known. So no command shows a time of day.
func (w *Window) WithoutClock() *Window {
	one, run := *w, *w.Run
	run.Start, run.End = time.Time{}, time.Time{}
	one.Start, one.End, one.Run = run.Start.Add(w.Start.Sub(w.Run.Start)), run.Start.Add(w.End.Sub(w.Run.Start)), &run
	return &one
}

// StartMS returns the start in milliseconds since the run's start.
func (w *Window) StartMS() int64 { return w.Start.Sub(w.Run.Start).Milliseconds() }

// EndMS returns the end in milliseconds since the run's start.
func (w *Window) EndMS() int64 { return w.End.Sub(w.Run.Start).Milliseconds() }

// Length returns the time that the window covers.
func (w *Window) Length() time.Duration { return w.End.Sub(w.Start) }

// Document returns the document of the window. Fields that windows lack are copied from like, a document of the same
// run.
func (w *Window) Document(like *mapping.Interval) *mapping.Interval {
	d := *like
	d.Time, d.Part, d.Level, d.Host.Name = w.Start, 0, w.Level, w.Host
	d.Fio.Job, d.Fio.Section, d.Fio.Direction = w.Job, w.Section, w.Direction
	d.Window = mapping.Window{
		End: w.End, MS: w.Length().Milliseconds(), ElapsedMS: w.ElapsedMS, FromMS: w.FromMS, ToMS: w.ToMS, Fastest: w.Fastest, Slowest: w.Slowest,
	}
	d.Requests = mapping.Requests{Completed: w.Completed, Weight: w.Weight}
	if d.Latency = w.Latency; w.Counts != nil {
		d.Latency.SetBins(w.Layout, w.Counts)
	}
	d.Bounds, d.DocCount = w.Bounds, d.Latency.Bins.Total()
	d.IOPS, d.Bandwidth = w.IOPS, w.Bandwidth
	return &d
}

// Span is the time from the earliest start to the latest end of some windows. The zero value has no windows.
type Span struct{ Start, End time.Time }

// Add extends the span by a window.
func (s *Span) Add(w *Window) { s.Join(Span{w.Start, w.End}) }

// Join extends the span by another one, which must not be zero.
func (s *Span) Join(o Span) {
	if s.IsZero() || o.Start.Before(s.Start) {
		s.Start = o.Start
	}
	if o.End.After(s.End) {
		s.End = o.End
	}
}

// IsZero reports whether the span has no windows.
func (s *Span) IsZero() bool { return s.End.IsZero() }

// Length returns the time between start and end.
func (s *Span) Length() time.Duration { return s.End.Sub(s.Start) }

// Bytes adds up the bytes of windows.
type Bytes struct {
	sum       float64
	isUnknown bool // of a window with requests
}

// Add adds the bytes of a window.
func (b *Bytes) Add(w *Window) {
	b.sum += w.Bandwidth * float64(w.Length().Milliseconds()) / 1000
	b.isUnknown = b.isUnknown || w.Bandwidth == 0 && w.Completed > 0
}

// Sum returns the number of bytes, or 0 if it is not known.
func (b *Bytes) Sum() float64 {
	if b.isUnknown {
		return 0
	}
	return b.sum
}
