package pipeline

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
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
	isSingle        bool // bandwidth is of single requests
}

// mean is a sum of value times weight, and the sum of the weights. Weights of a job are milliseconds.
type mean struct {
	sum, weight float64
	isPartial   bool // a job has no value for some of the time
}

func (m *mean) add(value, weight float64) { m.sum, m.weight = m.sum+value*weight, m.weight+weight }

// known returns the sum over some milliseconds, divided by them. It is 0 if it is not known.
func (m *mean) known(ms int64) float64 {
	if m.isPartial || m.weight == 0 {
		return 0
	}
	return perSecond(m.sum, ms) / 1000
}

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

// readAverages reads logs of averages and adds their jobs up to the levels of documents.
func (r *reading) readAverages(ctx context.Context, logs []cbt.Log) (averages, error) {
	ofJobs := averages{}
	for _, log := range logs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j := r.JobOf(log)
		if j == nil {
			continue // the job is not used
		}
		last, err := averageLog{log, j, r.Timing, ofJobs}.read(r.problems)
		if err != nil {
			r.problems.skip(err)
		}
		if len(r.Averages) > 0 { // without averages, the rates come from the rows
			r.tallies[j].last = max(r.tallies[j].last, last)
		}
	}
	return r.levelsOf(ofJobs), nil
}

// levelsOf adds jobs up to levels. Latencies are weighted by the rate. What is not known of a job is not known of a
// level.
func (r *reading) levelsOf(ofJobs averages) averages {
	has, single, windows := map[align.Key]bool{}, map[align.Key]bool{}, map[int64]bool{}
	for k, of := range ofJobs {
		has[k.Key], windows[k.window] = true, true
		single[k.Key] = single[k.Key] || of.isSingle
	}
	sums := averages{}
	for _, j := range r.Jobs {
		for d := range fiolog.Direction(fiolog.Directions) {
			key := align.Key{Level: mapping.Job, Host: j.Host, Job: j.Name(), Direction: d}
			for window := range windows {
				if ran := r.ranIn(j, window); has[key] && ran > 0 {
					of := ofJobs.of(averageKey{window, key})
					of.isSingle = single[key]
					for _, level := range r.opt.levels() {
						sums.of(averageKey{window, key.At(level)}).join(of, ran)
					}
				}
			}
		}
	}
	return sums
}

// ranIn returns how many milliseconds of a window a job ran.
func (r *reading) ranIn(j *plan.Job, window int64) int64 {
	start, end := j.Offset+r.Shift, r.endOf(j)+r.Shift
	if end <= start { // it is not known yet
		end = math.MaxInt64
	}
	return min(end, (window+1)*r.Window) - max(start, window*r.Window)
}

// join adds a job that ran for some milliseconds of the window.
func (a *average) join(of *average, ms int64) {
	a.iops.join(of.iops, ms)
	if !of.isSingle {
		a.bandwidth.join(of.bandwidth, ms)
	} else {
		a.bandwidth.sum += of.bandwidth.sum
	}
	a.latency.join(of.latency, ms)
	if of.latency.weight > 0 {
		a.byRate.add(of.latency.sum/of.latency.weight, of.iops.sum)
	}
}

// meanLatency returns the mean latency in nanoseconds, or 0 if it is not known.
func (a *average) meanLatency() float64 {
	of := &a.latency
	switch {
	case of.isPartial || of.weight == 0:
		return 0
	case !a.iops.isPartial && a.byRate.weight > 0:
		of = &a.byRate
	}
	return of.sum / of.weight
}

// averageLog is one log of averages of a job.
type averageLog struct {
	log cbt.Log
	job *plan.Job
	plan.Timing
	to averages
}

// read adds the log and returns its last time in milliseconds since the start of the job. fio writes a row some
// milliseconds after its interval, and not the last one of rates. A row with a block size is a single request.
func (a averageLog) read(problems *Problems) (end int64, err error) {
	l := openLog(a.log, 0, hist.Hint{})
	interval := a.job.AveragedOver(l.firstRows())
	if a.job.Source == plan.FromNothing {
		interval = a.job.Interval // by all of its logs
	}
	var last [fiolog.Directions]int64
	origin := a.job.Origin
	defer l.close()
	for {
		rec, err, ok := l.nextOfFile()
		switch {
		case !ok:
			return end, nil
		case errors.As(err, new(*fiolog.SyntaxError)):
			problems.skip(err)
			continue
		case err != nil:
			return end, err
		}
		if origin == 0 && rec.Time > plan.EpochTimes {
			if origin = rec.Time - interval; !a.job.Start.IsZero() {
				origin = a.job.Start.UnixMilli()
			}
		}
		at := rec.Time - origin
		if at < 0 || at > plan.MaxRun || rec.NewJob {
			problems.skip(l.wrong(errors.New("the time is not of this job"), rec))
			continue
		}
		end = max(end, at)
		key := align.Key{Level: mapping.Job, Host: a.job.Host, Job: a.job.Name(), Direction: rec.Direction}
		if rec.BlockSize > 0 {
			single := a.to.of(averageKey{max(at+a.job.Offset+a.Shift-1, 0) / a.Window, key})
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
		a.add(rec, key, from, at, interval)
	}
}

// add adds a row. A rate is that of the last interval, because fio writes no row for an interval without requests. A
// latency is the mean of all requests since the row before. If that is longer than an interval, it shows nothing of
// single windows.
func (a averageLog) add(rec *fiolog.Record, key align.Key, from, to, interval int64) {
	isLong := to-from > interval+interval/2
	begin := from
	if isLong && a.log.Kind != fiolog.Clat {
		begin = to - interval
	}
	by := a.job.Offset + a.Shift
	for w := max(from+by, 0) / a.Window; w*a.Window < to+by; w++ {
		start, end := w*a.Window, min(to+by, (w+1)*a.Window)
		value, s := float64(rec.Value), a.to.of(averageKey{w, key})
		idle, ms := float64(max(min(end, begin+by)-max(start, from+by), 0)), float64(max(end-max(start, begin+by), 0))
		switch a.log.Kind {
		case fiolog.IOPS:
			s.iops.add(0, idle)
			s.iops.add(value, ms)
		case fiolog.BW:
			s.bandwidth.add(0, idle)
			s.bandwidth.add(value*1024, ms)
		case fiolog.Clat:
			if !isLong {
				s.latency.add(value*float64(plan.Nanoseconds(a.job.Unit)), ms)
			}
		}
	}
}
