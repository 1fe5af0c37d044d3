package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// averages are mean latency, rate and bandwidth over time, from logs with log_avg_msec. A mean of many requests has no
// percentiles.
type averages map[averageKey]*average

// averageKey is one window of a job, a host or the cluster.
type averageKey struct {
	window int64
	align.Key
}

func (k averageKey) compare(o averageKey) int {
	return cmp.Or(cmp.Compare(k.window, o.window), k.Key.Compare(o.Key))
}

// average has the means of a window. Latencies have two means, because the rates of some jobs may be unknown.
type average struct {
	iops, bandwidth mean
	byRate, latency mean // of latencies: weighted by the rates of jobs, and by their time alone
	isSingle        bool // bandwidth of a job is of single requests
}

// mean is a sum of value times weight, and the sum of the weights. Weights of a job are milliseconds.
type mean struct {
	sum, weight float64
	isPartial   bool // a job has no value for some of the time
}

func (m *mean) add(value, weight float64) { m.sum, m.weight = m.sum+value*weight, m.weight+weight }

// join adds the mean of a job that ran for some milliseconds of the window.
func (m *mean) join(of mean, ms int64) {
	m.isPartial = m.isPartial || of.weight < 0.9*float64(ms)
	m.sum, m.weight = m.sum+of.sum, m.weight+of.weight
}

func (a averages) of(key averageKey) *average {
	if a[key] == nil {
		a[key] = &average{}
	}
	return a[key]
}

// averageReader reads logs of averages.
type averageReader struct {
	read     *account.Read
	keys     *jobKeys
	levels   []align.Level
	open     func(*assign.JobLog) *logFile
	problems *problems
}

// all reads logs and adds their jobs up to the levels of documents. Latencies are weighted by the rate. What is not known of a
// job is not known of a level.
func (r *averageReader) all(ctx context.Context, logs []assign.Log) (averages, error) {
	p, ofJobs := r.read.Plan, averages{}
	for _, log := range logs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j := p.JobOf(log)
		if j == nil {
			continue // the job is not used
		}
		last, err := r.one(log, j, ofJobs)
		if err != nil {
			r.problems.skip("%w", err)
		}
		if len(p.Averages) > 0 { // without averages, the rates come from the rows
			r.read.Counts[j].Until = max(r.read.Counts[j].Until, last)
		}
	}
	has, single, windows := map[align.Key]bool{}, map[align.Key]bool{}, map[int64]bool{}
	for k, of := range ofJobs {
		has[k.Key], windows[k.window] = true, true
		single[k.Key] = single[k.Key] || of.isSingle
	}
	sums := averages{}
	for _, j := range p.Jobs {
		start, end := j.Offset+p.Shift, r.read.EndOf(j)+p.Shift
		if end <= start { // it is not known yet
			end = math.MaxInt64
		}
		for d := range fiolog.Direction(fiolog.Directions) {
			key := r.keys.of(j, d)
			if !has[key] {
				continue
			}
			for window := range windows {
				ran := min(end, (window+1)*p.Window) - max(start, window*p.Window) // milliseconds
				if ran <= 0 {
					continue
				}
				of := ofJobs.of(averageKey{window, key})
				for _, level := range r.levels {
					to := sums.of(averageKey{window, key.At(level)})
					to.iops.join(of.iops, ran)
					to.latency.join(of.latency, ran)
					if !single[key] {
						to.bandwidth.join(of.bandwidth, ran)
					} else {
						to.bandwidth.sum += of.bandwidth.sum
					}
					if of.latency.weight > 0 {
						to.byRate.add(of.latency.sum/of.latency.weight, of.iops.sum)
					}
				}
			}
		}
	}
	return sums, nil
}

// one adds one log of averages of a job. It returns its last time in milliseconds since the start of the job.
// fio writes a row some milliseconds after its interval, and not the last one of rates. A row with a block size is a single
// request.
//
// A rate is that of the last interval, because fio writes no row for an interval without requests. A latency is the mean of
// all requests since the row before. If that is longer than an interval, it shows nothing of single windows.
func (r *averageReader) one(log assign.Log, j *plan.Job, to averages) (end int64, err error) {
	of := &assign.JobLog{Log: log, Segment: -1}
	l := r.open(of)
	l.ofAll = true
	defer l.close()
	l.look(of)
	interval := j.AveragedOver(of.Rows)
	if j.Source == assign.FromNothing {
		interval = j.Interval // by all of its logs
	}
	var last [fiolog.Directions]int64
	origin, by, length := j.Origin, j.Offset+r.read.Plan.Shift, r.read.Plan.Window
	isLatency := log.Kind == fiolog.Clat || log.Kind == fiolog.Lat
	several := 0 // rows with which further jobs begin
	for {
		rec, err, ok := l.next()
		switch {
		case !ok && several > 0:
			return end, fmt.Errorf("%s: logs of %d jobs, one after another (per_job_logs=0): they are added up as if all began "+
				"together; run fio with --per_job_logs=1", log.File.Name(), several+1)
		case !ok:
			return end, nil
		case errors.As(err, new(*fiolog.SyntaxError)):
			r.problems.skip("%w", err)
			continue
		case err != nil:
			return end, err
		}
		if origin == 0 && rec.Time > evidence.EpochTimes {
			if origin = rec.Time - interval; !j.Start.IsZero() {
				origin = j.Start.UnixMilli()
			}
		}
		at := rec.Time - origin
		if rec.NewJob {
			several++
			clear(last[:])
		}
		if at < 0 || at > plan.MaxRun {
			r.problems.skip("%w", l.wrong(errors.New("the time is not of this job"), rec))
			continue
		}
		end = max(end, at)
		key := r.keys.of(j, rec.Direction)
		if rec.BlockSize > 0 {
			single := to.of(averageKey{max(at+by-1, 0) / length, key})
			single.bandwidth.sum, single.isSingle = single.bandwidth.sum+float64(rec.BlockSize)*1000, true
			continue
		}
		if over := plan.Modulo(at, interval); over <= interval/10 && at > interval/2 {
			at -= over
		} else if interval-over <= interval/10 {
			at += interval - over
		}
		from := last[rec.Direction]
		last[rec.Direction] = at
		isLong, begin := at-from > interval+interval/2, from
		if isLong && !isLatency {
			begin = at - interval
		}
		for w := max(from+by, 0) / length; w*length < at+by; w++ {
			start, end := w*length, min(at+by, (w+1)*length)
			value, s := float64(rec.Value), to.of(averageKey{w, key})
			idle, ms := float64(max(min(end, begin+by)-max(start, from+by), 0)), float64(max(end-max(start, begin+by), 0))
			switch log.Kind {
			case fiolog.IOPS:
				s.iops.add(0, idle)
				s.iops.add(value, ms)
			case fiolog.BW:
				s.bandwidth.add(0, idle)
				s.bandwidth.add(value*1024, ms)
			case fiolog.Clat, fiolog.Lat:
				if !isLong {
					s.latency.add(value*float64(plan.Nanoseconds(j.Unit)), ms)
				}
			}
		}
	}
}

// averagedTotals are the totals of a direction by its windows of averages. A window whose rate is not known does not count in
// the rates.
type averagedTotals struct {
	last            int64 // end of the last window, in milliseconds since the start of the run
	requests, bytes mean  // sums over the windows; the weights are the milliseconds in which they are not known
	latency         mean  // by requests, or by time if no rate is known
	byTime          mean
}

func (t *averagedTotals) add(w *window.Window) {
	ms := float64(w.EndMS() - w.StartMS())
	t.last = max(t.last, w.EndMS())
	for _, of := range []struct {
		to   *mean
		rate float64
	}{{&t.requests, w.IOPS}, {&t.bytes, w.Bandwidth}} {
		if of.to.sum += of.rate * ms / 1000; of.rate == 0 {
			of.to.weight += ms
		}
	}
	if w.Latency.Mean > 0 {
		t.latency.add(w.Latency.Mean, w.IOPS*ms)
		t.byTime.add(w.Latency.Mean, ms)
	}
}

// totals returns the rates and the mean, or nil if there are none. How many requests there were is not known.
func (t *averagedTotals) totals() *mapping.Totals {
	if t.last == 0 {
		return nil
	}
	out := &mapping.Totals{DurationMS: t.last}                                  // also if nothing completed at first
	known := func(m mean) float64 { return float64(out.DurationMS) - m.weight } // milliseconds
	if ms := known(t.requests); ms > 0 {
		out.IOPS = mapping.Rounded(t.requests.sum*1000/ms, 1e3)
	}
	if ms := known(t.bytes); ms > 0 {
		out.Bandwidth = mapping.Rounded(t.bytes.sum*1000/ms, 1)
	}
	if t.latency.weight == 0 {
		t.latency = t.byTime
	}
	if t.latency.weight > 0 {
		out.Latency.Mean = mapping.Rounded(t.latency.sum/t.latency.weight, 1e3)
	}
	return out
}
