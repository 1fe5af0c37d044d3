package pipeline

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// averages are the mean latency, rate and bandwidth of each job over time, from logs with
// log_avg_msec. Means of many requests have no percentiles.
type averages struct {
	*plan
	problems *Problems
	series   map[averageKey]*average // of jobs
}

// averageKey is one window of a job, a host or the cluster.
type averageKey struct {
	window int64
	align.Key
}

// average is the mean of a window: sums of value times milliseconds.
type average struct {
	iops, bandwidth   float64
	latency, measured float64 // of the latency, and the milliseconds with a latency
}

// readAverages reads logs of averages.
func (p *plan) readAverages(ctx context.Context, logs []cbt.Log, t *tallies) (*averages, error) {
	a := &averages{plan: p, problems: t.problems, series: map[averageKey]*average{}}
	for _, log := range logs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j := p.jobOf(log)
		if j == nil {
			continue // its job is not used
		}
		last, err := a.read(log, j)
		if err != nil {
			t.problems.skip(err)
		}
		if len(p.averages) > 0 { // else the rows have it
			t.jobs[j].last = max(t.jobs[j].last, last)
		}
	}
	return a, nil
}

// read adds one log and returns its last time since the job's start. A row's value is the
// mean from the row before to its time. A row with a block size is a single request.
func (a *averages) read(log cbt.Log, j *job) (end int64, err error) {
	l := openLog(log, 0, hist.Hint{})
	defer l.close()
	var last [fiolog.Directions]int64
	for {
		rec, err, ok := l.read()
		switch {
		case !ok:
			return end, nil
		case errors.As(err, new(*fiolog.SyntaxError)):
			a.problems.skip(err)
			continue
		case err != nil:
			return end, err
		}
		at := rec.Time - j.origin
		if at < 0 || at > maxRun || rec.NewJob {
			a.problems.skip(l.wrong(errors.New("the time is not of this job"), rec))
			continue
		}
		from := last[rec.Direction]
		if last[rec.Direction] = at; from == 0 && at > 2*a.window {
			from = at - a.window // the direction began later
		}
		end = max(end, at)
		if rec.BlockSize > 0 {
			a.request(j, rec.Direction, at+j.offset, rec.BlockSize)
			continue
		}
		at += j.offset + a.shift
		a.spread(log.Kind, j, rec.Direction, from+j.offset+a.shift, at, float64(rec.Value))
	}
}

// request adds the bytes of one request where it completed.
func (a *averages) request(j *job, d fiolog.Direction, at int64, bytes uint64) {
	w := max(at+a.shift-1, 0) / a.window
	sumOf(a.series, averageKey{w, j.key(d)}).bandwidth += float64(bytes) * 1000
}

// key is the key of the job at the lowest level.
func (j *job) key(d fiolog.Direction) align.Key {
	return align.Key{Level: mapping.Job, Host: j.host, Job: j.name(), Direction: d}
}

func sumOf(sums map[averageKey]*average, key averageKey) *average {
	if sums[key] == nil {
		sums[key] = &average{}
	}
	return sums[key]
}

// spread adds a mean from one time to another to the windows that it overlaps.
func (a *averages) spread(kind fiolog.Kind, j *job, d fiolog.Direction, from, to int64, value float64) {
	length := a.window
	for w := max(from, 0) / length; w*length < to; w++ {
		ms := float64(min(to, (w+1)*length) - max(from, w*length))
		s := sumOf(a.series, averageKey{w, j.key(d)})
		switch kind {
		case fiolog.IOPS:
			s.iops += value * ms
		case fiolog.BW:
			s.bandwidth += value * 1024 * ms
		case fiolog.Clat:
			s.latency += value * ms
			s.measured += ms
		}
	}
}

// sums adds the jobs up to the levels of documents. Latencies are weighted by the rate.
func (a *averages) sums() map[averageKey]*average {
	sums := map[averageKey]*average{}
	for k, s := range a.series {
		weight := s.iops
		if weight == 0 {
			weight = s.measured
		}
		for _, level := range a.opt.levels() {
			sum := sumOf(sums, averageKey{k.window, k.At(level)})
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

// documents makes a document for each window, level and direction, in order of time.
func (a *averages) documents(ref mapping.RunRef, version string, put func(*mapping.Interval) error) error {
	sums := a.sums()
	order := func(x, y averageKey) int { return cmp.Or(cmp.Compare(x.window, y.window), x.Compare(y.Key)) }
	for _, k := range slices.SortedFunc(maps.Keys(sums), order) {
		if err := put(a.document(k, sums[k], ref, version)); err != nil {
			return err
		}
	}
	return nil
}

func (a *averages) document(k averageKey, s *average, ref mapping.RunRef, version string) *mapping.Interval {
	length := a.window
	d := &mapping.Interval{
		Time: a.at(k.window * length), Level: k.Level,
		Window: mapping.Window{End: a.at((k.window + 1) * length), MS: length, ElapsedMS: k.window * length},
		Run:    ref, CBT: a.settings(), Host: mapping.HostRef{Name: k.Host}, Hosts: a.hostsOf(k.Host),
		Fio:       mapping.FioRef{Direction: k.Direction.String(), Job: k.Job, Version: version},
		IOPS:      rounded(s.iops/float64(length), 1e3),
		Bandwidth: rounded(s.bandwidth/float64(length), 1),
		Weighting: mapping.Averaged,
	}
	if s.measured > 0 {
		d.Latency.Mean = rounded(s.latency/s.measured/1000, 1e3)
	}
	return d
}
