package pipeline

import (
	"cmp"
	"context"
	"errors"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
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

// average is the mean of a window: sums of value times milliseconds.
type average struct {
	iops, bandwidth   float64
	latency, measured float64 // latency times milliseconds, and the milliseconds with a latency
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
		j := r.jobOf(log)
		if j == nil {
			continue // the job is not used
		}
		last, err := averageLog{log, j, r.timing, ofJobs}.read(r.problems)
		if err != nil {
			r.problems.skip(err)
		}
		if len(r.averages) > 0 { // without averages, the rates come from the rows
			r.tallies[j].last = max(r.tallies[j].last, last)
		}
	}
	return ofJobs.levels(r.opt.levels()), nil
}

// levels adds jobs up to levels. Latencies are weighted by the rate.
func (a averages) levels(levels []mapping.Level) averages {
	sums := averages{}
	for k, s := range a {
		weight := cmp.Or(s.iops, s.measured)
		for _, level := range levels {
			sum := sums.of(averageKey{k.window, k.At(level)})
			sum.iops += s.iops
			sum.bandwidth += s.bandwidth
			if s.measured > 0 {
				sum.latency += s.latency / s.measured * weight
				sum.measured += weight
			}
		}
	}
	return sums
}

// averageLog is one log of averages of a job.
type averageLog struct {
	log cbt.Log
	job *job
	timing
	to averages
}

// read adds the log and returns its last time in milliseconds since the start of the job. The value of a row is the
// mean since the row before. A row with a block size is a single request.
func (a averageLog) read(problems *Problems) (end int64, err error) {
	l := openLog(a.log, 0, hist.Hint{})
	var last [fiolog.Directions]int64
	for rec, err := range l.all() {
		switch {
		case errors.As(err, new(*fiolog.SyntaxError)):
			problems.skip(err)
			continue
		case err != nil:
			return end, err
		}
		at := rec.Time - a.job.origin
		if at < 0 || at > maxRun || rec.NewJob {
			problems.skip(l.wrong(errors.New("the time is not of this job"), rec))
			continue
		}
		from := last[rec.Direction]
		if last[rec.Direction] = at; from == 0 && at > 2*a.window {
			from = at - a.window // the direction began later
		}
		end = max(end, at)
		a.add(rec, from+a.job.offset+a.shift, at+a.job.offset+a.shift)
	}
	return end, nil
}

// add adds a row that ends at a time. A single request counts where it completed. A mean counts in the windows that it
// overlaps.
func (a averageLog) add(rec *fiolog.Record, from, to int64) {
	key := align.Key{Level: mapping.Job, Host: a.job.host, Job: a.job.name(), Direction: rec.Direction}
	if rec.BlockSize > 0 {
		a.to.of(averageKey{max(to-1, 0) / a.window, key}).bandwidth += float64(rec.BlockSize) * 1000
		return
	}
	for w := max(from, 0) / a.window; w*a.window < to; w++ {
		ms, s := float64(min(to, (w+1)*a.window)-max(from, w*a.window)), a.to.of(averageKey{w, key})
		switch value := float64(rec.Value); a.log.Kind {
		case fiolog.IOPS:
			s.iops += value * ms
		case fiolog.BW:
			s.bandwidth += value * 1024 * ms
		case fiolog.Clat:
			s.latency += value * ms * float64(nanoseconds(a.job.unit))
			s.measured += ms
		}
	}
}
