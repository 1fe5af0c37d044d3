package pipeline

import (
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// windowMaker makes windows of a run, and counts them.
type windowMaker struct {
	read       *account.Read
	keys       *jobKeys
	confidence float64
	run        *mapping.RunInfo
	made       *mapping.Documents

	size   [fiolog.WithSync]float64         // of every request in bytes; 0 if sizes differ or are unknown
	rates  averages                         // of bandwidth; nil if not needed
	limits map[align.Key]mapping.FioLatency // fastest and slowest requests of series: see extremes
	last   [fiolog.WithSync]struct {        // windows of several levels share the latencies if they have the same requests
		of     *hist.Histogram
		made   mapping.Latency
		bounds *mapping.Bounds
	}
}

// newWindow returns a window without requests, and counts it. Times are milliseconds since the run's start.
func (m *windowMaker) newWindow(key align.Key, start, end, elapsed int64) *window.Window {
	level := mapping.Level(key.Level)
	m.made.Add(level, 1)
	w := &window.Window{
		Run: m.run, Level: level, Host: key.Host, Job: key.Job, Section: key.Section, Direction: key.Direction.String(),
		Start: m.read.Plan.At(max(start, 0)), End: m.read.Plan.At(max(end, 0)), ElapsedMS: max(elapsed, 0),
	}
	for _, j := range m.keys.jobsOf(key) {
		if level == mapping.Job && m.keys.byJob[j].Section != "" { // that of fio's report
			w.Section = j.Section()
		}
		if !m.read.Live || j.Entry == nil {
			continue
		}
		if planned := m.read.Report(j.Entry).Planned; planned > 0 {
			if at := m.read.Plan.At(j.Offset + planned); at.After(w.Planned) {
				w.Planned = at
			}
		}
	}
	return w
}

// of returns the window that rows were added up to.
func (m *windowMaker) of(from *align.Window) *window.Window {
	p, key := m.read.Plan, from.Key
	w := m.newWindow(key, from.Start-p.Shift, from.End-p.Shift, from.Elapsed-p.Shift)
	w.FromMS, w.ToMS = max(from.From-p.Shift, 0), max(from.To-p.Shift, 0)
	l := &m.last[key.Direction]
	if l.of != from.Latencies {
		l.of, l.made, l.bounds = from.Latencies, mapping.Figures(from.Latencies), mapping.NewBounds(from.Latencies, m.confidence)
		if from.Fastest != nil && !from.Latencies.IsEmpty() {
			cut := mapping.CutBounds(from.Fastest, from.Slowest)
			if l.bounds == nil {
				l.bounds = cut
			} else {
				l.bounds.Widen(cut)
			}
		}
	}
	w.Latency, w.Bounds, w.Counts, w.Layout = l.made, l.bounds, from.Counts, from.Latencies.Layout()
	w.Fastest, w.Slowest = m.extremes(key)
	w.Limit()
	w.Completed, w.Weight = from.Completed, mapping.Rounded(from.Latencies.Total(), 1e6)
	ms := w.EndMS() - w.StartMS()
	if key.Direction != fiolog.Sync && slices.ContainsFunc(m.keys.jobsOf(key), (*plan.Job).HasLength) {
		w.IOPS = mapping.Rounded(account.PerSecond(float64(w.Completed), ms), 1e3)
	}
	w.Bandwidth = m.bandwidth(from, w.IOPS, ms)
	if from.Release() { // a later window may have the same memory
		l.of = nil
	}
	return w
}

// ofAverage returns a window of averages. It is nil if nothing completed in it. What is not known is 0.
func (m *windowMaker) ofAverage(k averageKey, s *average) *window.Window {
	length := m.read.Plan.Window
	start, end := k.window*length, min((k.window+1)*length, m.read.End())
	if !s.iops.isPartial && s.iops.sum == 0 || end-start <= length/20 { // rows come some milliseconds late
		return nil
	}
	w := m.newWindow(k.Key, start, end, start)
	w.Averaged = true
	known := func(of mean) float64 { // per millisecond of the window
		if of.isPartial || of.weight == 0 {
			return 0
		}
		return account.PerSecond(of.sum, end-start) / 1000
	}
	w.IOPS, w.Bandwidth = mapping.Rounded(known(s.iops), 1e3), mapping.Rounded(known(s.bandwidth), 1)
	if of := s.latency; !of.isPartial && of.weight > 0 {
		if !s.iops.isPartial && s.byRate.weight > 0 {
			of = s.byRate
		}
		w.Latency.Mean = mapping.Rounded(of.sum/of.weight/1000, 1e3) // from nanoseconds
	}
	return w
}

// clip cuts a window to the time in which its jobs ran, because rates are per second of that time.
func (m *windowMaker) clip(w *align.Window) {
	r, key := m.read, w.Key
	start, end, ok, isOver := int64(0), int64(0), false, true
	for _, j := range m.keys.jobsOf(key) {
		of := r.Counts[j]
		if !r.Live && (!j.Serves(key.Direction) || r.ServesOther(j, key.Direction)) {
			continue
		}
		several := j.Entry != nil && j.Entry.Several && key.Direction != fiolog.Sync
		if !of.Ended && (r.Live || several) {
			return // the job may still run, and later rows may show when it began
		}
		from, ran := j.Offset, of.End()
		if !r.Live && j.Entry != nil {
			ran = max(ran, min(j.Ran, r.ServedFor(j, key.Direction)))
		}
		if several { // each direction has its own time
			from, ran = j.Offset+of.Directions[key.Direction].Start, of.Directions[key.Direction].End
		}
		if !ok || from < start {
			start = from
		}
		end, ok = max(end, j.Offset+ran), true
		isOver = isOver && (of.Ended || j.Ran > 0)
	}
	if start, end = start+r.Plan.Shift, end+r.Plan.Shift; !ok || w.End <= start {
		return
	}
	w.Start, w.From = max(w.Start, start), start
	if isOver && w.Start < end {
		w.End, w.To = min(w.End, end), end
	}
}

// extremes returns the fastest and the slowest request of a series in microseconds, if the reports of all its jobs have these, and
// else 0.
func (m *windowMaker) extremes(key align.Key) (fastest, slowest float64) {
	r := m.read
	if known, isThere := m.limits[key]; isThere {
		return known.Min, known.Max
	}
	var reported []*fiolog.DirectionStats
	isAll := true
	for _, j := range m.keys.jobsOf(key) {
		if !j.Serves(key.Direction) {
			continue
		}
		if isAll = isAll && j.Entry != nil; !isAll {
			break
		}
		report := j.Entry.Job
		if r.Live {
			report = r.Report(j.Entry)
		}
		if stats := report.Of(key.Direction); report.Mixed != nil && key.Direction != fiolog.Sync {
			reported = append(reported, report.Mixed)
		} else if stats.Served() {
			reported = append(reported, stats)
		}
	}
	var known mapping.FioLatency
	if fio := account.FioLatency(reported); fio != nil && isAll {
		known = mapping.FioLatency{Min: max(fio.Min-fio.Step/2, 0), Max: mapping.Rounded(fio.Max+fio.Step/2, 1000)}
	}
	if !r.Live { // else newer reports follow
		m.limits[key] = known
	}
	return known.Min, known.Max
}

// bandwidth returns the bytes per second of a window with iops requests per second over ms milliseconds. It returns 0
// if they are unknown.
func (m *windowMaker) bandwidth(w *align.Window, iops float64, ms int64) float64 {
	if size := m.size[w.Key.Direction]; size > 0 {
		return mapping.Rounded(iops*size, 1)
	}
	sum, length := 0.0, m.read.Plan.Window // length is that of windows before they are joined
	for at := w.Elapsed / length; at < (w.Elapsed+w.Length)/length; at++ {
		if s := m.rates[averageKey{at, w.Key}]; s != nil {
			if s.bandwidth.isPartial {
				return 0
			}
			sum += s.bandwidth.sum
		}
	}
	through := w.Length
	if ms < w.Length-w.Length/20 { // the window was clipped; rows that end early make it a few milliseconds shorter
		through = max(ms, 1)
	}
	return mapping.Rounded(sum/float64(through), 1)
}
